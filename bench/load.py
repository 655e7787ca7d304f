"""Realistic load: simulated nights, the events in their journals, and the looks that made them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from unittest import mock

from koboshi.core.engine import World, happen, step
from koboshi.core.events import Context, Moment, ScreenRead, ScreenSame, Ticked
from koboshi.core.view import View
from koboshi.rules import BUILTIN
from koboshi.store import wire
from koboshi.store.journal import read
from koboshi.testing import FakeHost, Night

if TYPE_CHECKING:
    from koboshi.core.engine import Decision
    from koboshi.core.events import Body, Event
    from koboshi.core.settings import Settings
    from koboshi.hosts.base import Place
    from koboshi.observations import ScreenSeen

#: Seconds between a look and the tick after it.
_A_MOMENT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One event, the world before it, and what came of it."""

    before: World
    event: Event
    after: World
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What befell one agent in one night, and every look at its terminal."""

    settings: Settings
    facts: tuple[tuple[Body, Moment], ...]
    looks: tuple[ScreenSeen, ...]


@lru_cache(maxsize=1024)
def story(seed: int) -> Story:
    """The night of that seed."""
    looks: list[ScreenSeen] = []
    seen = FakeHost.seen

    def watched(host: FakeHost, place: Place, *, unreliable: bool = False) -> ScreenSeen:
        looks.append(seen(host, place, unreliable=unreliable))
        return looks[-1]

    night = Night(seed)
    with mock.patch.object(FakeHost, "seen", watched):
        night.run()
    events = [ln.record.event for ln in read(night.shelf) if isinstance(ln.record, wire.Seen)]
    facts = tuple(_with_ticks(events))
    return Story(settings=night.settings, facts=facts, looks=tuple(looks))


def _with_ticks(events: list[Event]) -> Iterator[tuple[Body, Moment]]:
    """A journal keeps only ticks that changed something; a supervisor ticks after every look."""
    for event in events:
        if isinstance(event.body, Ticked):
            continue
        yield event.body, event.now
        if isinstance(event.body, ScreenRead | ScreenSame):
            yield Ticked(), Moment(at=event.now.at + _A_MOMENT, utc=event.now.utc + _A_MOMENT)


def blank(settings: Settings) -> World:
    """An agent nothing is known of."""
    context = Context(agent="bench", agent_type="scripted", worktree="work")
    return World(view=View(context=context, settings=settings), rules=BUILTIN)


def happenings(nights: int) -> list[Happening]:
    """All that happens in that many nights, each with an agent of its own."""
    told: list[Happening] = []
    for seed in range(1, nights + 1):
        night = story(seed)
        world = blank(night.settings)
        for body, now in night.facts:
            event = happen(world, body, now)
            after, decisions = step(world, event)
            told.append(Happening(before=world, event=event, after=after, decisions=decisions))
            world = after
    return told


def copied(world: World) -> World:
    """The same world sharing nothing with it, as if read from its own journal."""
    line = wire.opened_line(world, Moment(at=0.0, utc=0.0), (), wire.Boot())
    opened = wire.read_line(line, world.view.context)
    assert isinstance(opened, wire.Opened)  # noqa: S101 - for the type checker
    return wire.read_world(opened, world.rules)
