"""One supervisor per agent: a lock that the kernel drops when its holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from koboshi.errors import KoboshiError
from koboshi.store.shelves import make_private


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
