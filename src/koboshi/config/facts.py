"""What a condition can look at: the view of one agent, by the names that people write.

Values only: text, whole numbers, true and false, lists of text. Times are whole seconds, so that a
condition that looked a moment ago need not look again. What is not known is -1 or empty, never
null: a comparison with null would be a mistake that shows on the worst night only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from koboshi.adapters.hearing import found
from koboshi.core.events import BODY_TYPES, ScreenSame, Ticked

if TYPE_CHECKING:
    from koboshi.core.events import Event, Moment
    from koboshi.core.view import View

#: The type of events by which lines are heard, as people call it.
LOG = "log"
_HEARD = "lines-heard"
#: Types of events that a rule can be told to look at; ticks and unchanged screens are not kept.
TYPES = (LOG, *(t for t, cls in BODY_TYPES.items() if cls not in (Ticked, ScreenSame)))

#: `count(type, pattern, window)`, with a window in seconds.
Count = tuple[str, str, float]
_Look = Callable[["View", "Moment"], Any]

#: Name → (what it is, how it is looked up).
NAMES: dict[str, tuple[str, _Look]] = {
    "agent": ("its name", lambda v, _: v.context.agent),
    "type": ("what CLI it is: `claude`, `codex` …", lambda v, _: v.context.agent_type),
    "worktree": ("the folder it works in", lambda v, _: v.context.worktree),
    "status": ("its status word", lambda v, _: v.status.value),
    "reason": ("why that is believed", lambda v, _: v.belief.reason),
    "age": ("seconds it has had that status", lambda v, now: int(v.age(now))),
    "still": ("seconds since anything moved", lambda v, now: _long(v.still_for(now))),
    "stalled": ("seconds without a sign of work", lambda v, now: _long(v.stalled_for(now))),
    "run": ("number of its run; 0: there was none", lambda v, _: v.run.number),
    "run_age": ("seconds since that began", lambda v, now: max(0, int(now.at - v.run.since))),
    "alive": ("whether it runs", lambda v, _: v.run.number > 0 and v.run.exit is None),
    "exit_code": ("of an ended run; -1: not known", lambda v, _: _exit(v, "code")),
    "exit_signal": ("that ended it; -1: none", lambda v, _: _exit(v, "signal")),
    "exit_meant": (
        "whether somebody wanted it",
        lambda v, _: bool(v.run.exit and v.run.exit.meant),
    ),
    "turns": ("turns of this run", lambda v, _: v.tally.turns),
    "failures": ("failed turns in a row", lambda v, _: v.tally.failures),
    "crashes": ("bad exits in a row", lambda v, _: v.tally.crashes),
    "nudges": ("messages without effect", lambda v, _: v.tally.nudges),
    "restarts": ("restarts that count now", lambda v, now: v.restarts_in_period(now)),
    "error": ("code of the error it shows; else empty", lambda v, _: _error(v)),
    "question": ("the question that is open; else empty", lambda v, _: _question(v)),
    "context": ("percent of its context in use; -1: not known", lambda v, _: _context(v)),
    "draft": ("whether a half-typed line is in its box", lambda v, _: bool(v.sight.draft)),
    "restarting": ("whether a restart is under way", lambda v, _: v.restarting),
    "paused": ("whether a person said pause", lambda v, _: v.paused),
    "given_up": ("whether koboshi has given up on it", lambda v, _: v.given_up),
    "tasks_done": ("tasks done, by the tasks file", lambda v, _: v.tasks.done),
    "tasks_left": ("tasks left", lambda v, _: v.tasks.left),
    "mode": ("how much koboshi may do", lambda v, _: v.settings.mode.name.lower()),
    "lines": ("the last 10 lines it showed", lambda v, _: v.context.lines),
    "now": ("the time, in seconds since 1970", lambda _, now: int(now.utc)),
}
_NEVER = 1 << 40
#: Seconds for which an event is an occasion to look.
RECENT = 3600.0


class Facts(dict[Any, Any]):
    """What can be known of one view; each is looked up once, when it is asked for."""

    def __init__(self, view: View, now: Moment) -> None:
        super().__init__()
        self.view, self.now = view, now
        self.context: Any = None  #: CEL's, once something was asked; the same for all conditions
        self.given: set[str] = set()  #: what it has been told
        self._echoes = {echo.what: echo for echo in view.echoes}
        self._events: tuple[Event, ...] | None = None

    def __missing__(self, key: str | Count) -> Any:  # noqa: ANN401 - by name
        value = self._count(*key) if isinstance(key, tuple) else NAMES[key][1](self.view, self.now)
        self[key] = value
        return value

    def _count(self, kind: str, pattern: str, window: float) -> int:
        if kind != LOG:
            return len(self._counted(kind, pattern, window))
        start, echo = self.now.at - window, self._echoes.get(pattern)
        return sum(1 for at in echo.times if at > start) if echo else 0

    def _counted(self, kind: str, pattern: str, window: float) -> list[Event]:
        start = self.now.at - window
        return [
            event
            for event in self.events
            if event.type == kind and event.now.at > start and _tells(event, pattern)
        ]

    def newest(self, counts: tuple[Count, ...]) -> Event | None:
        """The last of all that is counted there."""
        found = [event for count in counts for event in self._counted(*count)[-1:]]
        return max(found, key=lambda event: event.seq, default=None)

    def nth(self, patterns: tuple[str, ...]) -> int:
        """The last time that one of these was heard, of all times; 0: never."""
        return max((e.nth for p in patterns if (e := self._echoes.get(p))), default=0)

    def heard_in_run(self, patterns: tuple[str, ...]) -> bool:
        """Whether this very run said one of these."""
        since = self.view.run.since
        found = (self._echoes.get(pattern) for pattern in patterns)
        return any(echo is not None and echo.times[-1] >= since for echo in found)

    def text(self, pattern: str) -> str:
        """The last line in which it was heard."""
        echo = self._echoes.get(pattern)
        return echo.text if echo else ""

    def last(self, types: tuple[str, ...]) -> Event | None:
        """The last event of these types, within the hour; None: none is remembered."""
        wanted = [_HEARD if each == LOG else each for each in types]
        found = next((e for e in reversed(self.events) if e.type in wanted), None)
        return found if found is not None and self.now.at - found.now.at < RECENT else None

    @property
    def events(self) -> tuple[Event, ...]:
        """All that are remembered, the newest last."""
        if self._events is None:
            past = self.view.past
            first = past[0].seq if past else 0  # whatever came since is there, seldom or not
            self._events = (*(e for e in self.view.rare if e.seq < first), *past)
        return self._events


_last: Facts | None = None


def facts_of(view: View, now: Moment) -> Facts:
    """What can be known of that view; the same for all rules that look at it."""
    global _last  # noqa: PLW0603 - two hundred rules look at one view, one after the other
    known = _last
    if known is None or known.view is not view or known.now is not now:
        _last = known = Facts(view, now)
    return known


def _tells(event: Event, pattern: str) -> bool:
    return not pattern or found(pattern, str(event.body))


def _long(seconds: float) -> int:
    return int(min(seconds, _NEVER))


def _exit(view: View, name: str) -> int:
    value = getattr(view.run.exit, name, None)
    return -1 if value is None else int(value)


def _error(view: View) -> str:
    return view.sight.error.code if view.sight.error is not None else ""


def _question(view: View) -> str:
    return view.question.prompt.question if view.question is not None else ""


def _context(view: View) -> int:
    return -1 if view.sight.context is None else int(view.sight.context.used)
