"""One supervisor per agent, one start per session: locks that the kernel drops by itself."""

from __future__ import annotations

import fcntl
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from koboshi.errors import KoboshiError
from koboshi.store.paths import sessions_dir
from koboshi.store.shelves import make_private

#: Locks that all sessions share: none is ever removed, which could not be done without a gap.
_SESSIONS = 256


class AgentLocked(KoboshiError):
    """Another supervisor looks after this agent."""


@contextmanager
def agent_lock(path: Path) -> Iterator[None]:
    """Hold the lock; AgentLocked names the process that has it."""
    make_private(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise AgentLocked(
                f"expected to be the only supervisor of this agent, and pid {holder} is one"
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


@contextmanager
def session_lock(session: str) -> Iterator[bool]:
    """Whether nobody else is about to open that session; held until the new process can be seen.

    Also between koboshis with other state folders: sessions belong to the CLI. Where there is no
    place for a lock there is none, and a look at the processes has to do.
    """
    folder = sessions_dir()
    try:
        make_private(folder)
        name = f"{zlib.crc32(session.encode()) % _SESSIONS:02x}.lock"
        descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield True
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)
