"""Events through `step`: how many a second, how long one takes, whether more agents cost more."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

from koboshi.core.engine import step

from .figures import Figure, best_seconds, count, quiet_gc, spread
from .load import copied, happenings

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Event

    from .load import Happening

NIGHTS = 100
#: Turns of each agent, at least, when there are many.
TURNS = 5
AGENTS = (1, 100, 10_000)

#: One agent's share: the world it begins with, and its events.
Chunk = tuple["World", list["Happening"]]


def measure_step(scale: float) -> tuple[Figure, ...]:
    """One core, one agent after the other, the mix of a night: looks, ticks, hooks, outcomes."""
    told = happenings(count(NIGHTS, scale))
    seconds = best_seconds(lambda: _steps(told))
    with quiet_gc(frozen=False):
        times = _timed_steps(told)
    return (
        Figure(key="events", value=len(told), unit=""),
        Figure(key="per_second", value=len(told) / seconds, unit="1/s", aim="≥ 50000"),
        *spread("", times),
    )


def _steps(told: list[Happening]) -> None:
    world = told[0].before
    for each in told:
        world, _ = step(world if each.before.seq else each.before, each.event)


def _timed_steps(told: list[Happening]) -> list[int]:
    times, world = [], told[0].before
    for each in told:
        taken, world = _timed(world if each.before.seq else each.before, each.event)
        times.append(taken)
    return times


def _timed(world: World, event: Event) -> tuple[int, World]:
    begun = time.thread_time_ns()  # CPU time: what the neighbours do does not count
    after, _ = step(world, event)
    return time.thread_time_ns() - begun, after


def measure_agents(scale: float) -> tuple[Figure, ...]:
    """The same events dealt out to 1, 100 and 10,000 agents, which take turns.

    Only the order and the memory in use differ. `frozen` keeps the garbage collector away from the
    agents that are there already, so that what is left is the cost of memory out of reach of the
    processor's cache.
    """
    told = happenings(count(NIGHTS, scale))
    told *= 1 + count(AGENTS[-1] * TURNS, scale) // len(told)
    figures: list[Figure] = []
    for frozen in (False, True):
        suffix = "_frozen" if frozen else ""
        runs = [(n, spread(f"{n}{suffix}_", _interleaved(told, n, frozen=frozen))) for n in AGENTS]
        for _, figs in runs:
            figures.extend(figs)
        first, last = runs[0][1], runs[-1][1]
        for at, part in enumerate(("p50", "p99")):
            figures.append(
                Figure(
                    key=f"ratio{suffix}_{part}",
                    value=last[at].value / first[at].value,
                    unit=f"× ({AGENTS[-1]}:1)",
                    aim="flat" if part == "p50" else "",
                )
            )
    return tuple(figures)


def _interleaved(told: list[Happening], agents: int, *, frozen: bool) -> list[int]:
    """Nanoseconds of each step when that many agents take turns."""
    agents = min(agents, len(told))
    bounds = [len(told) * i // agents for i in range(agents + 1)]
    chunks: list[Chunk] = [(copied(told[a].before), told[a:b]) for a, b in pairwise(bounds)]
    times: list[int] = []
    worlds = [world for world, _ in chunks]
    longest = max(len(events) for _, events in chunks)
    with quiet_gc(frozen=frozen):
        for turn in range(longest):
            for agent, (_, events) in enumerate(chunks):
                if turn >= len(events):
                    continue
                if events[turn].before.seq == 0:
                    worlds[agent] = events[turn].before  # another night begins
                taken, worlds[agent] = _timed(worlds[agent], events[turn].event)
                times.append(taken)
    return times
