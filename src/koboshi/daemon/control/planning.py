"""Verbs about plans: orders change a plan's file or leave a word beside it; a keeper does the rest.

Files are locked and synced here, so everything is done in threads: agents do not wait for disks.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.daemon.loop import facts, orders
from koboshi.errors import InputError, KoboshiError
from koboshi.plans import PlanStatus
from koboshi.store.paths import plans_dir
from koboshi.store.planfile import PlanFile
from koboshi.store.planjournal import chains
from koboshi.store.progress import Progress

from .requests import FollowArgs, PlanAnswerArgs, PlanArgs, PlanEditArgs, PlanWhyArgs

if TYPE_CHECKING:
    from koboshi.daemon.house import House
    from koboshi.daemon.loop.registry import Known

#: Seconds: the longest that a caller may wait for news, and that changes are gathered.
LONGEST_WAIT, GATHERED = 30.0, 0.1
#: Seconds between two looks for what came of an order.
LOOK = 0.05
#: Decisions that are told at once at most.
DECISIONS = 200


def table(house: House) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
    """Name → verb."""
    verbs = {
        "plans": plans,
        "plan": plan,
        "plan-why": why,
        "plan-stop": stop,
        "plan-resume": resume,
        "plan-answer": answer,
        "plan-edit": edit,
        "plan-follow": follow,
    }
    return {name: functools.partial(verb, house) for name, verb in verbs.items()}


# -- looking ----------------------------------------------------------------------------------


async def plans(house: House, args: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: ARG001
    """Every plan that was started here, briefly."""
    await asyncio.to_thread(house.plans.registry.survey)
    return [_brief(house, known) for known in house.plans.registry.plans()]


async def plan(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """One plan, with all that its file says."""
    known = await _known(house, msgspec.convert(args, type=PlanArgs).id)
    return facts.full(known, house.plans.troubles.get(known.id, ""))


async def why(house: House, args: dict[str, Any]) -> list[dict[str, Any]]:
    """The last decisions about a plan, oldest first."""
    asked = msgspec.convert(args, type=PlanWhyArgs)
    known = await _known(house, asked.id)
    rows = await asyncio.to_thread(Progress(house.state, Path(known.start.path)).notebook.all)
    return chains(rows)[-max(1, min(asked.count, DECISIONS)) :]


async def follow(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """Which plans changed since that number; all of them for a number of another daemon's."""
    asked = msgspec.convert(args, type=FollowArgs)
    changes = house.plan_changes
    full = asked.epoch != changes.epoch
    if not full and changes.count <= asked.after:
        await changes.after(asked.after, min(asked.wait, LONGEST_WAIT))
        await asyncio.sleep(GATHERED)
    count, names = changes.count, changes.since(asked.after)
    if full:
        await asyncio.to_thread(house.plans.registry.survey)
    every = {known.id: known for known in house.plans.registry.plans()}
    wanted = list(every) if full else names
    return {
        "epoch": changes.epoch,
        "count": count,
        "full": full,
        "plans": [_brief(house, every[name]) for name in wanted if name in every],
        "gone": [name for name in wanted if name not in every],
    }


# -- orders -----------------------------------------------------------------------------------


async def stop(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """Stop a plan at once, its agent included."""
    asked = msgspec.convert(args, type=PlanArgs)
    known = await _known(house, asked.id)
    if known.status is not PlanStatus.RUNNING:
        raise InputError(f"{_name(known)} is {known.word}: there is nothing to stop")
    await asyncio.to_thread(Progress(house.state, Path(known.start.path)).stop_file.touch)
    house.plans.nudge()
    return await _seen(house, known, asked.wait, lambda now: now is not PlanStatus.RUNNING)


async def resume(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """Let a plan go on; the daemon works on it."""
    asked = msgspec.convert(args, type=PlanArgs)
    known = await _known(house, asked.id)
    return await _going(house, known, asked.wait, orders.go_on)


async def answer(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """Answer what a plan asked; it goes on."""
    asked = msgspec.convert(args, type=PlanAnswerArgs)
    known = await _known(house, asked.id)
    if known.status not in facts.ASKING:
        raise InputError(f"{_name(known)} is {known.word}: it asks nothing")
    return await _going(house, known, asked.wait, lambda file: orders.answer(file, asked.text))


async def edit(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """Make a person's changes in the file; nothing is written where somebody else made others."""
    asked = msgspec.convert(args, type=PlanEditArgs)
    known = await _known(house, asked.id)
    await asyncio.to_thread(orders.edit, _file(house, known), asked.base, asked.text)
    house.plans.nudge()
    return {**await plan(house, {"id": known.id}), "outcome": "done", "why": "saved"}


# -- parts ------------------------------------------------------------------------------------


async def _going(
    house: House, known: Known, wait: float, order: Callable[[PlanFile], object]
) -> dict[str, Any]:
    """Have the order written, and see that somebody works on the plan."""
    progress = Progress(house.state, Path(known.start.path))
    await asyncio.to_thread(progress.stop_file.unlink, missing_ok=True)
    await asyncio.to_thread(order, _file(house, known))
    house.plans.nudge()
    return await _seen(house, known, wait, lambda _: known.id in house.plans.kept)


async def _seen(
    house: House, known: Known, wait: float, so: Callable[[PlanStatus | None], bool]
) -> dict[str, Any]:
    """What the plan is like once that is so, or when nobody waits any longer."""
    deadline = time.monotonic() + min(wait, LONGEST_WAIT)
    while True:
        now = await _known(house, known.id)
        done = so(now.status)
        if done or time.monotonic() >= deadline:
            return {
                **_brief(house, now),
                "outcome": "done" if done else "waiting",
                "why": now.plan.last_action if done and now.plan else _held_up(house),
            }
        await asyncio.sleep(LOOK)


def _held_up(house: House) -> str:
    if len(house.plans.kept) >= house.plans.jobs():
        return f"{house.plans.jobs()} plans are worked on already: it comes when one is done"
    return "nothing came of it yet"


async def _known(house: House, name: str) -> Known:
    return await asyncio.to_thread(house.plans.registry.plan, name)


def _file(house: House, known: Known) -> PlanFile:
    if known.plan is None:
        raise KoboshiError(f"{known.start.path} is gone, or cannot be read")
    return PlanFile(Path(known.start.path), plans_dir(house.state))


def _brief(house: House, known: Known) -> dict[str, Any]:
    return facts.brief(known, house.plans.troubles.get(known.id, ""))


def _name(known: Known) -> str:
    return Path(known.start.path).name
