"""Ward: one agent in the daemon's care, through every trouble of its supervisor.

The supervisor of one agent may fail: its disk is full, its tmux is gone, a bug. The others must
not notice, and it is taken up again, after a wait that grows. That restarts nothing but our own
looking: the agent's restart budget is in its journal (law 6).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from koboshi.errors import KoboshiError
from koboshi.performers import Program

from .asks import Asks
from .logins import login_of
from .logs import about
from .news import News
from .pulses import Pulse
from .settling import resolved
from .solo import Post, watch_over
from .telling import facts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Body, Event, ScreenRead
    from koboshi.hosts.base import Host
    from koboshi.store.roster import Entry

    from .reach import Reach
    from .scribe.pen import Pen
    from .supervisor import Supervisor
    from .versions import Versions

log = logging.getLogger(__name__)

#: Seconds before a failed supervisor is tried again; doubles, up to the second.
AGAIN, AGAIN_MAX = 1.0, 60.0
#: Events a slow listener may lag behind before it loses some.
BACKLOG = 1000


class Ward:
    """Looks after one agent until it is let go."""

    def __init__(
        self,
        entry: Entry,
        *,
        state: Path,
        host: Host,
        environment: dict[str, str] | None,
        pen: Pen | None = None,
        versions: Versions | None = None,
        reach: Reach | None = None,
        pulses: tuple[Pulse, Pulse, News] | None = None,
    ) -> None:
        self.entry = entry
        self.supervisor: Supervisor | None = None
        self.trouble = ""  #: why nobody looks after it at the moment
        self._state = state
        self._host = host
        self._environment = environment
        self.login = login_of(entry.agent_type, environment)
        self._pen, self._versions, self._reach = pen, versions, reach
        self.asks = Asks(entry.agent)
        #: what is told of each change, of each look at its terminal, and of what is found of it
        self._changes, self._looks, self._news = pulses or (Pulse(), Pulse(), News(Pulse()))
        self._orders: list[Body] = []
        self._listeners: set[asyncio.Queue[tuple[Event, World]]] = set()
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def host(self) -> Host:
        """Where its terminal is."""
        return self._host

    @property
    def world(self) -> World | None:
        """What is known of it; None before its journal was read."""
        return self.supervisor.world if self.supervisor else None

    def begin(self) -> None:
        """Look after it from now on."""
        self._task = asyncio.get_running_loop().create_task(self._live())

    async def end(self) -> None:
        """Let go of it; the agent lives on."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def order(self, body: Body) -> None:
        """Tell its supervisor; kept until there is one that can write it down."""
        self._orders.append(body)
        if self.supervisor is not None:
            self._tell(self.supervisor)

    def _tell(self, supervisor: Supervisor) -> None:
        orders, self._orders = self._orders, []
        for body in orders:
            supervisor.take(body)
        supervisor.nudge.give()

    async def taken_up(self, seconds: float) -> Supervisor:
        """Its supervisor, once there is one; the trouble as an error when there is none in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.supervisor is None and not self.trouble:
                    self._changed.clear()
                    await self._changed.wait()
        if self.supervisor is None:
            why = self.trouble or "it takes long to be taken up"
            raise KoboshiError(f"{self.entry.agent} is not looked after: {why}")
        return self.supervisor

    @contextlib.asynccontextmanager
    async def events(self) -> AsyncIterator[asyncio.Queue[tuple[Event, World]]]:
        """What happens to it from now on."""
        queue: asyncio.Queue[tuple[Event, World]] = asyncio.Queue(BACKLOG)
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)

    # -- its life ------------------------------------------------------------------------------

    async def _live(self) -> None:
        about(self._facts)
        wait = AGAIN
        while True:
            try:
                await self._watch()
            except (KoboshiError, OSError) as error:
                await self._lost(str(error))
                log.warning("not looked after", extra={"action": "wait", "reason": str(error)})
            except Exception as error:
                # A bug in what one agent's screen made us do must not take the others down.
                await self._lost(f"{type(error).__name__}: {error}")
                log.exception("its supervisor failed", extra={"action": "wait"})
            healthy = self.supervisor is not None
            self.supervisor = None
            wait = AGAIN if healthy else min(AGAIN_MAX, wait * 2.0)
            await asyncio.sleep(wait)

    async def _watch(self) -> None:
        entry = self.entry
        found = await resolved(entry)
        post = Post(
            agent=entry.agent,
            agent_type=entry.agent_type,
            program=Program(argv=entry.argv, cwd=entry.cwd, env=self._environment),
            state=self._state,
            settings=found.settings,
            answers=found.answers,
            pen=self._pen,
            versions=self._versions,
            reach=self._reach,
        )
        await watch_over(
            post, self._host, enough=lambda _: False, begun=self._begun, listen=self._heard
        )

    def _begun(self, supervisor: Supervisor) -> None:
        self.supervisor, self.trouble = supervisor, ""
        self._changed.set()
        self._mind_looks(supervisor)
        supervisor.obeyed = self._news.ruled
        self._changes.beat(self.entry.agent)
        log.info("taken up", extra={"action": "watch"})
        self._tell(supervisor)

    def _mind_looks(self, supervisor: Supervisor) -> None:
        """Whoever shows its terminal is told of every look, after the logs were."""
        logged, agent = supervisor.saw, self.entry.agent

        def saw(told: ScreenRead, utc: float, cols: int) -> None:
            logged(told, utc, cols)
            self._looks.beat(agent)

        supervisor.saw = saw

    def _facts(self) -> dict[str, Any]:
        """What every log line about this agent says of it."""
        if self.supervisor is None:
            return {"agent": self.entry.agent}
        return facts(self.supervisor.world.view, self.supervisor.runtime.now())

    async def _lost(self, why: str) -> None:
        """Nobody looks after it. People hear of that once, until that changes."""
        before, self.trouble = self.trouble, why
        self._changed.set()
        if self._reach is not None and why != before:
            await self._reach.alarm(self.entry.agent, why)
        self._changes.beat(self.entry.agent)

    def _heard(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        self._news.heard(event, decisions, world)
        self._changes.beat(self.entry.agent)
        for queue in self._listeners:
            with contextlib.suppress(asyncio.QueueFull):
                queue.put_nowait((event, world))
