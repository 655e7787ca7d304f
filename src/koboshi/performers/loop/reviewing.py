"""Review: a run that reads what another did, and says a verdict; once for each attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from koboshi.errors import KoboshiError, UnknownTask
from koboshi.hosts.headless import HeadlessHost
from koboshi.plans.reviewing import Review, review_of
from koboshi.store.firings import Report

from .checking import EVERY, check
from .commands import Halted


async def reviewed(
    state: Path,
    task: str,
    *,
    fire: Callable[[], Awaitable[object]],
    answer: Callable[[str], Awaitable[object]],
    halted: Callable[[], str],
) -> tuple[Review, Report]:
    """The verdict of the review of that name; raises where there is none: a person decides then."""
    try:
        await check(state, task)
    except UnknownTask:
        await fire()
    report = await _settled(state, task, halted)
    found = review_of(await answer(task))
    if isinstance(found, str):
        why = report.why if report.state == "failed" else found
        raise KoboshiError(f"the review came to nothing: {why}")
    return found, report


async def _settled(state: Path, task: str, halted: Callable[[], str]) -> Report:
    """Wait for its end; whoever says stop ends it."""
    while (report := await check(state, task)).state == "running":
        if why := halted():
            host = HeadlessHost(state_dir=state)
            for place in await host.find(task):
                await host.stop(place.id)
            raise Halted(why)
        await asyncio.sleep(EVERY)
    return report
