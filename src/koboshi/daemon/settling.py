"""What is set for an agent: its entry, the files and the variables it was enrolled with."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from koboshi.config.resolve import Resolved, Subject, resolve, shown_value
from koboshi.config.variables import FIELDS
from koboshi.errors import ConfigBroken
from koboshi.store.manifests import config_dir

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.settings import Settings
    from koboshi.store.roster import Entry

log = logging.getLogger(__name__)


async def settled(entry: Entry) -> Settings:
    """The settings of an agent that is taken up. A mistake is told, and never leaves it alone."""
    return (await resolved(entry)).settings


async def resolved(entry: Entry) -> Resolved:
    """Its settings and its answers; what is mistaken in them is told."""
    found = await _resolve(entry)
    for wrong in (*found.mistakes, *found.foreign, *found.notes):
        log.warning("not used", extra={"action": "configure", "reason": str(wrong)})
    return found


async def checked(entry: Entry) -> list[str]:
    """What the person who enrols it should know; their own mistakes are an error."""
    return insist(await _resolve(entry))


async def configured(entry: Entry, world: World | None) -> dict[str, Any]:
    """What is set, where each value comes from, and what is in force where that differs."""
    found = await _resolve(entry)
    facts = {"agent": entry.agent, **found.facts()}
    if world is None:
        return facts
    now = world.view.settings
    differ = [name for name in FIELDS if getattr(now, name) != getattr(found.settings, name)]
    return {**facts, "in_force": {name: shown_value(name, getattr(now, name)) for name in differ}}


def insist(found: Resolved) -> list[str]:
    """Notes for the person; an error when something of their own is mistaken."""
    if found.mistakes:
        raise ConfigBroken(tuple(str(wrong) for wrong in found.mistakes))
    return [*map(str, found.foreign), *found.notes]


async def _resolve(entry: Entry) -> Resolved:
    subject = Subject(
        agent=entry.agent,
        agent_type=entry.agent_type,
        cwd=entry.cwd,
        variables=entry.variables,
        mode=entry.level(),
    )
    # The folder may be on a disk that takes its time.
    return await asyncio.to_thread(resolve, subject, config_dir())
