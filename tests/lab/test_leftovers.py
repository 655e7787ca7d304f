"""The check at the end of a session finds what is left, and only that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.leftovers import Leftovers

#: Starts a child that forgets its HOME, says so, and waits.
PARENT = """\
import os, subprocess, sys
child = subprocess.Popen(["sleep", "60"], env={}, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def parent(tmp_path: Path) -> subprocess.Popen[str]:
    """A process with a HOME of its own, and a child without one."""
    started = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    started.stdout.readline()
    return started


def test_what_was_started_is_found_and_ended(parent: subprocess.Popen[str], tmp_path: Path) -> None:
    """Also a child that no longer has the HOME, by its identity."""
    left = Leftovers()
    noted = left.note(tmp_path)

    assert parent.pid in {process.pid for process in noted}
    assert len(left.remaining()) == len(noted) == 2

    parent.kill()
    parent.communicate()

    assert len(left.remaining()) == 1

    left.end(tmp_path)

    assert left.remaining() == []


def test_a_socket_that_stays_is_found(tmp_path: Path) -> None:
    """A tmux server that ended badly leaves one."""
    left = Leftovers(sockets={tmp_path / "gone", tmp_path / "there"})
    (tmp_path / "there").touch()

    assert left.remaining() == [f"socket {tmp_path / 'there'}"]
