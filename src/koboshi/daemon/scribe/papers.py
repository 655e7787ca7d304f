"""A log for people as a file: private, a new one each day or each 16 MB, old ones removed.

Nothing is kept open: a log may be moved, emptied or deleted at any time, and the next line goes on.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from koboshi.store.journal import KEEP_DAYS, SEGMENT_BYTES
from koboshi.store.shelves import LOW, make_private, room, write_all

if TYPE_CHECKING:
    from pathlib import Path

#: Files of one log that are kept, however young: a pane that prints all day fills no disk.
KEEP_FILES = 8
#: No link of somebody else's is followed, and nobody who has to be waited for is opened.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """One log: `base.log`, or `base_YYYYMMDD.log` where each day has its own."""

    agent: str
    folder: Path
    base: str
    suffix: str = ".log"
    daily: bool = False
    joint: str = "_"  #: between the base and the day
    detail: bool = False  #: the first to go when the disk fills up

    def __hash__(self) -> int:
        """By what nearly always differs: each line that is printed asks for it."""
        return hash((self.agent, self.base))

    def path(self, day: str) -> Path:
        """The file that is written on that day."""
        day = f"{self.joint}{day}" if self.daily else ""
        return self.folder / f"{self.base}{day}{self.suffix}"

    def old(self) -> list[tuple[str, int, Path]]:
        """The files that are written no more, and those of single days; oldest first."""
        name = re.compile(
            rf"{re.escape(self.base + self.joint)}(\d{{8}})(?:\.(\d{{1,9}}))?"
            rf"{re.escape(self.suffix)}"
        )
        found = ((name.fullmatch(path.name), path) for path in self.folder.iterdir())
        # A day's file without a number is the one that is written now, and the youngest.
        return sorted((m[1], int(m[2] or 10**9), path) for m, path in found if m)


@lru_cache(maxsize=8)
def _day_name(days: int) -> str:
    return datetime.fromtimestamp(days * 86400, tz=UTC).strftime("%Y%m%d")


def day_of(utc: float) -> str:
    """The day of that time, as it stands in names."""
    return _day_name(int(utc // 86400))


def append(paper: Paper, utc: float, content: bytes, *, most: int = SEGMENT_BYTES) -> None:
    """Add lines of that time; OSError when they cannot be written, and then none of them was."""
    if paper.detail and (left := room(paper.folder)) < LOW:
        raise OSError(errno.ENOSPC, f"only {left >> 20} MB are left: details are not written")
    day = day_of(utc)
    path = paper.path(day)
    if _is_over(paper, path, day, most - len(content)):
        _put_away(paper, path)
    handle = _open(path)
    try:
        size = os.fstat(handle).st_size
        if not size:
            _drop_old(paper, utc)
        _write(handle, content, size)
    finally:
        os.close(handle)


def _is_over(paper: Paper, path: Path, day: str, room: int) -> bool:
    """Whether that file is full, or another day's."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return found.st_size > max(0, room) or (not paper.daily and day_of(found.st_mtime) < day)


def _open(path: Path) -> int:
    try:
        handle = os.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        make_private(path.parent)
        handle = os.open(path, _FLAGS, 0o600)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(handle)
        raise OSError(errno.EINVAL, "expected a file of this user's own", str(path))
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.fchmod(handle, 0o600)
    return handle


def _write(handle: int, content: bytes, size: int) -> None:
    try:
        write_all(handle, content)
    except OSError:
        os.ftruncate(handle, size)  # a full disk may have taken half a line
        raise


def _put_away(paper: Paper, path: Path) -> None:
    """Give the full file, or yesterday's, a name of its own."""
    day = day_of(path.lstat().st_mtime)
    numbers = [n for known, n, _ in paper.old() if known == day and n < 10**9]
    number = max(numbers, default=0) + 1
    path.rename(paper.folder / f"{paper.base}{paper.joint}{day}.{number}{paper.suffix}")


def _drop_old(paper: Paper, utc: float) -> None:
    """Retention as the journal's, and never more than so many files."""
    oldest = day_of(utc - timedelta(days=KEEP_DAYS).total_seconds())
    known = paper.old()
    for n, (day, _, path) in enumerate(known):
        if day < oldest or n < len(known) - KEEP_FILES:
            path.unlink(missing_ok=True)
