"""A lock on the person's index: waited for while anybody may hold it, taken away when nobody can.

A git that is killed leaves its lock behind, and every git after it refuses to work. An agent's own
git, or one of ours that outlived us, is only waited for: a hook may run the tests.
"""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path

import psutil

log = logging.getLogger(__name__)

#: Seconds that a lock stays as it is, with no git at work around it, before it is taken away.
LEFT = 10.0
#: Seconds that a git at work is waited for.
HELD = 120.0
_LOOKS = 0.2
#: Words of gits that stay for long and lock nothing.
_HARMLESS = {"fsmonitor--daemon", "credential-cache--daemon", "cat-file"}


def wait_for(lock: Path, top: Path) -> bool:
    """Whether the lock of that worktree is gone, by itself or because nobody can hold it."""
    began = since = time.monotonic()
    before = None
    while time.monotonic() - began < HELD:
        found = _seen(lock)
        if found is None:
            return True
        if found != before or _at_work({top, lock.parent}):
            before, since = found, time.monotonic()
        elif time.monotonic() - since >= LEFT:
            _take_away(lock, found)
            return True
        time.sleep(_LOOKS)
    return False


def _at_work(places: set[Path]) -> bool:
    """Whether a git may be at work in these folders."""
    for process in psutil.process_iter(["name", "cwd", "status", "cmdline"]):
        name, cwd = process.info["name"] or "", process.info["cwd"]
        if not name.startswith("git") or process.info["status"] == psutil.STATUS_ZOMBIE:
            continue
        if not _HARMLESS.isdisjoint(process.info["cmdline"] or ()):
            continue
        # One of somebody else's does not say where it is.
        if not cwd or not places.isdisjoint((Path(cwd), *Path(cwd).parents)):
            return True
    return False


def _seen(lock: Path) -> tuple[int, int, int] | None:
    try:
        found = lock.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _take_away(lock: Path, seen: tuple[int, int, int]) -> None:
    """The lock, and what the same git has left beside it."""
    if _seen(lock) != seen:
        return
    log.warning("a lock that nobody holds is taken away", extra={"action": "commit"})
    for each in (lock, *lock.parent.glob("next-index-*.lock")):
        with contextlib.suppress(OSError):  # git says so, then
            each.unlink()
