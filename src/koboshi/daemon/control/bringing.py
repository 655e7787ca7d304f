"""What a person has brought out: notices to people, bundles and prompts to files."""

from __future__ import annotations

import functools
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.events import Severity
from koboshi.errors import InputError
from koboshi.notices.notice import Notice

from .requests import AboutArgs, NoticeArgs

if TYPE_CHECKING:
    from koboshi.daemon.aftermath import Aftermath
    from koboshi.daemon.house import House
    from koboshi.notices.desk import Desk


def table(house: House) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
    """Name → verb."""
    verbs = (bundle, prompt, metrics, notice, notices)
    return {verb.__name__: functools.partial(verb, house) for verb in verbs}


async def notice(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """Bring that to people."""
    asked = msgspec.convert(args, type=NoticeArgs)
    if asked.over:
        _desk(house).settle(asked.agent)
        return {"said": "", **_desk(house).waiting()}
    if not asked.text.strip():
        raise InputError("expected a message, and it is empty")
    if asked.severity not in Severity.__members__:
        raise InputError(f"expected P0, P1 or P2, not {asked.severity!r}")
    said = await _desk(house).take(
        Notice(
            key=asked.key or f"person{time.time_ns()}",
            agent=asked.agent,
            text=asked.text,
            severity=Severity[asked.severity],
            utc=time.time(),
            asks=asked.asks,
        )
    )
    return {"said": said, **_desk(house).waiting()}


async def notices(house: House, args: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """What is on its way, and which channels do not work."""
    return _desk(house).waiting()


async def metrics(house: House, args: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """All figures, as Prometheus wants them and as plain values."""
    if house.reach is None:
        return {"text": "", "agents": {}}
    figures = {each.agent: each.image() for each in house.reach.books.figures()}
    return {"text": house.reach.exposition(), "agents": figures}


async def bundle(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """Everything about an agent in one file, now."""
    asked = msgspec.convert(args, type=AboutArgs)
    aftermath = await _aftermath(house, asked.name)
    text = asked.text or "asked for by a person"
    return {"agent": asked.name, "said": await aftermath.bundle(text, "asked")}


async def prompt(house: House, args: dict[str, Any]) -> dict[str, Any]:
    """A prompt about an agent's trouble."""
    asked = msgspec.convert(args, type=AboutArgs)
    aftermath = await _aftermath(house, asked.name)
    return {"agent": asked.name, "text": await aftermath.prompt(asked.text)}


async def _aftermath(house: House, name: str) -> Aftermath:
    supervisor = await house.ward(name).taken_up(5.0)
    if supervisor.aftermath is None:
        raise InputError(f"{name} has only been taken up", hint="try again in a moment")
    return supervisor.aftermath


def _desk(house: House) -> Desk:
    if house.reach is None:
        raise InputError("the daemon has only begun", hint="try again in a moment")
    return house.reach.desk
