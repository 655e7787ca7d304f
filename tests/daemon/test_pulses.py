"""Who changed since when; and nobody who waits misses anything."""

from __future__ import annotations

import asyncio

from koboshi.daemon.pulses import Pulse


def test_changes_are_told_by_number() -> None:
    """A reader that was away is told of each name once."""
    pulse = Pulse()
    for name in ("a", "b", "a"):
        pulse.beat(name)

    assert (pulse.count, pulse.of("a"), pulse.of("c")) == (3, 3, 0)
    assert sorted(pulse.since(0)) == ["a", "b"]
    assert pulse.since(2) == ["a"]
    assert pulse.since(3) == []
    assert Pulse().epoch != pulse.epoch


def test_who_waits_for_one_is_not_woken_by_another() -> None:
    """And what came before the waiting counts."""

    async def go() -> list[str]:
        pulse, order = Pulse(), list[str]()

        async def wait(name: str | None) -> None:
            await pulse.after(0, 60.0, name)
            order.append(name or "anybody")

        async with asyncio.TaskGroup() as group:
            group.create_task(wait("b"))
            group.create_task(wait(None))
            await asyncio.sleep(0)
            pulse.beat("a")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            order.append("then")
            pulse.beat("b")
        await pulse.after(1, 60.0, "b")
        return order

    assert asyncio.run(go()) == ["anybody", "then", "b"]


def test_waiting_ends_in_time() -> None:
    """Nothing changed: the caller asks again."""
    asyncio.run(Pulse().after(0, 0.001))
