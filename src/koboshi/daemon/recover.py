"""Taking an agent on: from its journal, or for the first time (law 5).

Recovery folds what was written and decides nothing. What was admitted and has no outcome is in
doubt: it is settled by looking again, and the ledger keeps other hands off until it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from koboshi.core.actions import Start
from koboshi.core.events import Origin, RunExited, RunStarted, SupervisorStarted
from koboshi.store.history import load
from koboshi.store.journal import Journal

from .supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.core.engine import World
    from koboshi.store.history import Recovered
    from koboshi.store.shelves import Shelf

    from .runtime import Runtime


def reopen(
    shelf: Shelf, blank: World, runtime: Runtime, assemble: Callable[[World, Journal], Supervisor]
) -> tuple[Supervisor, Recovered]:
    """The supervisor as the journal left it, writing a new segment."""
    recovered = load(shelf, blank, runtime.now())
    runtime.go_on(recovered.last, recovered.boot)
    journal = Journal(shelf, boot=runtime.boot())
    journal.open(recovered.world, runtime.now(), recovered.touched)
    return assemble(recovered.world, journal), recovered


async def take_over(supervisor: Supervisor, recovered: Recovered) -> None:
    """Find the agent, settle what is in doubt, and go on."""
    doubts = supervisor.world.ledger.in_flight()
    await _find_place(supervisor)
    supervisor.take(SupervisorStarted(doubts=tuple(a.key for a in doubts)))
    for action in doubts:
        supervisor.settle(action, touched=action.key in recovered.touched)
    await _missed_run(supervisor)
    await _missed_exit(supervisor)


async def _find_place(supervisor: Supervisor) -> None:
    run = supervisor.world.view.run
    for place in await supervisor.hands.host.find(supervisor.hands.agent):
        if place.run == run.number:
            supervisor.hands.place = place
        elif not place.own and place.id == run.place:
            # In a pane that the user had before, runs come and go and the pane stays.
            supervisor.hands.place = replace(place, run=run.number)


async def _missed_run(supervisor: Supervisor) -> None:
    """A run that nobody wrote down; a start in doubt tells of its own."""
    view = supervisor.world.view
    if any(isinstance(action, Start) for action in supervisor.world.ledger.in_flight()):
        return
    for place in await supervisor.hands.host.find(supervisor.hands.agent):
        if not place.own:
            if supervisor.place is None:
                supervisor.found(place)  # a pane of the user's that it was not in before
        elif place.run > view.run.number:
            origin = Origin.FIRST if view.run.number == 0 else Origin.RESUMED
            supervisor.hands.place = place
            supervisor.take(RunStarted(run=place.run, origin=origin, place=place.id, pid=place.pid))


async def _missed_exit(supervisor: Supervisor) -> None:
    """A run whose terminal went away while nobody looked."""
    view = supervisor.world.view
    if supervisor.place is not None or view.run.number == 0 or view.run.exit is not None:
        return
    supervisor.take(RunExited(run=view.run.number))
