"""Figures of one agent over one day: a fold over its events, with no clock and no disk.

The same events give the same figures, live or from a journal (`koboshi metrics`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.actions import Answer, Start
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Origin,
    RunExited,
    RunStarted,
    SignalRead,
    SupervisorStarted,
)
from koboshi.core.readings import Status

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event
    from koboshi.core.view import Run, View

DAY = 86400.0
#: Who is in one of these is on its feet.
_UP = (Status.WORKING, Status.IDLE, Status.ASKING)
#: Where time goes while no supervisor looks.
UNWATCHED = "unwatched"


@dataclass(slots=True, kw_only=True)
class Figures:
    """Counters of a day, and what is so at the moment."""

    agent: str
    day: int = 0  #: days since the epoch
    events: dict[str, int] = field(default_factory=dict)  #: "type severity"
    actions: dict[str, int] = field(default_factory=dict)  #: "kind outcome"
    held: dict[str, int] = field(default_factory=dict)  #: "kind verdict": decided against
    restarts: dict[str, int] = field(default_factory=dict)  #: by reason
    seconds: dict[str, float] = field(default_factory=dict)  #: in each status
    answered: int = 0  #: questions
    crashes: int = 0
    ended: int = 0  #: runs, and …
    lived: float = 0.0  #: … how long all of them lived
    recovered: int = 0  #: times it was on its feet again after a crash, and …
    recovering: float = 0.0  #: … the seconds that took
    last_crash: float | None = None  #: UTC
    down_since: float | None = None  #: since a crash that it has not recovered from
    status: str = Status.UNKNOWN.value
    run: int = 0
    run_since: float | None = None  #: UTC; None: there is no run
    context: float | None = None  #: percent in use
    tokens: int = 0
    last_at: float | None = None  #: when the last event was

    def take(self, event: Event, decisions: Iterable[Decision], world: World) -> bool:
        """One more event with what was decided and the world after it; False: of another day."""
        day = int(event.now.utc // DAY)
        if self.day and day > self.day:
            return False
        self.day = self.day or day
        self._pass_time(event)
        _add(self.events, f"{event.type} {event.severity.value}")
        for decision in decisions:
            self.judge(decision)
        self._count(event, world.view)
        self._note(event, world.view)
        return True

    def judge(self, decision: Decision) -> None:
        """One more decision; what was admitted is counted by what came of it."""
        if not decision.verdict.admitted:
            _add(self.held, f"{decision.action.kind} {decision.verdict.word.value}")

    def _pass_time(self, event: Event) -> None:
        """The time since the last event was spent in the status that held then."""
        if self.last_at is not None:
            watched = not isinstance(event.body, SupervisorStarted)
            where = self.status if watched else UNWATCHED
            passed = max(0.0, event.now.at - self.last_at)
            self.seconds[where] = self.seconds.get(where, 0.0) + passed
        self.last_at = event.now.at

    def _count(self, event: Event, view: View) -> None:
        body = event.body
        if isinstance(body, RunStarted):
            _add(self.restarts, _reason(body, view))
        elif isinstance(body, ActionFinished):
            ending = body.outcome.ending
            _add(self.actions, f"{body.action.kind} {ending.value}")
            self.answered += isinstance(body.action, Answer) and ending is Ending.DONE
            if isinstance(body.action, Start) and ending is Ending.FAILED:
                _add(self.restarts, "failed")
        elif isinstance(body, SignalRead):
            self.tokens = body.tokens or self.tokens

    def _ended(self, run: Run, utc: float) -> None:
        """The view knows whether that was meant: a person's stop may take a signal."""
        if self.run_since is not None:
            self.ended += 1
            self.lived += max(0.0, utc - self.run_since)
        self.run, self.run_since = run.number, None
        if run.exit is not None and not run.exit.meant:
            self.crashes += 1
            self.last_crash = utc
            self.down_since = self.down_since or utc

    def _note(self, event: Event, view: View) -> None:
        """What is so now."""
        run, now = view.run, event.now
        if run.number and run.exit is None and run.number != self.run:
            self.run = run.number
            self.run_since = now.utc - max(0.0, now.at - run.since)
        elif run.exit is not None and self._is_news(run, event):
            self._ended(run, now.utc)
        self.status = view.status.value
        self.context = view.sight.context.used if view.sight.context else self.context
        if self.down_since is not None and _on_its_feet(view):
            self.recovered += 1
            self.recovering += max(0.0, now.utc - self.down_since)
            self.down_since = None

    def _is_news(self, run: Run, event: Event) -> bool:
        """Whether its end was not counted; in a person's pane a shell is all that tells of it."""
        told = isinstance(event.body, RunExited) and run.number != self.run
        return told or (self.run_since is not None and run.number == self.run)

    # -- reading -------------------------------------------------------------------------------

    def next_day(self, utc: float) -> Figures:
        """Empty counters; what is so at the moment stays so."""
        return Figures(
            agent=self.agent,
            day=int(utc // DAY),
            status=self.status,
            run=self.run,
            run_since=self.run_since,
            context=self.context,
            tokens=self.tokens,
            last_crash=self.last_crash,
            down_since=self.down_since,
            last_at=self.last_at,
        )

    def uptime(self, utc: float) -> float:
        """Seconds that the run has lived; 0 where there is none."""
        return max(0.0, utc - self.run_since) if self.run_since is not None else 0.0

    def mean_uptime(self) -> float | None:
        """Seconds that a run lived which has ended."""
        return self.lived / self.ended if self.ended else None

    def image(self) -> dict[str, Any]:
        """As plain values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        mean = self.recovering / self.recovered if self.recovered else None
        return {**values, "mean_uptime": self.mean_uptime(), "mean_recovery": mean}


def _on_its_feet(view: View) -> bool:
    """Of a program that is not known, that it runs is all that will ever be known."""
    plain = view.context.agent_type == "generic" and view.status is Status.UNKNOWN
    return view.run.exit is None and (plain or view.status in _UP)


def _add(counted: dict[str, int], key: str) -> None:
    """One more; not a `Counter`, which msgspec writes and does not read."""
    counted[key] = counted.get(key, 0) + 1


def read_image(values: object) -> Figures | None:
    """Figures from plain values; None when they are none."""
    try:
        return msgspec.convert(values, Figures)
    except (msgspec.MsgspecError, TypeError, ValueError):
        return None


def _reason(body: RunStarted, view: View) -> str:
    if body.origin is Origin.FIRST:
        return "person"
    if view.reload is not None:
        return "reload"
    return "refresh" if view.refresh is not None else "crash"
