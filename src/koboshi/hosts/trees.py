"""All processes of one run, however far they have moved away from it, and how they are ended.

A run is known by what was written down when it began. A process belongs to it when

- it is the program itself (same pid, same birth), or
- it is in the session of the run's recorder, as long as exactly that recorder lives, or
- it carries the run's mark in its environment (a daemon that left its session keeps that), or
- it descends from one that belongs, or is in a session or group that such a one leads.

Rule 1: nothing is signalled by its number alone: a number may belong to another by now.
Rule 2: never the recorder, which has yet to write down how it ended, and never ourselves.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psutil

from koboshi.errors import HostError
from koboshi.hosts import recorder

#: The variable that marks every process of a run: agent, run and a word that is never used again.
MARK = "KOBOSHI_RUN"
#: How often we look again for what was started while we looked. Frozen processes start nothing,
#: so that the second look finds nothing new unless somebody races us.
ROUNDS = 20
#: Seconds by which two sources may differ about the birth of one process.
SAME_BIRTH = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """The agent's process: a pid and what tells it from a later process with the same pid."""

    pid: int
    born: int | None  #: clock ticks since boot; None where there is no /proc
    started: float  #: UTC seconds
    mark: str = ""  #: what `MARK` says in its environment
    recorder: int = 0  #: pid of its recorder
    recorder_born: int | None = None

    def running(self) -> bool:
        """Whether exactly this process is there and not yet a zombie."""
        return self._same() and living(self.pid)

    def session(self) -> int | None:
        """The session its recorder made for it; None when that cannot be known any more."""
        if not self.recorded():
            return None
        with contextlib.suppress(OSError):
            session = os.getsid(self.recorder)
            return session if session != os.getsid(0) else None
        return None

    def recorded(self) -> bool:
        """Whether its recorder is there, and will write down how it ends."""
        if not self.recorder:
            return False
        if self.recorder_born is not None:
            return recorder.born(self.recorder) == self.recorder_born and living(self.recorder)
        try:
            return self.running() and psutil.Process(self.pid).ppid() == self.recorder
        except psutil.Error:
            return False

    def _same(self) -> bool:
        if self.born is not None:
            return recorder.born(self.pid) == self.born
        try:
            # No /proc: a clock that was set in between makes us refuse, never hit a stranger.
            return abs(psutil.Process(self.pid).create_time() - self.started) < SAME_BIRTH
        except psutil.Error:
            return False


def living(pid: int) -> bool:
    """Whether there is such a process, and not only its zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One process as it was when we looked; `process` knows when its pid has changed hands."""

    process: psutil.Process
    parent: int
    group: int
    session: int
    own: bool  #: runs under our user

    @property
    def pid(self) -> int:
        """Its number."""
        return self.process.pid


Table = dict[int, Entry]


def table() -> Table:
    """Every process there is, without zombies."""
    uid = os.getuid()
    found: Table = {}
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            with process.oneshot():
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                parent, own = process.ppid(), process.uids().real == uid
            group, session = os.getpgid(pid), os.getsid(pid)
            found[pid] = Entry(
                process=process, parent=parent, group=group, session=session, own=own
            )
    return found


def tree(child: Child) -> list[Entry]:
    """All living processes of that run, its own group first."""
    now, session = table(), child.session()
    first = {child.pid} if child.running() else set()
    first |= {entry.pid for entry in now.values() if session and entry.session == session}
    first |= {entry.pid for entry in now.values() if marked(entry, child.mark)}
    # Without its leader a group's number may be somebody else's.
    found = with_kin(first, now, spared={child.recorder})
    return sorted(found, key=lambda entry: (entry.group != child.pid, entry.pid))


def with_kin(first: Iterable[int], now: Table, *, spared: Iterable[int] = ()) -> list[Entry]:
    """Those processes, all that descend from them, and whom they lead."""
    never = {0, 1, os.getpid(), *spared}
    found = set(first) - never
    while True:
        more = {
            entry.pid
            for entry in now.values()
            if entry.pid not in found
            and entry.pid not in never
            and not found.isdisjoint((entry.parent, entry.group, entry.session))
        }
        if not more:
            return [now[pid] for pid in sorted(found) if pid in now]
        found |= more


def ancestors(pid: int, now: Table) -> set[int]:
    """Its parent, that one's parent and so on."""
    found: set[int] = set()
    while pid in now and now[pid].parent not in found:
        pid = now[pid].parent
        found.add(pid)
    return found


def marked(entry: Entry, mark: str) -> bool:
    """Whether it carries that mark; the environment of other users is not looked at."""
    if not mark or not entry.own:
        return False
    try:
        return entry.process.environ().get(MARK) == mark
    except (psutil.Error, OSError):
        return False


def end_tree(child: Child, *, force: bool) -> None:
    """Ask all of a run to end, its own group first; or end it, so that nothing of it is left."""
    if not force:
        signal_all(tree(child), signal.SIGTERM)
        return
    # Frozen first: what cannot run cannot start another while we count.
    found = everyone(lambda: tree(child), signal.SIGSTOP)
    # The program last: once its end is on record, the others have ended too.
    signal_all(reversed(found), signal.SIGKILL)


def end_group(group: int, *, shell: Callable[[Entry], bool], force: bool) -> None:
    """The same for a process group in a terminal that is not ours, and all that descends from it.

    Never the user's shells, but those that the program started. Nothing is frozen: a shell would
    take its terminal back.
    """

    def found() -> list[Entry]:
        now = table()
        members = {entry.pid: entry for entry in now.values() if entry.group == group}
        shells = {pid for pid, entry in members.items() if shell(entry)}
        theirs = {pid for pid in shells if not (members.keys() - shells) & ancestors(pid, now)}
        return with_kin(members.keys() - theirs, now, spared=theirs)

    if force:
        everyone(found, signal.SIGKILL)
    else:
        signal_all(found(), signal.SIGTERM)


def everyone(look: Callable[[], list[Entry]], number: signal.Signals) -> list[Entry]:
    """Signal each process once, until a look shows no new one."""
    struck: dict[psutil.Process, Entry] = {}
    for _ in range(ROUNDS):
        new = [entry for entry in look() if entry.process not in struck]
        if not new:
            break
        signal_all(new, number)
        struck |= {entry.process: entry for entry in new}
    return list(struck.values())


def signal_all(entries: Iterable[Entry], number: signal.Signals) -> None:
    """Signal each of them that is still the same process; says afterwards whom it may not."""
    refused = [entry.pid for entry in entries if not send(entry.process, number)]
    if refused:
        message = f"may not signal {', '.join(map(str, refused))}"
        raise HostError(message, hint="it runs as another user")


def send(process: psutil.Process, number: signal.Signals) -> bool:
    """Signal exactly that process; False when we may not. One that has gone is left alone."""
    try:
        if not hasattr(os, "pidfd_open"):
            process.send_signal(number)  # looks whether it is still the same
            return True
        handle = os.pidfd_open(process.pid)
        try:
            if process.is_running():  # the handle is of the same process, and stays so
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)
    except (PermissionError, psutil.AccessDenied):
        return False
    except (OSError, psutil.NoSuchProcess):
        return True
    return True
