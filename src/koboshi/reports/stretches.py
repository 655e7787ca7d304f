"""What an agent's time went into: records → stretches of one thing each."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from koboshi.core.readings import Status
from koboshi.core.view import evolve

from .values import Doing, Stretch

if TYPE_CHECKING:
    from koboshi.core.view import View

#: Seconds without a record after which nobody was looking: a living run is looked at every half
#: minute, and told of.
QUIET = 150.0


def doing(view: View) -> Doing:
    """What that view's time goes into."""
    match view.status:
        case Status.WORKING | Status.STARTING:
            return Doing.WORKING
        case Status.IDLE:
            return Doing.IDLE
        case Status.ASKING:
            return Doing.ASKING
        case Status.LIMITED:
            return Doing.LIMITED
        case Status.FAILED:
            return Doing.DOWN
        case Status.GONE:
            return Doing.ENDED if is_ended(view) else Doing.DOWN
        case Status.UNKNOWN:
            return Doing.UNKNOWN if view.run.number else Doing.ENDED
    assert_never(view.status)


def is_ended(view: View) -> bool:
    """Whether its end was meant."""
    ended = view.run.exit
    return view.halted is not None or view.run.number == 0 or bool(ended and ended.meant)


class Clock:
    """Puts time on what was so, within the hours that are asked for."""

    def __init__(self, since: float, until: float) -> None:
        self._since = since
        self._until = until
        self._at: float | None = None
        self._view: View | None = None
        self._found: list[Stretch] = []

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """What was found so far, without gaps."""
        return tuple(self._found)

    def take(self, view: View, utc: float) -> None:
        """At that instant this became known; a clock that went back says nothing of time."""
        if self._at is not None and self._view is not None:
            utc = max(utc, self._at)
            self._pass(self._view, self._at, utc)
        self._at, self._view = utc, view

    def close(self) -> None:
        """The last thing known is so till the end of the hours."""
        if self._view is not None:
            self.take(self._view, self._until)

    def _pass(self, view: View, start: float, end: float) -> None:
        what = doing(view)
        # Who is gone cannot stir: silence says nothing there.
        unseen = end - start > QUIET and what not in (Doing.ENDED, Doing.DOWN)
        self._add(Doing.UNSEEN if unseen else what, start, end)

    def _add(self, what: Doing, start: float, end: float) -> None:
        start, end = max(start, self._since), min(end, self._until)
        if end <= start:
            return
        last = self._found[-1] if self._found else None
        if last is not None and last.doing is what:
            self._found[-1] = evolve(last, end=end)
        else:
            self._found.append(Stretch(doing=what, start=start, end=end))
