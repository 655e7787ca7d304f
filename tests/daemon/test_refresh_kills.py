"""Whichever step of a refresh the supervisor dies at, the next one brings it to its end."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.refreshes import POINTS, killed_and_finished

pytestmark = pytest.mark.tmux

SCRIPT = """\
[[act]]
do = "work"
seconds = 0.5
say = "Half of it."
context = 80.0

[[act]]
do = "end_turn"

[[act]]
do = "work"
seconds = 0.5
say = "The other half."
context = 5.0

[[act]]
do = "done"
"""


@pytest.fixture
def spec() -> Iterator[dict[str, Any]]:
    """A scripted agent whose context fills up in its first turn, on a tmux server of its own."""
    with tempfile.TemporaryDirectory(prefix="kb-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        (folder / "script.toml").write_text(SCRIPT, encoding="utf-8")
        agent = folder / "agent"
        yield {
            "type": "scripted",
            "argv": [
                *(sys.executable, "-m", "koboshi.scripted"),
                *("--script", str(folder / "script.toml"), "--state", str(agent)),
            ],
            "cwd": str(folder),
            "hooks": str(agent / "hooks.jsonl"),
            "socket": str(folder / "tmux"),
            "host_state": str(folder / "host"),
            "state": str(folder / "state"),
            "say": "Write the parser.",
        }
        end = ["tmux", "-S", str(folder / "tmux"), "kill-server"]
        subprocess.run(end, check=False, capture_output=True)


@pytest.mark.parametrize("point", POINTS)
def test_a_supervisor_that_dies_in_a_refresh_is_followed_by_one_that_ends_it(
    point: str, spec: dict[str, Any]
) -> None:
    """Saved before it is restarted, one fresh run, and the note reaches it once."""
    killed_and_finished(spec, point)

    lines = Path(spec["hooks"]).read_text(encoding="utf-8").splitlines()
    prompts = [json.loads(line).get("prompt", "") for line in lines]
    assert sum(prompt.startswith("/load ") for prompt in prompts) == 1
