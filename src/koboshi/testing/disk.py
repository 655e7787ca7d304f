"""A disk in memory that loses what was not synced, at any byte."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from koboshi.store.shelves import in_order

from .outside import Outside

if TYPE_CHECKING:
    from random import Random


class MemoryShelf:
    """Implements `store.shelves.Shelf`; `crash` tears an unsynced tail off, `full` refuses."""

    def __init__(self, outside: Outside | None = None) -> None:
        self.segments: dict[str, bytearray] = {}
        self.full = False
        self.left = 1 << 40  #: bytes that are free
        self._synced: dict[str, int] = {}
        self._outside = outside or Outside()

    def names(self) -> tuple[str, ...]:
        """All segments, oldest first."""
        return in_order(self.segments)

    def read(self, name: str) -> bytes:
        """The whole of a segment."""
        return bytes(self.segments[name])

    def create(self, name: str, content: bytes) -> None:
        """Make a segment, durably."""
        self._outside.before()
        self._refuse_if_full()
        self.segments[name] = bytearray(content)
        self._synced[name] = len(content)
        self._outside.after()

    def append(self, name: str, content: bytes, *, sync: bool) -> None:
        """Add to a segment."""
        self._outside.before()
        self._refuse_if_full()
        segment = self.segments[name]
        segment += content
        if sync:
            self._synced[name] = len(segment)
        self._outside.after()

    def remove(self, name: str) -> None:
        """Take a segment away."""
        self._outside.before()
        del self.segments[name], self._synced[name]

    def room(self) -> int:
        """Bytes that are free."""
        return self.left

    def crash(self, random: Random) -> None:
        """Lose the unsynced tail of the last segment from a random byte on."""
        if not self.segments:
            return
        name = self.names()[-1]
        size, synced = len(self.segments[name]), self._synced[name]
        if size > synced:
            del self.segments[name][random.randint(synced, size) :]

    def _refuse_if_full(self) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "no space left on device")
