"""What becomes of an order: watched in the agent's own events, never assumed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from koboshi.core.actions import Start
from koboshi.core.events import ActionFinished, Ending
from koboshi.errors import InputError

from . import report

if TYPE_CHECKING:
    from koboshi.core.events import Event, OrderGiven
    from koboshi.core.view import View
    from koboshi.daemon.wards import Ward

#: Seconds: the longest a caller may wait for what came of an order.
LONGEST_WAIT = 600.0
#: Seconds from the end of an agent until it is known as ended, too.
KNOWN = 5.0


def brief(ward: Ward) -> dict[str, Any]:
    """One line of `ls` about it, as things stand."""
    now = ward.supervisor.runtime.now() if ward.supervisor else None
    return {**report.brief(ward.entry, ward.world, now, trouble(ward)), **said(ward)}


def said(ward: Ward) -> dict[str, Any]:
    """What the agent itself says through its tools."""
    number = ward.world.view.run.number if ward.world is not None else 0
    return {"asked": ward.asks.open(number), "progress": ward.asks.progress}


def trouble(ward: Ward) -> str:
    """Why it is not looked after, or not as it should be."""
    unwritten = ward.supervisor.journal_error if ward.supervisor else ""
    return f"its journal cannot be written: {unwritten}" if unwritten else ward.trouble


def raise_failed_start(view: View) -> None:
    """The last start's own words, if it failed."""
    for event in reversed(view.past):
        body = event.body
        if isinstance(body, ActionFinished) and isinstance(body.action, Start):
            if body.outcome.ending is Ending.FAILED:
                raise InputError(f"it could not be started: {body.outcome.why}")
            return


def runs(ward: Ward) -> bool:
    """Whether its agent is up."""
    run = ward.world.view.run if ward.world is not None else None
    return run is not None and run.number > 0 and run.exit is None


async def seen_ended(ward: Ward) -> None:
    """Wait until its end is written down, so that whatever is asked next knows of it."""
    async with ward.events() as queue:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KNOWN):
                while ward.world is not None and ward.world.view.run.exit is None:
                    await queue.get()


async def watched(
    ward: Ward, order: OrderGiven, over: Callable[[Event], str | None], wait: float
) -> dict[str, Any]:
    """Give an order and watch what comes of it for that long."""
    async with ward.events() as queue:
        ward.order(order)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(wait, LONGEST_WAIT)):
                while True:
                    event, _ = await queue.get()
                    ending = over(event)
                    if ending in ("done", "failed"):
                        why = event.body.outcome.why  # type: ignore[union-attr]
                        return {**brief(ward), "outcome": ending, "why": why}
    return {**brief(ward), "outcome": "waiting", "why": ""}
