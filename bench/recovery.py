"""How long a supervisor takes to get back what a journal of 100 MB says."""

from __future__ import annotations

import tempfile
from itertools import count as endless
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.core.engine import World, happen, step
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Moment,
    Outcome,
    RunExited,
    RunStarted,
    ScreenRead,
    ScreenSame,
)
from koboshi.core.view import evolve
from koboshi.store.history import load
from koboshi.store.journal import SEGMENT_BYTES, Journal
from koboshi.store.shelves import DiskShelf

from .figures import Figure, count, median_seconds
from .load import blank, story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koboshi.core.events import Body

TOTAL = 100 * 1000 * 1000
NIGHTS = 40
#: A day's segments: no rotation but by size, no retention.
_DAY, _DAY_SECONDS = 1_800_000_000.0 // 86400 * 86400, 86000.0
#: The worst moment to die is just before a segment is full.
_NEARLY = 0.95


def measure_recovery(scale: float) -> tuple[Figure, ...]:
    """The default segments, of which one is read, and one segment with everything in it."""
    total = count(TOTAL, scale, least=100_000)
    nights = count(NIGHTS, scale)
    default = min(SEGMENT_BYTES, total // 5)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="koboshi-bench-") as folder:
        for name, segment in (("segments", default), ("single", 2**62)):
            shelf = DiskShelf(Path(folder) / name, fsync=False)
            _fill(shelf, total, segment, nights)
            figures.extend(_recover(name, shelf))
            for old in shelf.names():
                shelf.remove(old)
    return tuple(figures)


def _recover(name: str, shelf: DiskShelf) -> tuple[Figure, ...]:
    start = Moment(at=0.0, utc=_DAY)
    empty = blank(story(1).settings)
    sizes = [(shelf.folder / each).stat().st_size for each in shelf.names()]
    seconds = median_seconds(lambda: load(shelf, empty, start), rounds=3)
    aim = "" if name == "single" else "one segment"
    return (
        Figure(key=f"{name}_total", value=sum(sizes) / 1e6, unit="MB"),
        Figure(key=f"{name}_read", value=sizes[-1] / 1e6, unit="MB", aim=aim),
        Figure(key=f"{name}_seconds", value=seconds, unit="s"),
        Figure(key=f"{name}_rate", value=sizes[-1] / 1e6 / seconds, unit="MB/s"),
    )


def _fill(shelf: DiskShelf, total: int, segment: int, nights: int) -> None:
    """Write one agent's endless night until there is enough of it."""
    world = blank(story(1).settings)
    journal = Journal(shelf, segment_bytes=segment)
    journal.open(world, Moment(at=0.0, utc=_DAY))
    written, current = 0, shelf.names()[-1]
    for body, now in _endless(nights):
        world = _take(world, journal, body, now)
        last = shelf.names()[-1] if segment < total else current
        if last != current:
            written, current = written + (shelf.folder / current).stat().st_size, last
        size = (shelf.folder / last).stat().st_size
        if written + size >= total and (segment > total or size >= segment * _NEARLY):
            break
    shelf.close()


def _take(world: World, journal: Journal, body: Body, now: Moment) -> World:
    """Step and write, as a supervisor does; every action that is admitted succeeds at once."""
    event = happen(world, body, now)
    after, decisions = step(world, event)
    if after is not world:
        journal.write(event, decisions, after)
    for decision in decisions:
        if decision.verdict.admitted:
            action = decision.action
            outcome = Outcome(ending=Ending.DONE)
            finished = ActionFinished(key=action.key, action=action, outcome=outcome)
            after = _take(after, journal, finished, now)
    return after


def _endless(nights: int) -> Iterator[tuple[Body, Moment]]:
    """The nights one after the other, as later and later runs of one agent."""
    at, runs = 0.0, 0
    for turn in endless():
        begun, first_run = at, runs
        for body, now in story(turn % nights + 1).facts:
            if isinstance(body, ActionFinished):
                continue  # outcomes come from the decisions made here
            at = begun + now.at
            later = _later(body, runs=first_run, seconds=begun)
            runs = max(runs, getattr(later, "run", None) or 0)  # a hook may know of no run
            yield later, Moment(at=at, utc=_DAY + at % _DAY_SECONDS)


def _later(body: Body, *, runs: int, seconds: float) -> Body:
    """The same fact about a later run."""
    if isinstance(body, ScreenRead | ScreenSame):
        return evolve(body, run=body.run + runs, seen_at=body.seen_at + seconds)
    if isinstance(body, RunStarted | RunExited):
        return evolve(body, run=body.run + runs)
    return body
