"""Who belongs to a run and who does not; the contract shows that all of it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest

from koboshi.errors import HostError
from koboshi.hosts import recorder, trees
from koboshi.hosts.trees import MARK, Child, Entry, end_tree, with_kin


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own."""
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    with subprocess.Popen(command, process_group=0) as process:
        yield process
        process.kill()


def child_of(process: subprocess.Popen[bytes]) -> Child:
    """What a recorder would have written about it."""
    return Child(pid=process.pid, born=recorder.born(process.pid), started=time.time())


def test_a_reused_pid_is_never_signalled(bystander: subprocess.Popen[bytes]) -> None:
    """Same number, other process: by its birth, or by its start time where there is no /proc."""
    real = child_of(bystander)
    assert real.born is not None
    for stranger in (
        replace(real, born=real.born - 1),
        replace(real, born=None, started=real.started - 3600),
    ):
        assert not stranger.running()
        end_tree(stranger, force=True)
    assert bystander.poll() is None

    assert real.running()
    assert replace(real, born=None).running()
    end_tree(real, force=True)
    assert bystander.wait(10) == -signal.SIGKILL
    assert not real.running()
    end_tree(real, force=True)  # gone: nothing happens


def test_a_zombie_does_not_run(bystander: subprocess.Popen[bytes]) -> None:
    """It has ended, only nobody has asked yet."""
    child = child_of(bystander)
    bystander.kill()
    os.waitid(os.P_PID, bystander.pid, os.WEXITED | os.WNOWAIT)

    assert not child.running()


def entry(pid: int, parent: int, group: int, session: int) -> Entry:
    """A made-up line of the process table."""
    process = psutil.Process()
    process._pid = pid  # type: ignore[attr-defined]  # noqa: SLF001
    return Entry(process=process, parent=parent, group=group, session=session, own=True)


def test_kin_is_who_descends_or_is_led() -> None:
    """Through any number of steps; who is spared stays out with nobody behind him."""
    rows = [
        entry(100, 50, 100, 50),
        entry(101, 100, 100, 50),  # a child
        entry(102, 1, 100, 50),  # its parent is dead; still in the group
        entry(103, 101, 103, 103),  # a grandchild with a session of its own
        entry(104, 1, 104, 103),  # re-parented inside that session
        entry(105, 104, 105, 105),  # and that one's child
        entry(50, 1, 50, 50),  # the recorder
        entry(60, 50, 60, 50),  # a brother
        entry(70, 1, 70, 70),  # a stranger
    ]
    now = {row.pid: row for row in rows}

    assert [e.pid for e in with_kin({100}, now)] == [100, 101, 102, 103, 104, 105]
    assert [e.pid for e in with_kin({100}, now, spared={103})] == [100, 101, 102]
    assert [e.pid for e in with_kin({1, 0, os.getpid(), 9999}, now)] == []


def test_a_mark_is_compared_whole_and_an_empty_one_means_nothing() -> None:
    """A run called `doll/1` is not `doll/10`, and no mark is not everybody's mark."""
    command = [sys.executable, "-I", "-c", "print(flush=True); import signal; signal.pause()"]
    env = {**os.environ, MARK: "doll/10/abc"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = trees.table()[process.pid]
        marks = ["doll/10/abc", "doll/1", "", "doll/10/abcd"]
        assert [trees.marked(found, mark) for mark in marks] == [True, False, False, False]
        assert not trees.marked(replace(found, own=False), "doll/10/abc")
        process.kill()


def test_a_process_of_another_user_is_named_and_left(
    bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may not be signalled is said."""

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(signal, "pidfd_send_signal", refuse)
    with pytest.raises(HostError, match=f"may not signal {bystander.pid}"):
        end_tree(child_of(bystander), force=False)
    assert bystander.poll() is None


def test_without_handles_the_same_guard_holds(
    bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no pidfd on macOS."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    end_tree(child_of(bystander), force=True)

    assert bystander.wait(10) == -signal.SIGKILL


def test_a_recorder_that_is_another_process_by_now_has_no_session(
    bystander: subprocess.Popen[bytes],
) -> None:
    """Its number was given to somebody else: that one's session is none of ours."""
    born = recorder.born(bystander.pid)
    assert born is not None
    child = Child(pid=1 << 22, born=1, started=0, recorder=bystander.pid, recorder_born=born - 1)
    end_tree(child, force=True)

    assert child.session() is None
    assert bystander.poll() is None
