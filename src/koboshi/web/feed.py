"""Feed: one question to the daemon at a time, however many people look on.

`board` follows all agents; a terminal is followed while somebody looks at it; of long lists only a
number is told, and who shows one asks for it anew. Viewers are woken and look up what is new for
them (see topics).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TYPE_CHECKING, Any

from koboshi.errors import KoboshiError

from .screens import rows_of
from .topics import Topic, sse

if TYPE_CHECKING:
    from koboshi.daemon.control.visitor import Asked

#: Seconds that a question waits for news, and how much longer until it counts as unanswered.
WAITS, PATIENCE = 20.0, 10.0
#: Seconds before a daemon that did not answer is asked again; a terminal that could not be seen.
AGAIN, AGAIN_SCREEN = 0.5, 2.0
#: Seconds between two looks at one terminal.
PACE = 0.2
#: Seconds after which a viewer who was told nothing is told that we are still there.
BEAT = 10.0
#: Viewers at a time.
VIEWERS = 300


class TooMany(KoboshiError):
    """More people look on at once than we can tell."""


class Terminal:
    """One agent's terminal, and how many look at it."""

    def __init__(self) -> None:
        self.topic = Topic("screen")
        self.viewers = 0
        self.task: asyncio.Task[None] | None = None


class Feed:
    """What is known, kept up to date."""

    def __init__(self, daemon: Asked) -> None:
        self.board, self.link = Topic("board"), Topic("link")
        self.plans, self.news = Topic("plans"), Topic("news")
        self._daemon = daemon
        self._terminals: dict[str, Terminal] = {}
        self._viewers: set[asyncio.Event] = set()
        self._over = False
        self.link.put("daemon", {"up": False, "utc": time.time()})

    @property
    def viewers(self) -> int:
        """How many look on."""
        return len(self._viewers)

    # -- keeping up ----------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow all agents and plans, for ever."""
        await asyncio.gather(self._follow_agents(), self._follow_plans())

    async def _follow_plans(self) -> None:
        epoch, after = "", 0
        while True:
            try:
                args = {"epoch": epoch, "after": after, "wait": WAITS}
                told = await self._daemon.ask("plan-follow", patience=WAITS + PATIENCE, **args)
            except KoboshiError:  # away, which `link` tells, or too old for plans
                epoch = ""
                await asyncio.sleep(AGAIN_SCREEN)
                continue
            epoch, after = told["epoch"], told["count"]
            news = [self.plans.put(each["id"], each) for each in told["plans"]]
            news += [self.plans.drop(name) for name in told["gone"]]
            if told["full"]:
                news.append(self.plans.keep({each["id"] for each in told["plans"]}))
            if any(news):
                self._wake()

    async def _follow_agents(self) -> None:
        epoch, after = "", 0
        while True:
            try:
                args = {"epoch": epoch, "after": after, "wait": WAITS}
                told = await self._daemon.ask("follow", patience=WAITS + PATIENCE, **args)
            except KoboshiError as error:
                self._linked(up=False, why=str(error))
                epoch = ""
                await asyncio.sleep(AGAIN)
                continue
            epoch, after = told["epoch"], told["count"]
            self._linked(up=True)
            self._take(told)

    def _take(self, told: dict[str, Any]) -> None:
        news = [self.board.put(each["agent"], each) for each in told["agents"]]
        news += [self.board.drop(name) for name in told["gone"]]
        if told["full"]:
            news.append(self.board.keep({each["agent"] for each in told["agents"]}))
        # With its epoch: another daemon's number may be the same by chance.
        numbers = told.get("news", {}).items()  # an older daemon tells none
        news += [self.news.put(name, f"{told['epoch']}.{number}") for name, number in numbers]
        if any(news):
            self._wake()

    def _linked(self, *, up: bool, why: str = "") -> None:
        [known] = self.link.values()
        if known["up"] is not up:
            self.link.put("daemon", {"up": up, "utc": time.time(), "why": why})
            self._wake()

    async def _watch(self, name: str, topic: Topic) -> None:
        epoch, after = "", 0
        while True:
            try:
                args = {"name": name, "epoch": epoch, "after": after, "wait": WAITS}
                told = await self._daemon.ask("picture", patience=WAITS + PATIENCE, **args)
            except KoboshiError as error:
                epoch = ""
                if topic.put("state", {"error": str(error)}):
                    self._wake()
                await asyncio.sleep(AGAIN_SCREEN)
                continue
            epoch, after = told["epoch"], told["count"]
            if told["screen"] is not None and show(topic, told["screen"]):
                self._wake()
            await asyncio.sleep(PACE)

    def end(self) -> None:
        """Tell nobody anything any more: the server leaves."""
        self._over = True
        self._wake()

    def _wake(self) -> None:
        for event in self._viewers:
            event.set()

    # -- viewers -------------------------------------------------------------------------------

    async def frames(self, agent: str, good: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
        """What one viewer is told, for as long as their key is good."""
        with self._viewing(agent) as (event, topics):
            told = dict.fromkeys(topics, 0)
            yield b"retry: 1000\n\n"
            while good() and not self._over:
                news = [topic for topic, version in told.items() if topic.version > version]
                if news:
                    frame = b"".join(topic.since(told[topic]) for topic in news)
                    # Before it is handed over: whoever takes long misses what changes meanwhile.
                    told.update({topic: topic.version for topic in news})
                    yield frame
                else:
                    yield sse("beat", {"utc": time.time()})
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(BEAT):
                        await event.wait()
                event.clear()

    @contextlib.contextmanager
    def _viewing(self, agent: str) -> Iterator[tuple[asyncio.Event, list[Topic]]]:
        if len(self._viewers) >= VIEWERS:
            raise TooMany(f"{VIEWERS} people look on already", hint="close another page")
        event, topics = asyncio.Event(), [self.link, self.board, self.plans, self.news]
        self._viewers.add(event)
        try:
            if agent:
                topics.append(self._opened(agent))
            yield event, topics
        finally:
            self._viewers.discard(event)
            if agent:
                self._closed(agent)

    def _opened(self, agent: str) -> Topic:
        terminal = self._terminals.setdefault(agent, Terminal())
        terminal.viewers += 1
        if terminal.task is None:
            watching = self._watch(agent, terminal.topic)
            terminal.task = asyncio.get_running_loop().create_task(watching)
        return terminal.topic

    def _closed(self, agent: str) -> None:
        terminal = self._terminals[agent]
        terminal.viewers -= 1
        if terminal.viewers == 0:
            del self._terminals[agent]
            if terminal.task is not None:
                terminal.task.cancel()


def show(topic: Topic, screen: dict[str, Any]) -> bool:
    """Put a screen into its topic, row by row; whether that is news."""
    rows = rows_of(screen["ansi"] or screen["text"])
    state = {key: screen[key] for key in ("cols", "rows", "cursor", "title", "alive")}
    news = [topic.put("state", state)]
    news += [topic.put(f"{n}", row) for n, row in enumerate(rows)]
    news.append(topic.keep({"state", *map(str, range(len(rows)))}))
    return any(news)
