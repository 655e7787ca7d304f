"""The journal: the append-only record of one agent, and the truth about it.

A journal is a folder of segments, `YYYY-MM-DD.NNNN.jsonl` (UTC). Each supervisor life begins a
segment, and so does each new day and each 16 MB. A segment begins with all that was known, so it
can be read alone: old ones can go (retention) without recovery missing them.

Rule 1: an admitted decision is durable before anything is done about it (law 5).
Rule 2: where little room is left, what agents printed is left out, and what was decided is not.
Rule 3: nothing is ever changed in place. A torn last line belongs to a supervisor that died while
writing it; it is skipped when read, never repaired.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from koboshi.core.events import (
    ActionFinished,
    Context,
    Moment,
    OrderGiven,
    RunExited,
    RunStarted,
    ScreenRead,
)
from koboshi.core.view import evolve
from koboshi.errors import JournalDamaged, JournalError

from . import wire
from .shelves import LOW
from .wire import Boot

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event

    from .shelves import Shelf

#: A segment is closed at this size; a recovery reads one segment, at ≈ 10 MB/s.
SEGMENT_BYTES = 16 * 1024 * 1024
#: What no later look would show again.
_NOT_SEEN_TWICE = (ActionFinished, OrderGiven, RunExited, RunStarted)
#: Days a segment is kept.
KEEP_DAYS = 7
#: Writes between two looks at how much room is left.
LOOK = 16


class Journal:
    """Writes one agent's segments."""

    def __init__(
        self,
        shelf: Shelf,
        *,
        boot: Boot | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        keep_days: int = KEEP_DAYS,
    ) -> None:
        self._shelf = shelf
        self._boot = boot or Boot()
        self._segment_bytes = segment_bytes
        self._keep_days = keep_days
        self._name = ""
        self._size = 0
        self._touched: dict[str, None] = {}
        self._until_look = 0
        self.low = 0  #: bytes that are left, where that is so little that details are left out

    def open(self, world: World, now: Moment, touched: tuple[str, ...] = ()) -> None:
        """Begin a segment with all that is known, then drop what retention allows."""
        self._touched = dict.fromkeys(touched)
        names = self._shelf.names()
        name = _next_name(names[-1] if names else "", now)
        line = wire.opened_line(world, now, tuple(self._touched), self._boot)
        self._shelf.create(name, line)
        self._name, self._size = name, len(line)
        for old in expired(names, now, self._keep_days):
            self._shelf.remove(old)

    def write(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        """Write what was seen and what was decided; durable where anything depends on it."""
        self._mind_room()
        said = _bare(event) if self.low and not decisions else event
        lines = [wire.seen_line(said), *(wire.judged_line(d) for d in decisions)]
        admitted = any(d.verdict.admitted for d in decisions)
        self._append(b"".join(lines), sync=admitted or isinstance(event.body, _NOT_SEEN_TWICE))
        if isinstance(event.body, ActionFinished):
            self._touched.pop(event.body.key, None)
        if self._size > self._segment_bytes or _day(event.now) > self._name[:10]:
            # What was to be written is written. If the disk is too full for a new segment, this one
            # grows on; the next write tries again.
            with contextlib.suppress(OSError):
                self.open(world, event.now, tuple(self._touched))

    def touch(self, key: str, now: Moment) -> None:
        """Mark, durably, that the action may reach the outside from now on."""
        self._append(wire.touched_line(key, now), sync=True)
        self._touched[key] = None

    def _mind_room(self) -> None:
        self._until_look -= 1
        if self._until_look < 0:
            self._until_look = LOOK
            left = self._shelf.room()
            self.low = max(1, left) if left < LOW else 0

    def _append(self, content: bytes, *, sync: bool) -> None:
        self._shelf.append(self._name, content, sync=sync)
        self._size += len(content)


def _bare(event: Event) -> Event:
    """The event without what an agent printed, which is most of it.

    What stands above an open question stays: it tells that question from the next one.
    """
    body = event.body
    if not isinstance(body, ScreenRead) or body.reading.prompt is not None:
        return event
    reading = evolve(body.reading, lines=(), evidence=body.reading.evidence[:1])
    return evolve(event, body=evolve(body, reading=reading))


def _day(now: Moment) -> str:
    return _day_name(int(now.utc // 86400))


@lru_cache(maxsize=8)
def _day_name(days: int) -> str:
    """Asked at every write, and the answer changes once a day."""
    return datetime.fromtimestamp(days * 86400, tz=UTC).strftime("%Y-%m-%d")


def _next_name(last: str, now: Moment) -> str:
    """A name that sorts after the last one, also when the clock went back over midnight."""
    day = _day(now)
    if last and last[:10] >= day:
        return f"{last[:10]}.{int(last.split('.')[1]) + 1:04d}.jsonl"
    return f"{day}.0001.jsonl"


def expired(names: tuple[str, ...], now: Moment, keep_days: int) -> tuple[str, ...]:
    """The segments that may go: too old, and not the newest one there was."""
    oldest = (datetime.fromtimestamp(now.utc, tz=UTC) - timedelta(days=keep_days)).strftime(
        "%Y-%m-%d"
    )
    return tuple(n for n in names[:-1] if n[:10] < oldest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A record and where it stands."""

    segment: str
    number: int
    record: wire.Record


def read_segment(name: str, content: bytes, *, headless: bool = False) -> Iterator[Line]:
    """The records of a segment; a torn last line is left out, damage elsewhere is an error.

    `headless` passes over a first line that cannot be read: who has folded the segment before this
    one does not need it.
    """
    context = Context(agent="")
    lines = content.split(b"\n")
    last = len(lines)
    while last and not lines[last - 1]:
        last -= 1
    for number, raw in enumerate(lines[:last], 1):
        try:
            record = wire.read_line(raw, context)
        except JournalDamaged as error:
            if number == last and (number > 1 or not content.endswith(b"\n")):
                return
            if number == 1 and headless:
                continue
            raise JournalDamaged(f"{name}, line {number}: {error}") from error
        except JournalError as error:
            raise type(error)(f"{name}, line {number}: {error}", hint=error.hint) from error
        if isinstance(record, wire.Opened):
            context = Context(agent=record.agent)
        elif number == 1:
            raise JournalDamaged(f"{name}, line 1: expected the beginning of a segment")
        yield Line(segment=name, number=number, record=record)


def read(shelf: Shelf) -> Iterator[Line]:
    """All records of a journal, oldest first."""
    for name in shelf.names():
        yield from read_segment(name, shelf.read(name))
