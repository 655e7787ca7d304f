"""Eyes: when to look at one agent, and when to let time pass for it.

A look costs a millisecond, and most terminals show for minutes what they showed before. So nothing
is looked at until it stirs (`Host.stirred`), with these exceptions, each because of something that
does not stir:

- a question counts at its second look (law 11), and that one may not wait for the agent to move;
- what the coalescer held back, or what could not be written, must be told once things are quiet;
- a bell may be broken without our knowing: every half minute we look in any case.

While output streams, looks keep a distance, and the last state after a burst is always looked at:
the sign that comes after a look leads to another one.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from koboshi.errors import HostError, PlaceGone
from koboshi.observations import Observation, ProcessGone

from .telling import facts

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.hosts.base import Place

    from .supervisor import Supervisor

log = logging.getLogger(__name__)

#: Seconds between two looks while output streams.
GAP = 0.1
#: Looks are taken, and ticks are given, at multiples of these: what many agents do at the same
#: moment costs a third of what it costs when each wakes us, and tmux, for itself.
LOOK_GRID, TICK_GRID = 0.05, 1.0
#: From the first look at a question to the second.
AGAIN = 0.1
#: Until what was not told yet is looked at again; and what is left of a doubt about an answer.
#: More than a second: who prints a line a second is looked at by then, together with others.
OWED = 1.5
#: Between two looks when nothing stirs at all.
BACKSTOP = 30.0
#: Between two ticks: while something goes on, and when nothing has for `CALM`.
TICK, TICK_CALM = 1.0, 5.0
CALM = 15.0
#: After the terminal could not be reached.
LOST = 1.0


class Senses(Protocol):
    """What is known of an agent besides its screen: hooks, transcripts, registries."""

    def poll(self) -> Iterable[Observation]:
        """What is new; called often, so it must be cheap when nothing is."""
        ...


async def watch(
    supervisor: Supervisor,
    *,
    enough: Callable[[Supervisor], bool],
    senses: Senses | None = None,
) -> None:
    """Look after one agent until `enough` says so; `supervisor.nudge` wakes it at any time."""
    await Eyes(supervisor, senses).watch(enough)


class Eyes:
    """The loop of one agent. Times are the runtime's."""

    def __init__(self, supervisor: Supervisor, senses: Senses | None = None) -> None:
        self._supervisor = supervisor
        self._senses = senses
        now = self._now()
        self._looked_at = float("-inf")
        self._look_at = self._tick_at = self._ticked_at = self._active_at = now
        self._lost: Place | None = None  # a terminal that is gone: nothing to wait for there
        self._known: tuple[object, ...] = ()
        self._world: World | None = None

    async def watch(self, enough: Callable[[Supervisor], bool]) -> None:
        """Sense, look, tick, wait; for ever."""
        now = self._now()
        while not enough(self._supervisor):
            self._sense()
            if now >= self._look_at:
                await self._look(now)
            if now >= self._tick_at:
                self._tick(now)
            now = await self._wait()

    # -- what is done ---------------------------------------------------------------------------

    def _sense(self) -> None:
        for observation in self._senses.poll() if self._senses is not None else ():
            self._supervisor.observe(observation)

    async def _look(self, now: float) -> None:
        supervisor, place = self._supervisor, self._supervisor.place
        self._lost = None
        self._looked_at = now  # before the look: a slow one is old when it comes
        try:
            await supervisor.look()
        except PlaceGone:
            self._lost = place
            if place is not None:
                supervisor.observe(ProcessGone(run=place.run))
        except HostError as error:
            # It could not be reached this time; what was known stays known, and grows old.
            self._lost = place
            view, moment = supervisor.world.view, supervisor.runtime.now()
            why = facts(view, moment, action="look", reason=str(error))
            log.warning("look failed", extra=why)
        patience = LOST if self._lost is not None else self._patience()
        due = self._looked_at + patience
        # The second look at a question waits for nobody: they are few, and people wait for it.
        self._look_at = due if patience == AGAIN else self._on_grid(due, LOOK_GRID)

    def _tick(self, now: float) -> None:
        self._supervisor.tick()
        self._ticked_at = now
        calm = now - self._active_at > CALM
        self._tick_at = self._on_grid(now + (TICK_CALM if calm else TICK), TICK_GRID)

    def _patience(self) -> float:
        """How long nothing need stir until the next look."""
        view = self._supervisor.world.view
        if view.question is not None and view.question.looks == 1:
            return AGAIN
        if self._supervisor.owes_a_look or view.doubted:
            return OWED
        return BACKSTOP

    # -- waiting --------------------------------------------------------------------------------

    async def _wait(self) -> float:
        """Until something stirs, somebody nudges, or a look or a tick is due; the time then."""
        supervisor, now = self._supervisor, self._now()
        self._note_activity(now)
        rest = max(0.0, min(self._look_at, self._tick_at) - now)
        stirred = await supervisor.runtime.heed(self._rest(rest), supervisor.nudge)
        now = self._now()
        if supervisor.nudge.taken():
            self._look_at = self._tick_at = now
        elif stirred and now - self._looked_at >= GAP:
            self._look_at = now
        elif stirred:
            return await self._keep_distance(now)
        return now

    async def _keep_distance(self, now: float) -> float:
        """Look when the last look is long enough ago; signs until then are answered by it."""
        self._look_at = min(self._look_at, self._on_grid(self._looked_at + GAP, LOOK_GRID))
        await self._supervisor.runtime.sleep(max(0.0, self._look_at - now))
        place = self._supervisor.place
        with contextlib.suppress(HostError):  # the look will say what is wrong
            if place is not None:
                await self._supervisor.hands.host.stirred(place, 0)
        return self._now()

    async def _rest(self, seconds: float) -> bool:
        """Whether something stirred before the time was over."""
        supervisor, place = self._supervisor, self._supervisor.place
        if place is None or place is self._lost:
            await supervisor.runtime.sleep(seconds)
            return False
        try:
            return await supervisor.hands.host.stirred(place, seconds)
        except HostError:
            return True  # the look will say what is wrong

    def _note_activity(self, now: float) -> None:
        """Time is watched more closely while something goes on."""
        world = self._supervisor.world
        if world is self._world:
            return
        self._world, view = world, world.view
        known = (view.run.number, view.sight.moved_at, view.belief.since, world.ledger)
        if known == self._known:
            return
        self._known, self._active_at = known, now
        # A step asks the rules, too: who just took one needs no tick for a while. But some: what
        # could not be written waits for it.
        latest = min(now + TICK, self._ticked_at + TICK_CALM)
        self._tick_at = self._on_grid(latest, TICK_GRID)

    def _on_grid(self, at: float, grid: float) -> float:
        """The next moment that all agents share; by the machine's clock, ours may be shifted."""
        shift = self._supervisor.runtime.scale(0.0)
        return math.ceil((at - shift) / grid) * grid + shift

    def _now(self) -> float:
        return self._supervisor.runtime.now().at
