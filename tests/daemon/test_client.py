"""The caller's side of the door, where the daemon is of no help."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from koboshi.daemon.control.client import LOCK, call, call_running, door
from koboshi.errors import DaemonError


def test_a_daemon_that_does_not_answer_is_named_by_its_pid(tmp_path: Path) -> None:
    """It cannot be asked for it, so that the hint must not send anybody to ask."""
    (tmp_path / LOCK).write_text("4711\n")
    door(tmp_path).parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(door(tmp_path)))
        deaf.listen()
        with pytest.raises(DaemonError, match="did not answer") as caught:
            call_running(tmp_path, "ping", patience=0.1)
    door(tmp_path).unlink()

    assert "kill -CONT 4711" in caught.value.hint


def test_a_state_folder_that_is_a_file_is_a_sentence(tmp_path: Path) -> None:
    """Before anything is started."""
    (tmp_path / "file").touch()

    with pytest.raises(DaemonError, match="is not a folder"):
        call(tmp_path / "file", "ping")
