"""The pinned agent CLIs are there and start without a person's environment."""

import subprocess

import pytest

from scripts.provision import CLIS, Cli
from tests.conftest import AgentCli

pytestmark = pytest.mark.lab


@pytest.mark.parametrize("cli", CLIS, ids=lambda cli: cli.key)
def test_cli_answers_with_its_pinned_version(
    cli: Cli, agent_cli: AgentCli, clean_env: dict[str, str]
) -> None:
    """What the lab tests talk to is the version that they name."""
    done = subprocess.run(
        [agent_cli(cli.name, cli.version), "--version"],
        env=clean_env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert cli.version in done.stdout
