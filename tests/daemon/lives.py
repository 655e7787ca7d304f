"""A supervisor over a fake terminal and a fake disk: the real one, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.registry import adapter
from koboshi.core.actions import Mode
from koboshi.core.engine import World
from koboshi.core.events import ActionFinished, Context, Event, Order, OrderGiven
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.daemon.recover import reopen, take_over
from koboshi.daemon.supervisor import Supervisor
from koboshi.hosts.base import Key, Text
from koboshi.performers import Program
from koboshi.rules import BUILTIN
from koboshi.scripted.behaviour import Script
from koboshi.store import wire
from koboshi.store.journal import Journal, read
from koboshi.testing import FakeHost, FakeRuntime, MemoryShelf, ScriptedAgent

if TYPE_CHECKING:
    from koboshi.core.engine import Decision
    from koboshi.daemon.supervisor import Listen
    from koboshi.hosts.base import Keystroke

SETTINGS = Settings(mode=Mode.AUTO, allow=("npm test",), idle_after=20.0, send_cooldown=5.0)
LOOK_EVERY = 1.0


class Life:
    """One agent and the supervisors that look after it, one after the other."""

    def __init__(
        self, script: Script, *, settings: Settings = SETTINGS, shelf: MemoryShelf | None = None
    ) -> None:
        self.runtime = FakeRuntime()
        runtime = self.runtime
        self.agent = ScriptedAgent(script=script, clock=lambda: (runtime.monotonic, runtime.utc))
        self.host = FakeHost(self.agent, runtime)
        self.host.on_type = self._note
        self.shelf = shelf or MemoryShelf()
        self.settings = settings
        self.sent: list[str] = []
        self.announced: list[str] = []
        self.heard: list[Event] = []
        self.on_heard: Listen = lambda *_: None
        self.supervisor: Supervisor | None = None

    def rise(self) -> Supervisor:
        """A supervisor takes the agent on; the first one is told to start it."""
        context = Context(agent="sim", agent_type="scripted", worktree="work")
        blank = World(view=View(context=context, settings=self.settings), rules=BUILTIN)
        supervisor, recovered = reopen(self.shelf, blank, self.runtime, self._assemble)
        self.supervisor = supervisor

        async def live() -> None:
            await take_over(supervisor, recovered)
            if supervisor.world.view.run.number == 0:
                supervisor.take(OrderGiven(order=Order.START, by="person"))

        self.runtime.spawn(live())
        self.runtime.run_until(self.runtime.monotonic)
        return supervisor

    def fall(self) -> None:
        """The supervisor is killed; the agent lives on."""
        self.supervisor = None
        self.runtime.kill()

    def live(self, seconds: float) -> None:
        """Time passes; the supervisor looks and ticks."""
        end = self.runtime.monotonic + seconds
        while self.runtime.monotonic < end:
            self.runtime.run_until(min(end, self.runtime.monotonic + LOOK_EVERY))
            self.agent.advance()
            if self.supervisor is not None:
                self.runtime.spawn(self.supervisor.look())
                self.runtime.run_until(self.runtime.monotonic)
                self.supervisor.tick()

    def _assemble(self, world: World, journal: Journal) -> Supervisor:
        return Supervisor(
            world=world,
            journal=journal,
            adapter=adapter("scripted"),
            host=self.host,
            program=Program(argv=("scripted",), cwd="work"),
            runtime=self.runtime,
            announce=self.announced.append,
            listen=self._listen,
        )

    def _listen(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        assert world.seq == event.seq
        assert all(d.cause == event.seq for d in decisions)
        self.heard.append(event)
        self.on_heard(event, decisions, world)

    def _note(self, strokes: tuple[Keystroke, ...]) -> None:
        self.sent += [s.text if isinstance(s, Text) else s.name for s in strokes]
        assert all(isinstance(s, Key | Text) for s in strokes)

    @property
    def world(self) -> World:
        """What the supervisor knows."""
        assert self.supervisor is not None
        return self.supervisor.world

    def outcomes(self) -> list[tuple[str, str, str]]:
        """Key, ending and reason of everything that came out, from the journal."""
        bodies = [
            line.record.event.body
            for line in read(self.shelf)
            if isinstance(line.record, wire.Seen)
        ]
        return [
            (body.key, body.outcome.ending.value, body.outcome.why)
            for body in bodies
            if isinstance(body, ActionFinished)
        ]
