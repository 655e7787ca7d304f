"""Figures from a journal: what the same events say to whoever asks later."""

from __future__ import annotations

from collections.abc import Iterator

from koboshi.store import wire
from koboshi.store.history import follow
from koboshi.store.journal import Line

from .figures import Figures


def days(agent: str, lines: Iterator[Line]) -> tuple[Figures, ...]:
    """A day's figures each, oldest first."""
    found = [Figures(agent=agent)]
    for line, world in follow(lines, ()):
        if isinstance(line.record, wire.Judged):
            found[-1].judge(line.record.decision)
        elif isinstance(line.record, wire.Seen):
            event = line.record.event
            if not found[-1].take(event, (), world):
                found.append(found[-1].next_day(event.now.utc))
                found[-1].take(event, (), world)
    return tuple(found)
