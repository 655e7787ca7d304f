"""What is new at the daemon: the board, again at every change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from koboshi.daemon.control.client import Refused
from koboshi.daemon.control.visitor import ANSWERS
from koboshi.errors import DaemonError

if TYPE_CHECKING:
    from koboshi.daemon.control.visitor import Asked

#: Seconds that the daemon waits for news before it says that there are none.
NEWS = 20.0
#: Seconds between two looks at a daemon that cannot be followed, or is not there.
AGAIN = 1.0
PLANS_AGAIN = 5.0


@dataclass(slots=True)
class News:
    """What the board shows: all agents by name, or why nothing new is known."""

    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    trouble: str = ""


async def news(daemon: Asked) -> AsyncIterator[News]:
    """The board, again at every change, for ever; a daemon that went away is waited for.

    A daemon that is followed tells at once and only what changed; one that cannot be is asked for
    all once a second.
    """
    known = News()
    epoch, after, follows = "", 0, True
    while True:
        try:
            if follows:
                args = {"epoch": epoch, "after": after, "wait": NEWS}
                told = await daemon.ask("follow", patience=NEWS + ANSWERS, **args)
                epoch, after = told["epoch"], told["count"]
                known = _merged(known, told)
            else:
                found = await daemon.ask("ls")
                known = News(agents={each["agent"]: each for each in found})
        except Refused as error:
            follows = follows and "follow" in str(error).partition(", not ")[0]
            if follows:
                yield News(agents=known.agents, trouble=str(error))
                await asyncio.sleep(AGAIN)
            continue
        except DaemonError as error:
            known, epoch = News(agents=known.agents, trouble=str(error)), ""
        yield known
        if known.trouble or not follows:
            await asyncio.sleep(AGAIN)


def _merged(known: News, told: dict[str, Any]) -> News:
    agents = {} if told["full"] else dict(known.agents)
    agents.update((each["agent"], each) for each in told["agents"])
    for name in told["gone"]:
        agents.pop(name, None)
    return News(agents=agents)


async def steps(daemon: Asked) -> AsyncIterator[dict[str, str]]:
    """By folder: the step of the plan that is worked on there; again at every change, for ever."""
    known: dict[str, dict[str, Any]] = {}
    epoch, after = "", 0
    while True:
        try:
            args = {"epoch": epoch, "after": after, "wait": NEWS}
            told = await daemon.ask("plan-follow", patience=NEWS + ANSWERS, **args)
        except (Refused, DaemonError):  # away, which `news` tells, or too old for plans
            epoch = ""
            await asyncio.sleep(PLANS_AGAIN)
            continue
        epoch, after = told["epoch"], told["count"]
        known = {} if told["full"] else known
        known |= {each["id"]: each for each in told["plans"]}
        for name in told["gone"]:
            known.pop(name, None)
        yield {each["cwd"]: _step(each) for each in known.values() if _step(each)}


def _step(plan: dict[str, Any]) -> str:
    if plan["status"] != "RUNNING" or not plan["step"]:
        return ""
    return f"{plan['name']}: step {plan['step']['number']} of {plan['steps']}"
