"""Which looks are worth an event. Most looks show what the look before them showed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from koboshi.core.events import ScreenRead, ScreenSame

if TYPE_CHECKING:
    from koboshi.core.readings import Reading
    from koboshi.core.view import View

_Told = TypeVar("_Told", ScreenRead, ScreenSame)

#: Seconds between events while only lines are added, only a spinner moves, nothing moves.
GROWING = 5.0
MOVING = 1.0
STILL = 5.0


def _alike(one: Reading, two: Reading) -> bool:
    """Whether two readings say the same; evidence may quote a running clock and does not count.

    Nor do lines: an agent that prints all day would be told of at every look.
    """
    return (
        one.status is two.status
        and one.prompt == two.prompt
        and one.draft == two.draft
        and one.context == two.context
        and one.limit == two.limit
        and one.error == two.error
        and one.reason == two.reason
    )


class Coalescer:
    """Remembers the last look that was told. An economy only: without its memory it tells more."""

    def __init__(self) -> None:
        self._told: ScreenRead | None = None
        self._digest = ""
        self._at = 0.0
        self.owing = True  #: what the last look showed has not been told

    def sift(self, body: ScreenRead, view: View) -> ScreenRead | ScreenSame | None:
        """The event for that look; None when it adds nothing."""
        told = self._told
        if told is None or told.run != body.run or not _alike(told.reading, body.reading):
            self._told = body
            return self._tell(body)
        unconfirmed = view.question is not None and view.question.looks == 1
        age = body.seen_at - self._at
        grown = told.reading.lines != body.reading.lines
        gap = GROWING if grown else MOVING if body.digest != self._digest else STILL
        if age < gap and not unconfirmed:
            self.owing = body.digest != self._digest
            return None
        if grown:
            self._told = body
            return self._tell(body)
        return self._tell(ScreenSame(run=body.run, digest=body.digest, seen_at=body.seen_at))

    def _tell(self, body: _Told) -> _Told:
        self._digest, self._at = body.digest, body.seen_at
        self.owing = False
        return body
