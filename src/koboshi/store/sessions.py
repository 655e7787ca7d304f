"""The runs of one agent, read from its journal: session, beginning, end, and why it ended.

`sessions.jsonl` beside the journal is derived from it and never read back: other programs do that.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koboshi.core.events import RunStarted
from koboshi.core.view import evolve

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Event
    from koboshi.core.view import Exit, View

FILE = "sessions.jsonl"


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


def runs(events: Iterable[tuple[Event, World]]) -> Iterator[Past]:
    """All runs, oldest first; the last one may still be going on."""
    past: Past | None = None
    for event, world in events:
        body, run = event.body, world.view.run
        if isinstance(body, RunStarted) and body.run == run.number != (past.run if past else 0):
            if past is not None:
                over = evolve(past, ended=event.now.utc, how="not seen")
                yield past if past.ended is not None else over
            origin = body.origin.value
            past = Past(run=run.number, origin=origin, sessions=(), started=event.now.utc)
        if past is None or past.run != run.number:
            continue
        if run.session and run.session not in past.sessions[-1:]:
            past = evolve(past, sessions=(*past.sessions, run.session))
        if run.exit is not None and (past.ended is None or past.how != how(run.exit)):
            ended = past.ended or event.now.utc
            past = evolve(past, ended=ended, how=how(run.exit), reason=_why(world.view))
    if past is not None:
        yield past


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


def renew(folder: Path, found: Iterable[Past]) -> None:
    """Write `sessions.jsonl` there, as a whole or not at all."""
    temporary = folder / f".{FILE}.{secrets.token_hex(4)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(past.facts()) + "\n" for past in found)
        temporary.replace(folder / FILE)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
