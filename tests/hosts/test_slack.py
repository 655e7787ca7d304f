"""Slack where there is none to be had: nothing fails for it, and what others chose stays."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from koboshi.hosts import recorder
from koboshi.hosts.recorder import SLACK, USUAL_SLACK, be_punctual
from koboshi.hosts.slack import lenient_children

NOBODY = 2**22 + 1  # above every pid that Linux gives


def test_without_slack_children_are_started_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS, or in a container that shows no such file."""
    monkeypatch.setattr(threading, "get_native_id", lambda: NOBODY)
    with lenient_children():
        ran = subprocess.run([sys.executable, "-c", "print(1)"], check=True, capture_output=True)

    assert ran.stdout == b"1\n"


@pytest.mark.parametrize(
    ("inherited", "left"), [(SLACK, USUAL_SLACK), (1_000_000, 1_000_000), (50_000, 50_000)]
)
def test_only_our_own_slack_is_taken_back(
    inherited: int, left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one is somebody's wish."""
    file = tmp_path / "timerslack_ns"
    file.write_text(f"{inherited}\n", encoding="ascii")
    monkeypatch.setattr(recorder, "OWN_SLACK", str(file))
    be_punctual()

    assert int(file.read_text(encoding="ascii")) == left


def test_a_program_is_started_where_no_slack_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorder goes on, and makes no such file."""
    missing = tmp_path / "timerslack_ns"
    monkeypatch.setattr(recorder, "OWN_SLACK", str(missing))
    be_punctual()

    assert not missing.exists()
