"""One agent, one supervisor, in the foreground of one process."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.adapters.registry import has_manifest
from koboshi.core.actions import Mode
from koboshi.core.engine import World
from koboshi.core.events import Context, Order, OrderGiven
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.performers import Gear, Program
from koboshi.performers.policing import by_policy, warm
from koboshi.sources import reborn
from koboshi.sources.hookfile import HookFile
from koboshi.sources.hookhttp import HookUrl, hook_http, reserve
from koboshi.sources.hooksocket import hook_socket
from koboshi.sources.others import left_by, users_of
from koboshi.sources.senses import Senses
from koboshi.sources.tasks import TasksFile
from koboshi.store.manifests import adapter_in, config_dir
from koboshi.store.paths import journal_dir
from koboshi.store.redaction import secret_values
from koboshi.store.shelves import DiskShelf
from koboshi.store.snapshots.aside import Retention, snapshot_for

from .aftermath import Aftermath
from .asking import held_for
from .eyes import watch
from .lock import agent_lock, session_lock
from .noticing import bring
from .panes import signposted
from .recover import reopen, take_over
from .rulekeeping import RuleKeeper, kept
from .runtime import AsyncioRuntime
from .scribe.scribe import Scribe, papers
from .supervisor import Supervisor
from .versions import Versions

if TYPE_CHECKING:
    from koboshi.adapters.base import Adapter
    from koboshi.core.rules import Rule
    from koboshi.hosts.base import Host
    from koboshi.observations import Observation
    from koboshi.policy.policies import Policy
    from koboshi.store.history import Recovered
    from koboshi.store.journal import Journal

    from .reach import Reach
    from .scribe.pen import Pen
    from .supervisor import Listen

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Which agent, how it is started, and where its journal is."""

    agent: str
    agent_type: str
    program: Program
    state: Path
    settings: Settings = field(default_factory=Settings)
    answers: Policy | None = None  #: what is answered in mode `auto`; None: what `allow` lists
    hooks: Path | None = None  #: a file the agent appends its hook payloads to
    versions: Versions | None = None  #: what is known of CLIs; None: what the disk says
    pen: Pen | None = None  #: writes the logs for people; None: there are none
    reach: Reach | None = None  #: people, storage and programs; None: only the log is written


def start_first(supervisor: Supervisor) -> None:
    """Start an agent that never ran."""
    if supervisor.world.view.run.number == 0:
        supervisor.take(OrderGiven(order=Order.START, by="owner"))


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
    folder, scribe = journal_dir(post.state, post.agent), _scribe(post)
    with agent_lock(folder.parent / "lock"), _posted_to(post, folder.parent) as url:
        gear = Gear(folder=folder.parent, url=url.of if url else None)
        runtime, chosen = AsyncioRuntime(), await _adapter(post)
        keeper = await kept(config_dir(), post.program.cwd, post.state)

        def assemble(world: World, journal: Journal) -> Supervisor:
            return Supervisor(
                world=world,
                journal=journal,
                adapter=chosen,
                host=host,
                program=replace(post.program, gear=gear),
                runtime=runtime,
                announce=lambda text: announce(supervisor, text),
                listen=scribe.before(post.reach.before(listen) if post.reach else listen),
            )

        shelf = DiskShelf(folder)
        supervisor, recovered = reopen(shelf, _blank(post, keeper.rules), runtime, assemble)
        _tell(recovered)
        scribe.attend(supervisor)
        _inform(post, supervisor)
        try:
            await take_over(supervisor, recovered)
            begun(supervisor)
            await _live(post, supervisor, (gear, url, keeper), enough)
        finally:
            scribe.leave()
            await runtime.cancel()
            shelf.close()


def _inform(post: Post, supervisor: Supervisor) -> None:
    """Who is asked about questions, and where an agent leaves its last words."""
    left = reborn.folder(post.program.cwd, around(post))
    supervisor.last_words = lambda since: reborn.last_words(left, since)
    if post.answers is not None:
        home = around(post).get("HOME", "")
        supervisor.hands.advise = by_policy(post.answers, post.agent_type, home)
        if post.settings.mode >= Mode.AUTO:
            asyncio.get_running_loop().run_in_executor(None, warm)


def _tell(recovered: Recovered) -> None:
    for warning in recovered.warnings:
        log.warning("journal bridged", extra={"action": "recover", "reason": warning})


def _scribe(post: Post) -> Scribe:
    """Who writes its logs."""
    agent, program = post.agent, post.program
    monitor, output = papers(
        agent, post.agent_type, post.settings, state=post.state, cwd=program.cwd
    )
    folder, secrets = journal_dir(post.state, agent).parent, secret_values(around(post))
    return Scribe(post.pen, folder, monitor=monitor, output=output, secrets=secrets)


@contextmanager
def _posted_to(post: Post, folder: Path) -> Iterator[HookUrl | None]:
    """Where hooks are posted to, if they are; before a run is started, which is told so."""
    url = None
    if post.settings.hooks == "http":
        try:
            url = reserve(folder / "hooks.url")
        except OSError as error:
            log.warning("no port for hooks", extra={"action": "hooks", "reason": str(error)})
    with closing(url.door) if url else nullcontext():
        yield url


async def _adapter(post: Post) -> Adapter:
    """What is known of its CLI, for the version that is installed, as its owner mended it."""
    version = ""
    if has_manifest(post.agent_type):
        versions = post.versions or Versions(post.state)
        version = await versions.of(post.program)
    chosen = adapter_in(config_dir(), post.agent_type, version)
    for wrong in chosen.complaints:
        log.warning("manifest skipped", extra={"action": "manifest", "reason": wrong})
    return chosen.adapter


def _blank(post: Post, rules: tuple[Rule, ...]) -> World:
    context = Context(agent=post.agent, agent_type=post.agent_type, worktree=post.program.cwd)
    settings = reborn.tuned(post.settings, around(post))
    return World(view=View(context=context, settings=settings), rules=rules)


def around(post: Post) -> Mapping[str, str]:
    """The environment that the agent is started in."""
    return os.environ if post.program.env is None else post.program.env


async def _live(
    post: Post,
    supervisor: Supervisor,
    ears: tuple[Gear, HookUrl | None, RuleKeeper],
    enough: Callable[[Supervisor], bool],
) -> None:
    """Screen, files and hooks; a hook that arrives is worth a look at once."""

    def hooked(observation: Observation) -> None:
        supervisor.observe(observation)
        supervisor.nudge.give()

    gear, url, keeper = ears
    supervisor.reread = lambda: keeper.renew(supervisor)
    senses = _Senses(post, supervisor, gear, keeper)
    supervisor.hands.transcript = senses.last_lines
    if post.reach is not None:
        supervisor.hands.notice = bring(post.reach.desk, supervisor)
        Aftermath(post, post.reach, supervisor).attend()
    environment, state = around(post), gear.state
    supervisor.hands.session_lock = session_lock
    supervisor.hands.session_users = lambda session: asyncio.to_thread(
        users_of, session, environment
    )
    supervisor.hands.left_running = lambda run: asyncio.to_thread(left_by, post.agent, state, run)
    keep = Retention(least=post.settings.keep_least, seconds=post.settings.keep_for)
    cwd, agent = post.program.cwd, post.agent
    supervisor.hands.snapshot = lambda name: snapshot_for(cwd, agent, name, keep=keep)
    holding = held_for(supervisor, hooked)
    supervisor.hands.held = holding.get
    posted = hook_http(url, hooked, holding) if url else nullcontext()
    async with hook_socket(gear.socket, post.agent, hooked, holding), posted:
        with signposted(supervisor.hands):
            await watch(supervisor, enough=enough, senses=senses)


class _Senses:
    """Everything beside the screen, in one call."""

    def __init__(self, post: Post, supervisor: Supervisor, gear: Gear, keeper: RuleKeeper) -> None:
        self._supervisor, self._keeper = supervisor, keeper
        self._around = around(post)
        self._files = Senses(post.agent, post.agent_type, gear.spool)
        self._hooks = HookFile(post.hooks) if post.hooks else None
        tasks = post.settings.tasks
        self._tasks = TasksFile(Path(post.program.cwd) / tasks) if tasks else None

    def last_lines(self) -> tuple[bytes, ...]:
        """The end of the agent's transcript."""
        return self._files.last_lines(self._supervisor.world.view.run.session, self._around)

    def poll(self) -> Iterator[Observation]:
        """What is new."""
        runtime = self._supervisor.runtime
        if self._keeper.due(runtime.now().at):
            runtime.spawn(self._keeper.renew(self._supervisor))
        if self._hooks is not None:
            yield from self._hooks.poll()
        if self._tasks is not None:
            yield from self._tasks.poll()
        yield from self._files.read(self._supervisor.world.view.run)
