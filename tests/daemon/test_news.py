"""What makes another list of incidents or of rules: told by number, to who waits for changes."""

from __future__ import annotations

import asyncio

from koboshi.core.engine import World, happen, step
from koboshi.core.events import (
    Body,
    Context,
    Moment,
    Order,
    OrderGiven,
    Origin,
    RunExited,
    RunStarted,
    Ticked,
)
from koboshi.core.view import View
from koboshi.daemon.news import News
from koboshi.daemon.pulses import Pulse
from koboshi.rules import BUILTIN


def test_decisions_outcomes_and_orders_are_news_and_time_is_not() -> None:
    """Whoever shows incidents asks again for what could look otherwise."""
    news = News(Pulse())
    world = World(view=View(context=Context(agent="a")), rules=BUILTIN)
    told = []
    bodies: tuple[Body, ...] = (
        RunStarted(run=1, origin=Origin.FIRST, pid=7, place="p"),
        Ticked(),
        RunExited(run=1, code=3),
        OrderGiven(order=Order.ACKNOWLEDGE, by="person"),
        Ticked(),
    )
    for at, body in enumerate(bodies):
        event = happen(world, body, Moment(at=float(at), utc=float(at)))
        world, decisions = step(world, event)
        before = news.told()["incidents"]
        news.heard(event, decisions, world)
        told.append((type(body).__name__, news.told()["incidents"] > before))

    assert told == [
        ("RunStarted", True),
        ("Ticked", False),
        ("RunExited", True),
        ("OrderGiven", True),
        ("Ticked", False),
    ]
    assert news.told()["rules"] == 0


def test_other_rules_wake_who_waits_for_agents() -> None:
    """Though none of those changed."""

    async def go() -> list[str]:
        changes = Pulse()
        news = News(changes)
        waiting = asyncio.get_running_loop().create_task(changes.after(0, 60.0))
        await asyncio.sleep(0)
        news.ruled()
        await waiting
        assert news.told() == {"incidents": 0, "rules": 1}
        news.forget("a")
        assert news.told() == {"incidents": 1, "rules": 1}
        return changes.since(0)

    assert asyncio.run(go()) == []
