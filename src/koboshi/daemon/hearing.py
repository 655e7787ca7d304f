"""What an agent says, as a fact: the new lines of its own in which rules listen for something.

The first time something is heard it is told at once. What is said again and again is told once a
second with a count: a storm of lines is neither a storm of events nor one line less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.hearing import Listener, shared_ear
from koboshi.core.events import Heard, LinesHeard, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from koboshi.adapters.base import Adapter
    from koboshi.core.engine import World

#: Seconds between two words about the same thing.
EVERY = 1.0
#: Things whose last time is remembered; more, and one may be told a little too often.
KEPT = 1024


class Hearing:
    """Hears one agent."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._listener = Listener()
        self._rules: object = None
        self._more: tuple[str, ...] = ()
        self._ear = shared_ear(())
        self._told: dict[str, float] = {}
        self._pool: dict[str, Heard] = {}

    def look(self, rows: tuple[str, ...], cols: int, world: World, at: float) -> LinesHeard | None:
        """What that look lets one hear; None: nothing that has to be told now."""
        self._mind(world)
        view = world.view
        fresh = self._listener.fresh(view.run.number, rows, cols, view.context.lines)
        # A session that goes on is printed again from its beginning, by a run that says nothing.
        again = view.run.origin is Origin.RESUMED and view.tally.turns == 0
        # Whose lines these are is asked only where something may be heard: most say nothing.
        if fresh and not again and self._ear.pricks([rows[n] for n in fresh]):
            own = self._adapter.own(rows)
            self._take(self._ear.hear(rows[n] for n in fresh if own[n]))
        return self.due(world, at)

    def lines(self, lines: Iterable[str], world: World, at: float) -> LinesHeard | None:
        """The same for lines that are known to be new and its own."""
        self._mind(world)
        self._take(self._ear.hear(lines))
        return self.due(world, at)

    def due(self, world: World, at: float) -> LinesHeard | None:
        """What has to be told by now."""
        if not self._pool:
            return None
        due = [h for what, h in self._pool.items() if at - self._told.get(what, -EVERY) >= EVERY]
        if not due:
            return None
        for each in due:
            del self._pool[each.what]
            self._told[each.what] = at
        if len(self._told) > KEPT:
            self._told = {each.what: at for each in due}
        return LinesHeard(run=world.view.run.number, heard=tuple(due))

    def _take(self, heard: tuple[Heard, ...]) -> None:
        for each in heard:
            before = self._pool.get(each.what)
            times = each.times + (before.times if before else 0)
            self._pool[each.what] = Heard(what=each.what, text=each.text, times=times)

    def _mind(self, world: World) -> None:
        """Other rules listen for other things."""
        more = world.view.settings.fatal_text
        if world.rules is not self._rules or more != self._more:
            self._rules, self._more = world.rules, more
            told = (what for rule in world.rules for what in rule.listens)
            self._ear = shared_ear((*told, *more))
