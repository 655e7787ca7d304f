"""A performer at work on a scripted agent: everything it sends is kept, time is virtual."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from koboshi.adapters.registry import adapter
from koboshi.core.events import Context, Outcome
from koboshi.core.view import View
from koboshi.hosts.base import Key, Launch, Text
from koboshi.performers import Hands, Program, perform, settle
from koboshi.scripted.behaviour import Ask, Done, Script, Work
from koboshi.testing import FakeHost, FakeRuntime, ScriptedAgent

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Body
    from koboshi.core.readings import Reading
    from koboshi.hosts.base import Keystroke, Place
    from koboshi.observations import ScreenSeen

T = TypeVar("T")

WORK: Script = (Work(seconds=5.0, say="step"), Done())
ASK: Script = (Ask(command="npm test"), Work(seconds=5.0, say="step"), Done())


class TrickyHost(FakeHost):
    """Lets something happen right after the nth look was taken, before it is delivered."""

    looks = 0
    tricks: dict[int, Callable[[], None]]
    slow_looks: float = 0.0  #: seconds each look takes to arrive

    async def look(self, place: Place) -> ScreenSeen:
        """What the terminal shows."""
        self.looks += 1
        seen = await super().look(place)
        if trick := self.tricks.get(self.looks):
            trick()
        if self.slow_looks:
            await self.runtime.sleep(self.slow_looks)
        return seen


class Bench:
    """One agent, one terminal, one pair of hands."""

    def __init__(self, script: Script = WORK, *, own: bool = True) -> None:
        self.runtime = FakeRuntime()
        runtime = self.runtime
        self.agent = ScriptedAgent(script=script, clock=lambda: (runtime.monotonic, runtime.utc))
        self.host = TrickyHost(self.agent, runtime, own=own)
        self.host.tricks = {}
        self.sent: list[str] = []
        self.ended: list[bool] = []
        self.marks: list[str] = []
        self.told: list[Body] = []
        self.announced: list[str] = []
        self.view = View(context=Context(agent="a"))
        self.host.on_type = self._note
        self.host.on_end = self.ended.append
        self.hands = Hands(
            agent="a",
            adapter=adapter("scripted"),
            host=self.host,
            program=Program(argv=("scripted",), cwd="work"),
            now=runtime.now,
            sleep=runtime.sleep,
            mark=self.marks.append,
            tell=self._tell,
            announce=self.announced.append,
            scale=runtime.scale,
            view=lambda: self.view,
        )
        self.start(1)

    def start(self, run: int) -> None:
        """A run comes up and is at its prompt."""
        argv = ("scripted", "--session", f"s{run}")
        launch = Launch(agent="a", run=run, argv=argv, cwd="work")
        self.hands.place = self.run(self.host.start(launch))
        self.wait(1.0)

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.runtime.run_until(self.runtime.monotonic + seconds)
        self.agent.advance()

    def say(self, text: str) -> None:
        """A person sends a message."""
        self.agent.paste(text)
        self.agent.key("Enter")
        self.agent.advance()

    def ask(self) -> None:
        """The dialog of the script is open."""
        self.say("go")
        assert self.dialog is not None

    @property
    def dialog(self) -> int | None:
        """The number of the open dialog."""
        return self.agent.running.prompt_number if self.agent.running else None

    @property
    def draft(self) -> str:
        """What really stands in the box."""
        return self.agent.running.draft if self.agent.running else ""

    @property
    def status(self) -> str:
        """What the agent really does."""
        return self.agent.running.status if self.agent.running else ""

    def reading(self) -> Reading:
        """What the screen shows now."""
        return self.run(self.hands.look()).reading

    def perform(self, action: Action) -> Outcome:
        """Let a performer do it, to its end."""
        return self.run(perform(action, self.hands))

    def settle(self, action: Action, *, touched: bool = True) -> Outcome:
        """Find out what became of it."""
        return self.run(settle(action, self.hands, touched=touched))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let that run to its end, and time with it."""
        result: list[T] = []

        async def go() -> None:
            result.append(await work)

        self.runtime.spawn(go())
        while not result:
            due = self.runtime.next_due()
            assert due is not None
            self.runtime.run_until(due)
        return result[0]

    def _note(self, strokes: tuple[Keystroke, ...]) -> None:
        for stroke in strokes:
            self.sent.append(stroke.name if isinstance(stroke, Key) else _quoted(stroke))

    def _tell(self, body: Body) -> bool:
        self.told.append(body)
        return True


def _quoted(text: Text) -> str:
    return f"{text.text!r}"
