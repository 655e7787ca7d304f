"""Hooks that wait for an answer in a simulated night: held by a supervisor, lost when it dies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from koboshi.core.events import Advice, HookOver, Stance
from koboshi.daemon.asking import may_answer
from koboshi.observations import HookFired

from .draws import COMMANDS, DENIED

if TYPE_CHECKING:
    from koboshi.daemon.supervisor import Supervisor
    from koboshi.performers.advising import Matter

    from .agents import ScriptedAgent
    from .laws import Laws
    from .outside import Outside
    from .runtime import FakeRuntime

#: Seconds that a line is held in a compressed night.
HOLD = 25.0


async def advise(matter: Matter) -> Advice:
    """The policy of every night: some commands are allowed, one is denied, the rest is asked."""
    given = (matter.payload or {}).get("tool_input")
    command = given.get("command", "") if isinstance(given, dict) else matter.prompt.subject
    if command == DENIED:
        return Advice(stance=Stance.DENY, rule="night", why="it destroys what others have done")
    allowed = command in COMMANDS
    return Advice(stance=Stance.ALLOW if allowed else Stance.ASK, rule="night")


@dataclass(slots=True)
class FakeLine:
    """One hook that waits: about that dialog of that run."""

    payload: dict[str, Any]
    dialog: int
    run: int
    until: float
    lines: Lines

    async def say(self, words: dict[str, Any]) -> bool:
        """The answer reaches the agent, or nobody is there any more."""
        return await self.lines.say(self, words)


@dataclass(slots=True)
class Lines:
    """All hooks of the agent that wait."""

    agent: ScriptedAgent
    runtime: FakeRuntime
    outside: Outside
    laws: Laws
    slow: Callable[[], float] = lambda: 0.0  #: seconds that a word takes on its way
    held: dict[str, FakeLine] = field(default_factory=dict)
    count: int = 0

    def get(self, ticket: str) -> FakeLine | None:
        """The hook that waits under that name."""
        return self.held.get(ticket)

    def ask(self, supervisor: Supervisor, payload: dict[str, Any]) -> None:
        """The agent's hook comes, and waits if anybody may answer."""
        running = self.agent.running
        number = running.prompt_number if running is not None else None
        if number is None or not may_answer(supervisor.world.view):
            supervisor.observe(HookFired(payload=payload))
            return
        self.count += 1
        ticket, run = f"ticket{self.count}", supervisor.world.view.run.number
        until = self.runtime.monotonic + HOLD
        self.held[ticket] = FakeLine(payload, number, run, until, self)
        self.laws.hooked = {line.dialog for line in self.held.values()}
        supervisor.observe(HookFired(payload=payload, ticket=ticket))
        if not any(question.ticket == ticket for question in supervisor.world.view.held):
            self.drop(ticket)

    def pass_time(self, supervisor: Supervisor | None) -> None:
        """Lines that nobody answered are over; so are those that nobody waits at."""
        for ticket, line in list(self.held.items()):
            over = self.runtime.monotonic > line.until
            waits = supervisor is not None and any(
                question.ticket == ticket for question in supervisor.world.view.held
            )
            if over or not waits:
                self.drop(ticket)
                if supervisor is not None and waits:
                    supervisor.take(HookOver(ticket=ticket, why="not answered in time"))

    def drop(self, ticket: str) -> None:
        """Nobody waits there any more."""
        self.held.pop(ticket, None)
        self.laws.hooked = {line.dialog for line in self.held.values()}

    def fall(self) -> None:
        """Whoever held them is dead."""
        self.held.clear()
        self.laws.hooked = set()

    async def say(self, line: FakeLine, words: dict[str, Any]) -> bool:
        """The supervisor may die before the word leaves it, and before it knows that it arrived."""
        self.outside.before()
        if seconds := self.slow():
            await self.runtime.sleep(seconds)
        if line not in self.held.values():
            return False
        decision = words["hookSpecificOutput"]["decision"]
        meaning = "once" if decision["behavior"] == "allow" else "no"
        running = self.agent.running
        if running is not None and running.prompt_number == line.dialog:
            self.laws.deciding(line.dialog, line.payload["tool_input"]["command"], meaning)
            self.agent.decide(line.dialog, meaning)
        self.outside.after()
        return True
