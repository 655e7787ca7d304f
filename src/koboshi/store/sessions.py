"""The runs of one agent, as its journal tells them: session, beginning, end, and why it ended.

`sessions.jsonl` beside the journal has a line for each. It outlives the journal's segments: lines
about runs that the journal has forgotten are kept, all others are written anew from it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.view import evolve

from .shelves import write_whole

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Event
    from koboshi.core.view import Exit, View

FILE = "sessions.jsonl"
#: Runs that are remembered.
MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One run; the keys are a public contract (docs/reference/json.md)."""

    run: int
    origin: str
    sessions: tuple[str, ...]  #: the last one is what a resume goes on with
    started: float
    ended: float | None = None
    how: str = ""
    reason: str = ""

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "session": self.sessions[-1] if self.sessions else ""}


class Chronicle:
    """The runs of one agent while it is looked after, by number."""

    def __init__(self, known: Iterable[Past] = ()) -> None:
        self._runs = {past.run: past for past in known}

    @property
    def runs(self) -> tuple[Past, ...]:
        """All runs, oldest first; the last one may still be going on."""
        return tuple(self._runs[run] for run in sorted(self._runs)[-MOST:])

    def take(self, event: Event, world: World) -> bool:
        """One more event with the world after it; whether it told something of a run."""
        run, utc = world.view.run, event.now.utc
        if not run.number:
            return False
        past = known = self._runs.get(run.number)
        if past is None:
            self._close(run.number, utc)
            started = utc - max(0.0, event.now.at - run.since)
            origin = run.origin.value
            past = Past(run=run.number, origin=origin, sessions=(), started=started)
        if run.session and run.session not in past.sessions[-1:]:
            past = evolve(past, sessions=(*past.sessions, run.session))
        if run.exit is not None and (past.ended is None or past.how != how(run.exit)):
            ended = past.ended or utc
            past = evolve(past, ended=ended, how=how(run.exit), reason=_why(world.view))
        self._runs[run.number] = past
        return past is not known

    def _close(self, run: int, utc: float) -> None:
        """Runs before that one are over, whoever saw it."""
        for number, past in self._runs.items():
            if number < run and past.ended is None:
                self._runs[number] = evolve(past, ended=utc, how="not seen")


def runs(events: Iterable[tuple[Event, World]], known: Iterable[Past] = ()) -> tuple[Past, ...]:
    """All runs that these events tell of, and those known before; oldest first."""
    chronicle = Chronicle()
    for event, world in events:
        chronicle.take(event, world)
    told = {past.run: past for past in chronicle.runs}
    older = {past.run: past for past in known}
    merged = {**older, **{n: _whole(past, older.get(n)) for n, past in told.items()}}
    return tuple(merged[n] for n in sorted(merged)[-MOST:])


def _whole(told: Past, before: Past | None) -> Past:
    """A run whose beginning is in a segment that is gone keeps the sessions that it had."""
    if before is None or before.sessions[: len(told.sessions)] == told.sessions:
        return told
    return evolve(told, sessions=tuple(dict.fromkeys((*before.sessions, *told.sessions))))


def how(end: Exit) -> str:
    """In two words."""
    if end.signal is not None:
        return f"signal {end.signal}"
    return "not known" if end.code is None else f"exit code {end.code}"


def _why(view: View) -> str:
    """Why the run ended, at the moment that was known."""
    reload, refresh = view.reload, view.refresh
    if reload is not None and reload.run == view.run.number:
        return f"reload: {reload.reason}" if reload.reason else "reload"
    if refresh is not None:
        return f"refresh: {refresh.why}"
    if view.halted is not None:
        return "a person said stop"
    return "exited as meant" if view.run.exit and view.run.exit.meant else "crashed"


def remembered(folder: Path) -> tuple[Past, ...]:
    """What `sessions.jsonl` there says; a line that is not one of ours says nothing."""
    try:
        with (folder / FILE).open("rb") as file:
            lines = file.read(MOST * 4096).splitlines()
    except OSError:
        return ()
    found = []
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            found.append(msgspec.json.decode(line, type=Past))
    return tuple(found)


def renew(folder: Path, found: Iterable[Past]) -> None:
    """Write `sessions.jsonl` there, as a whole or not at all."""
    text = "".join(json.dumps(past.facts()) + "\n" for past in found)
    write_whole(folder / FILE, text.encode(), sync=False)  # it can be made again from the journal
