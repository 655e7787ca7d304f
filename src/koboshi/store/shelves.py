"""Shelf: the few file operations a journal needs; a simulation can stand in for the disk."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

#: Bytes that are left to others: below this, details are not written; decisions still are.
LOW = 256 << 20
#: Bytes of a file that is given up when nothing else is left: room for some hundred decisions.
RESERVE = 256 << 10
_RESERVE_NAME = ".reserve"
_SEGMENT = re.compile(r"\d{4}-\d\d-\d\d\.\d{4,9}\.jsonl")


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are segments, oldest first; what else lies in the folder is not ours."""
    ours = [name for name in names if _SEGMENT.fullmatch(name)]
    return tuple(sorted(ours, key=lambda name: (name[:10], int(name.split(".")[1]))))


def make_private(folder: Path) -> None:
    """Make the folder and those above it that are missing, for the owner alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


#: How a disk says that it is full.
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Shelf(Protocol):
    """A folder of segments. Names sort in the order of their making."""

    def names(self) -> tuple[str, ...]:
        """All segments, oldest first."""
        ...

    def read(self, name: str) -> bytes:
        """The whole of a segment."""
        ...

    def create(self, name: str, content: bytes) -> None:
        """Make a segment that is either there as a whole or not at all, durably."""
        ...

    def append(self, name: str, content: bytes, *, sync: bool) -> None:
        """Add to a segment, durably if `sync`; when it raises OSError, nothing was added."""
        ...

    def remove(self, name: str) -> None:
        """Take a segment away."""
        ...

    def room(self) -> int:
        """Bytes that are free there."""
        ...


class DiskShelf:
    """Segments as files in a folder of mode 0700."""

    def __init__(self, folder: Path, *, fsync: bool = True) -> None:
        self.folder = folder
        self._fsync = fsync  # False only to measure what durability costs
        self._open: tuple[str, int, int] | None = None  # name, descriptor, size known to be whole

    def names(self) -> tuple[str, ...]:
        """All segments, oldest first."""
        if not self.folder.is_dir():
            return ()
        return in_order(p.name for p in self.folder.iterdir())

    def read(self, name: str) -> bytes:
        """The whole of a segment."""
        return (self.folder / name).read_bytes()

    def create(self, name: str, content: bytes) -> None:
        """Write beside, sync, rename, sync the folder."""
        make_private(self.folder)
        self._keep_reserve()
        temporary = self.folder / f".{name}.new"
        try:
            self._write_new(temporary, content)
            temporary.rename(self.folder / name)
        except OSError:
            temporary.unlink(missing_ok=True)  # half a segment helps nobody, least on a full disk
            raise
        self._sync_folder()

    def _write_new(self, path: Path, content: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            write_all(descriptor, content)
            self._sync(descriptor)
        finally:
            os.close(descriptor)

    def append(self, name: str, content: bytes, *, sync: bool) -> None:
        """Add to a segment; what has to be durable may use up the reserve."""
        try:
            self._append(name, content, sync=sync)
        except OSError as error:
            if error.errno not in _FULL or not sync or not self._give_reserve():
                raise
            self._append(name, content, sync=sync)

    def _append(self, name: str, content: bytes, *, sync: bool) -> None:
        descriptor, size = self._descriptor(name)
        try:
            write_all(descriptor, content)
            if sync:
                self._sync(descriptor)
        except OSError:
            # A full disk may have taken half a line: take it back, or the next line is lost too.
            os.ftruncate(descriptor, size)
            raise
        self._open = (name, descriptor, size + len(content))

    def remove(self, name: str) -> None:
        """Take a segment away."""
        (self.folder / name).unlink(missing_ok=True)

    def room(self) -> int:
        """Bytes that are free there."""
        return room(self.folder)

    def _keep_reserve(self) -> None:
        path = self.folder / _RESERVE_NAME
        if path.exists() or self.room() < LOW:
            return
        with contextlib.suppress(OSError):  # no reserve is no reason to write nothing
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                write_all(descriptor, bytes(RESERVE))
            finally:
                os.close(descriptor)

    def _give_reserve(self) -> bool:
        """Whether there was one to give up."""
        try:
            (self.folder / _RESERVE_NAME).unlink()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of the open file."""
        if self._open is not None:
            os.close(self._open[1])
            self._open = None

    def _descriptor(self, name: str) -> tuple[int, int]:
        if self._open is not None and self._open[0] == name:
            return self._open[1], self._open[2]
        self.close()
        descriptor = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND)
        size = os.fstat(descriptor).st_size
        self._open = (name, descriptor, size)
        return descriptor, size

    def _sync(self, descriptor: int) -> None:
        if self._fsync:
            os.fsync(descriptor)

    def _sync_folder(self) -> None:
        """A new name is durable only when its folder is."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            self._sync(descriptor)
        finally:
            os.close(descriptor)


def room(folder: Path) -> int:
    """Bytes that are free where that folder is or will be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def write_whole(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Write a file as a whole or not at all, durably if `sync`, for the owner alone."""
    temporary = write_beside(path, content, sync=sync)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_beside(path: Path, content: bytes, *, sync: bool = True, mode: int = 0o600) -> Path:
    """Write a file beside that one, to take its place; where it is."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            if sync:
                os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def write_all(descriptor: int, content: bytes) -> None:
    """Write it all, in as many pieces as the kernel wants."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
