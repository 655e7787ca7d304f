"""News: that other incidents or other rules are to be told, by number.

Whoever shows them is told the number with what changed of agents, and asks for the lists only when
it is another one. A number too many costs a question; one too few would leave a page old.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.events import ActionFinished, OrderGiven

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event
    from koboshi.core.readings import Status

    from .pulses import Pulse


class News:
    """Counts what lists of incidents and rules are made of."""

    def __init__(self, changes: Pulse) -> None:
        self._changes = changes
        self._incidents = self._rules = 0
        self._statuses: dict[str, Status] = {}

    def heard(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        """Mind an event: a decision is an incident, an outcome or an order is the end of one."""
        agent, status = world.view.context.agent, world.view.status
        # Whether a person is still asked depends on how the agent is.
        other = self._statuses.get(agent) is not status
        self._statuses[agent] = status
        if decisions or other or isinstance(event.body, ActionFinished | OrderGiven):
            self._incidents += 1

    def ruled(self) -> None:
        """Other rules hold."""
        self._rules += 1
        self._changes.stir()

    def forget(self, agent: str) -> None:
        """Nobody is looked after under that name any more."""
        self._statuses.pop(agent, None)
        self._incidents += 1
        self._changes.stir()

    def told(self) -> dict[str, int]:
        """By what is told: its number."""
        return {"incidents": self._incidents, "rules": self._rules}
