"""What rules would have heard that nobody asked then: from the screens that a journal has.

A journal has a screen every few seconds while an agent prints, so that lines of a burst are missing
here which a supervisor would have heard.
"""

from __future__ import annotations

from koboshi.adapters.hearing import Ear, Listener
from koboshi.adapters.registry import adapter, names
from koboshi.core.engine import World
from koboshi.core.events import Event, LinesHeard, Origin, ScreenRead
from koboshi.core.fold import fold
from koboshi.core.view import evolve

#: The width of a recorded look is not known, and is taken to stay the same.
_WIDTH = 80


class Rehearing:
    """Listens for these patterns in a journal."""

    def __init__(self, patterns: tuple[str, ...] = ()) -> None:
        self._patterns = frozenset(patterns)
        self._ear, self._listener = Ear(patterns), Listener()

    def heard(self, world: World, event: Event) -> World:
        """The world in which it was heard what the event's screen says."""
        body, view = event.body, world.view
        if not self._patterns or not isinstance(body, ScreenRead) or body.run != view.run.number:
            return world
        rows = body.reading.lines
        fresh = self._listener.fresh(body.run, rows, _WIDTH, view.context.lines)
        if not fresh or (view.run.origin is Origin.RESUMED and view.tally.turns == 0):
            return world
        kind = view.context.agent_type
        own = adapter(kind if kind in names() else "generic").own(rows)
        heard = self._ear.hear(rows[n] for n in fresh if own[n])
        if not heard:
            return world
        said = evolve(event, body=LinesHeard(run=body.run, heard=heard))
        return evolve(world, view=fold(view, said))

    def without(self, event: Event) -> Event:
        """The event, but for what is listened for anew: it must not be counted twice."""
        body = event.body
        if not self._patterns or not isinstance(body, LinesHeard):
            return event
        rest = tuple(each for each in body.heard if each.what not in self._patterns)
        return evolve(event, body=LinesHeard(run=body.run, heard=rest))
