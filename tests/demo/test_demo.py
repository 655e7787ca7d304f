"""The demo as a person runs it: in a real tmux, to its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from koboshi.demo.checks import CHECKS, SURVIVAL
from koboshi.demo.plan import CLAIM

pytestmark = pytest.mark.tmux


def test_the_night_is_lived_through_in_time(tmp_path: Path) -> None:
    """Everything that should happen does, is read back from the journal, and is told."""
    env = {**os.environ, "KOBOSHI_STATE": str(tmp_path / "state"), "TMPDIR": str(tmp_path)}
    argv = [sys.executable, "-m", "koboshi", "demo", "--host", "tmux"]
    ran = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=150)

    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr
    assert ran.stdout.count("✔") == len(CHECKS) + 2
    for claim in (*(claim for claim, _ in (*CHECKS, SURVIVAL)), CLAIM):
        assert f"✔ {claim}" in ran.stdout
    took = re.search(r"The night took (\d+) s", ran.stdout)
    assert took is not None
    assert int(took[1]) < 90
    assert [path.name for path in tmp_path.iterdir()] == ["state"]  # nothing is left behind
