"""The past of one agent as a picture can show it: statuses, marks, and how full its context was."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from koboshi.core import actions as do
from koboshi.core import events as on

from .history import follow
from .queries import with_context
from .tail import tail
from .wording import event_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from koboshi.core.engine import World
    from koboshi.core.events import Event
    from koboshi.core.view import View

_DAY = 86_400.0
#: Seconds: what a picture may cover.
LONGEST = 14 * _DAY
#: What is told at most, of each the newest; points of the curve.
SPANS, MARKS, POINTS = 1000, 500, 300
#: Characters of a mark's words.
WORDS = 300


@dataclass(slots=True)
class Picture:
    """What has been drawn so far."""

    start: float
    spans: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    context: list[tuple[float, float]] = field(default_factory=list)
    question: tuple[int, int] | None = None
    error: str = ""

    def take(self, event: Event, view: View) -> None:
        """One more event, with what was known after it."""
        utc = round(event.now.utc, 3)
        self._span(max(utc, self.start), view)
        self._context(max(utc, self.start), view)
        question, error = self.question, self.error
        self.question = (view.run.number, view.question.nth) if view.question else None
        self.error = view.sight.error.code if view.sight.error else ""
        if utc < self.start:
            return
        if self.question is not None and self.question != question:
            asked = view.question.prompt if view.question else None
            words = f"{asked.question} {asked.subject}".strip() if asked else ""
            self._mark("question", utc, event.id, words)
        if self.error and self.error != error:
            self._mark("error", utc, event.id, f"error {self.error}")
        kind = mark_of(event.body)
        if kind:
            self._mark(kind, utc, event.id, event_words(event.body))

    def _span(self, utc: float, view: View) -> None:
        last, word = self.spans[-1] if self.spans else None, view.status.value
        ended = view.run.exit
        meant = word == "gone" and (view.halted is not None or bool(ended and ended.meant))
        if last is not None and (last["status"], last["meant"]) == (word, meant):
            return
        if last is not None:
            last["to"] = utc
        reason = view.belief.reason
        self.spans.append(
            {"status": word, "reason": reason, "meant": meant, "from": utc, "to": None}
        )

    def _context(self, utc: float, view: View) -> None:
        used = view.sight.context.used if view.sight.context else None
        if used is not None and (not self.context or self.context[-1][1] != used):
            self.context.append((utc, used))

    def _mark(self, kind: str, utc: float, event: str, words: str) -> None:
        self.marks.append({"kind": kind, "utc": utc, "event": event, "words": words[:WORDS]})

    def facts(self, end: float) -> dict[str, Any]:
        """For JSON; the keys are a public contract (docs/reference/json.md)."""
        spans = [{**s, "to": end if s["to"] is None else s["to"]} for s in self.spans]
        shown = [s for s in spans if s["to"] > s["from"]]
        return {
            "from": round(self.start, 3),
            "to": round(end, 3),
            "cut": len(shown) > SPANS or len(self.marks) > MARKS,
            "spans": shown[-SPANS:],
            "marks": self.marks[-MARKS:],
            "context": [list(point) for point in _thinned(self.context)],
        }


def mark_of(body: on.Body) -> str:
    """What is worth a mark, in one word; empty: nothing."""
    match body:
        case on.RunStarted():
            return "start"
        case on.RunExited():
            return "end"
        case on.OrderGiven():
            return "order"
        case on.ActionFinished() if not isinstance(body.action, do.Start):
            return body.action.kind
        case _:
            return ""


def _thinned(points: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """As many as can be seen; the last one always."""
    step = max(1, -(-len(points) // POINTS))
    last = len(points) - 1
    return (point for n, point in enumerate(points) if n % step == 0 or n == last)


def drawn(events: Iterable[tuple[Event, World]], start: float, end: float) -> dict[str, Any]:
    """The picture from one instant to another."""
    picture = Picture(start=start)
    for event, world in events:
        if event.now.utc <= end:
            picture.take(event, world.view)
    return picture.facts(end)


def timeline(folder: Path, start: float, end: float) -> dict[str, Any]:
    """The picture of that journal."""
    # A segment is named for the day it was begun and can hold the first events of the next.
    day = datetime.fromtimestamp(max(0.0, start - _DAY), tz=UTC)
    lines = tail(folder, None, since=f"{day:%Y-%m-%d}")
    return drawn(with_context(follow(lines, ())), start, end)
