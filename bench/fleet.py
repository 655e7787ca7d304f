"""A fleet in a real tmux: many agents, a supervisor each, and what all of it costs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from koboshi.adapters.claude import ClaudeAdapter
from koboshi.core.engine import World
from koboshi.core.events import Context, Order, OrderGiven
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.daemon.eyes import watch
from koboshi.daemon.recover import reopen, take_over
from koboshi.daemon.runtime import AsyncioRuntime, spare_the_collector
from koboshi.daemon.scribe.pen import Pen
from koboshi.daemon.scribe.scribe import Scribe, papers
from koboshi.daemon.supervisor import Supervisor
from koboshi.hosts import panes
from koboshi.hosts.tmux import TmuxHost
from koboshi.performers import Program
from koboshi.rules import BUILTIN
from koboshi.store.paths import journal_dir
from koboshi.store.shelves import DiskShelf

from . import cpu, feeder
from .figures import NotMeasured

if TYPE_CHECKING:
    from koboshi.core.engine import Decision
    from koboshi.core.events import Event
    from koboshi.store.journal import Journal

    Meanwhile = Callable[[float], Awaitable[object]]
    Listen = Callable[[Event, tuple[Decision, ...], World], None]

#: An agent that does nothing by itself; what an adapter adds to its words is not looked at.
#: Its name is the real one's: another program in front of the terminal is looked at closer.
SLEEPER = ("bash", "-c", "exec -a claude sleep 1000000")
_FEEDER = Path(feeder.__file__)


class Reader(ClaudeAdapter):
    """Reads Claude Code's screens; the program that shows them takes no options."""

    def argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:  # noqa: ARG002
        """The program alone."""
        return program


@dataclass(slots=True, kw_only=True)
class Fleet:
    """Supervised agents on a server of their own."""

    host: TmuxHost
    server: psutil.Process
    socket: str
    supervisors: list[Supervisor] = field(default_factory=list)
    pen: Pen | None = None
    _eyes: list[asyncio.Task[None]] = field(default_factory=list)

    async def recruit(self, name: str, state: Path, listen: Listen | None = None) -> Supervisor:
        """Start an agent and a supervisor that looks after it."""
        runtime = AsyncioRuntime()
        view = View(context=Context(agent=name, agent_type="claude"), settings=Settings())

        def assemble(world: World, journal: Journal) -> Supervisor:
            return Supervisor(
                world=world,
                journal=journal,
                adapter=Reader(),
                host=self.host,
                program=Program(argv=SLEEPER, cwd=str(state)),
                runtime=runtime,
                announce=lambda _: None,
                listen=scribe.before(listen),
            )

        folder = journal_dir(state, name)
        shelf, scribe = DiskShelf(folder), self._scribe(name, folder.parent, state)
        supervisor, recovered = reopen(shelf, World(view=view, rules=BUILTIN), runtime, assemble)
        scribe.attend(supervisor)
        await take_over(supervisor, recovered)
        supervisor.take(OrderGiven(order=Order.START, by="bench"))
        self._eyes.append(asyncio.create_task(watch(supervisor, enough=lambda _: False)))
        self.supervisors.append(supervisor)
        for _ in range(3000):
            if supervisor.place is not None:
                return supervisor
            await asyncio.sleep(0.01)
        raise NotMeasured("an agent did not start")

    def _scribe(self, name: str, folder: Path, state: Path) -> Scribe:
        """Its logs are written, as the daemon does it."""
        self.pen = self.pen or Pen()
        monitor, output = papers(name, "claude", Settings(), state=state, cwd=str(state))
        return Scribe(self.pen, folder, monitor=monitor, output=output)

    async def dismiss(self) -> None:
        """No more eyes on them; the agents go on."""
        eyes, self._eyes = self._eyes, []
        for task in eyes:
            task.cancel()
        await asyncio.gather(*eyes, return_exceptions=True)
        pen, self.pen = self.pen, None
        if pen is not None:
            await pen.close()
        await self.host.close()

    async def ttys(self) -> list[str]:
        """The terminals of the agents, in their order."""
        said = await tmux(self.socket, "list-panes", "-a", "-F", "#{@koboshi_agent} #{pane_tty}")
        known = dict(line.rsplit(" ", 1) for line in said.splitlines())
        return [known[s.world.view.context.agent] for s in self.supervisors]

    async def draw(self, text: str) -> None:
        """The same on every terminal."""
        for tty in await self.ttys():
            await asyncio.to_thread(Path(tty).write_text, text, encoding="utf-8")

    def workers(self) -> list[psutil.Process]:
        """Tmux, its clients, and all that works for it; the agents themselves do not."""
        clients = [c for c in psutil.Process().children() if c.name().startswith("tmux")]
        helpers = [p for p in self.server.children(recursive=True) if _works_for_us(p)]
        return [self.server, *clients, *helpers]


async def percent_of_a_core(crew: Fleet, seconds: float, meanwhile: Meanwhile) -> float:
    """What we and the workers use while that goes on."""
    us = psutil.Process()
    known = {worker: _used(worker) for worker in crew.workers()}
    ours, begun = _used(us), time.monotonic()  # last: to ask the others took time of ours
    await meanwhile(seconds)
    taken, ours = time.monotonic() - begun, _used(us) - ours
    used = (_used(worker) - known.get(worker, 0.0) for worker in crew.workers())
    # One that ended just now counts with its parent, not as less than nothing.
    return 100 * (ours + sum(max(each, 0.0) for each in used)) / taken


def _works_for_us(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.name() != "sleep"
    return False


def _used(process: psutil.Process) -> float:
    """Its own time and that of the children it has seen the end of."""
    with contextlib.suppress(psutil.Error):
        return cpu.own(process) + cpu.of_ended_children(process)
    return 0.0


@asynccontextmanager
async def fleet() -> AsyncIterator[tuple[Fleet, Path]]:
    """A server of our own, gone afterwards with everything in it."""
    if shutil.which("tmux") is None:
        raise NotMeasured("tmux is not installed")
    with tempfile.TemporaryDirectory(prefix="koboshi-bench-") as folder:
        socket = f"{folder}/s-{secrets.token_hex(2)}"
        host = TmuxHost(socket, state_dir=Path(folder) / "host")
        await host.find("nobody")  # starts the server
        said = await tmux(socket, "display-message", "-p", panes.SERVER_FORMAT)
        server = psutil.Process(int(said.split(panes.SEPARATOR)[0]))
        crew = Fleet(host=host, server=server, socket=socket)
        before = gc.get_threshold()
        spare_the_collector()  # as the daemon does
        try:
            yield crew, Path(folder)
        finally:
            gc.set_threshold(*before)
            gc.unfreeze()
            await crew.dismiss()
            await TmuxHost(socket, state_dir=Path(folder) / "host").shutdown()


async def tmux(socket: str, *words: str) -> str:
    """What a tmux process says."""
    process = await asyncio.create_subprocess_exec(
        "tmux", "-u", "-S", socket, *words, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return said.decode()


@asynccontextmanager
async def fed(*words: object) -> AsyncIterator[asyncio.subprocess.Process]:
    """The feeder at work; ended when it is not wanted any more."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", str(_FEEDER), *map(str, words), stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
