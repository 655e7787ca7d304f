"""One agent, one supervisor, in the foreground of one process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.adapters.registry import has_manifest
from koboshi.core.engine import World
from koboshi.core.events import Context, Order, OrderGiven
from koboshi.core.observations import ProcessGone
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.errors import HostError, PlaceGone
from koboshi.hosts.probing import version_of
from koboshi.performers import Program
from koboshi.rules import BUILTIN
from koboshi.sources.hookfile import HookFile
from koboshi.store.manifests import adapter_in, config_dir
from koboshi.store.paths import journal_dir
from koboshi.store.shelves import DiskShelf

from .lock import agent_lock
from .recover import reopen, take_over
from .runtime import AsyncioRuntime
from .supervisor import Supervisor

if TYPE_CHECKING:
    from koboshi.adapters.base import Adapter
    from koboshi.hosts.base import Host
    from koboshi.store.journal import Journal

    from .supervisor import Listen

log = logging.getLogger(__name__)

#: Seconds between two looks.
LOOK_EVERY = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Which agent, how it is started, and where its journal is."""

    agent: str
    agent_type: str
    program: Program
    state: Path
    settings: Settings = field(default_factory=Settings)
    hooks: Path | None = None  #: a file the agent appends its hook payloads to


def start_first(supervisor: Supervisor) -> None:
    """Start an agent that never ran."""
    if supervisor.world.view.run.number == 0:
        supervisor.take(OrderGiven(order=Order.START, by="owner"))


async def _adapter(post: Post) -> Adapter:
    """The adapter for the version that is about to run, with the user's manifest on top."""
    program, version = post.program, ""
    if has_manifest(post.agent_type):
        version = await version_of(program.argv, env=program.env, cwd=program.cwd)
    chosen = adapter_in(config_dir(), post.agent_type, version)
    for wrong in chosen.complaints:
        log.warning("manifest skipped", extra={"action": "manifest", "reason": wrong})
    return chosen.adapter


async def watch_over(
    post: Post,
    host: Host,
    *,
    enough: Callable[[Supervisor], bool],
    announce: Callable[[Supervisor, str], None] = lambda _, text: log.warning(text),
    begun: Callable[[Supervisor], None] = start_first,
    listen: Listen | None = None,
) -> None:
    """Take the agent on and look after it until `enough` says so.

    `begun` is told once what was known is known again; it starts an agent that never ran.
    """
    folder = journal_dir(post.state, post.agent)
    with agent_lock(folder.parent / "lock"):
        runtime = AsyncioRuntime()
        context = Context(agent=post.agent, agent_type=post.agent_type, worktree=post.program.cwd)
        known = await _adapter(post)
        blank = World(view=View(context=context, settings=post.settings), rules=BUILTIN)

        def assemble(world: World, journal: Journal) -> Supervisor:
            return Supervisor(
                world=world,
                journal=journal,
                adapter=known,
                host=host,
                program=post.program,
                runtime=runtime,
                announce=lambda text: announce(supervisor, text),
                listen=listen,
            )

        shelf = DiskShelf(folder)
        supervisor, recovered = reopen(shelf, blank, runtime, assemble)
        for warning in recovered.warnings:
            log.warning("journal bridged", extra={"action": "recover", "reason": warning})
        try:
            await take_over(supervisor, recovered)
            begun(supervisor)
            await _live(supervisor, HookFile(post.hooks) if post.hooks else None, enough)
        finally:
            await runtime.cancel()
            shelf.close()


async def _live(
    supervisor: Supervisor, hooks: HookFile | None, enough: Callable[[Supervisor], bool]
) -> None:
    while not enough(supervisor):
        for hook in hooks.read() if hooks else ():
            supervisor.observe(hook)
        await _look(supervisor)
        supervisor.tick()
        await supervisor.runtime.sleep(LOOK_EVERY)


async def _look(supervisor: Supervisor) -> None:
    try:
        await supervisor.look()
    except PlaceGone:
        if supervisor.place is not None:
            supervisor.observe(ProcessGone(run=supervisor.place.run))
    except HostError as error:
        # The terminal could not be reached this time; what was known stays known, and grows old.
        log.warning("look failed", extra={"action": "look", "reason": str(error)})
