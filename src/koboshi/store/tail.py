"""A journal's records as they come: what is there, then what is added, over new segments too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from koboshi.core.events import Context
from koboshi.errors import FileUnreadable, JournalDamaged, JournalError

from . import wire
from .journal import Line
from .queries import no_beginning, read_file
from .shelves import DiskShelf, in_order


def tail(
    folder: Path, wait: Callable[[], None] | None = None, *, since: str = ""
) -> Iterator[Line]:
    """The records of a journal from the day `since` (YYYY-MM-DD) on, oldest first.

    At the end it calls `wait` and looks again, for ever; without `wait` it stops there.
    """
    cursor = Cursor(folder, "")
    while True:
        names = _from(cursor.name, [n for n in DiskShelf(folder).names() if n[:10] >= since])
        for name in names:
            if name != cursor.name:
                cursor = Cursor(folder, name)
            # A newer segment is begun when nothing more is added to this one.
            closed = name != names[-1] or wait is None
            yield from cursor.read(closed=closed)
        if wait is None:
            return
        wait()


def _from(current: str, names: list[str]) -> list[str]:
    """The segments from the current one on; it may have been removed meanwhile."""
    if not current:
        return names
    ordered = in_order({*names, current})
    return [n for n in ordered[ordered.index(current) :] if n in names]


class Cursor:
    """How far a segment was read."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._path = folder / name
        self._offset = 0
        self._number = 0
        self._context = Context(agent="")

    def read(self, *, closed: bool) -> Iterator[Line]:
        """What was added since; half a line is left for later, and left out when it is closed."""
        try:
            rows = self._rows(closed=closed)
        except FileNotFoundError:
            return  # retention took it away since it was listed
        for index, row in enumerate(rows, 1):
            record = self._record(row, last=index == len(rows))
            if record is None:
                break
            self._offset += len(row) + 1
            self._number += 1
            yield Line(segment=self.name, number=self._number, record=record)
        if closed and not self._number:
            raise no_beginning(self.name)

    def _rows(self, *, closed: bool) -> list[bytes]:
        rows = self._content().split(b"\n")
        half = rows.pop()
        if half and closed:
            rows.append(half)
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def _content(self) -> bytes:
        try:
            return read_file(self._path, self._offset)
        except FileUnreadable as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise error.__cause__ from None
            raise

    def _record(self, row: bytes, *, last: bool) -> wire.Record | None:
        where = f"{self.name}, line {self._number + 1}"
        try:
            record = wire.read_line(row, self._context)
        except JournalDamaged as error:
            if last and self._number:
                return None  # torn; or the rest of it comes later
            raise JournalDamaged(f"{where}: {error}") from error
        except JournalError as error:
            raise type(error)(f"{where}: {error}", hint=error.hint) from error
        if isinstance(record, wire.Opened):
            self._context = Context(agent=record.agent)
        elif not self._number:
            raise JournalDamaged(f"{where}: expected the beginning of a segment")
        return record
