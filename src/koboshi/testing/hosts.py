"""FakeHost: terminals in memory, with the faults that real ones have and the truth they hide."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import keys
from koboshi.hosts.base import Key, Place, Text
from koboshi.hosts.panes import check
from koboshi.observations import ScreenSeen

from .outside import Outside

if TYPE_CHECKING:
    from koboshi.hosts.base import Keystroke, Launch

    from .agents import ScriptedAgent
    from .runtime import FakeRuntime

SIGTERM, SIGKILL = 15, 9
SCRIPTED = "scripted"  #: the only program that is installed here
_COLS, _ROWS = 100, 30
STIR = 0.05  #: seconds in which a change is noticed


@dataclass(slots=True)
class Terminal:
    """A terminal: one run in it, or a shell that the user had before."""

    place: Place
    line: str = ""  #: what stands on the shell's line


@dataclass(slots=True, kw_only=True)
class Faults:
    """How unreliable the terminals are; all zero is a perfect world."""

    slow: float = 0.0  #: chance that a verb takes up to `slow_seconds`
    slow_seconds: float = 1.0
    torn: float = 0.0  #: chance that a look mixes two frames
    stale: float = 0.0  #: chance that a look shows the frame before
    veiled_until: float = -1.0  #: a pager or a picker hides the agent until then


class FakeHost:
    """Implements `hosts.base.Host` for one `ScriptedAgent`.

    `on_type` and `on_end` are told what is about to reach the agent: laws are checked there;
    `on_typed` is told what has: whoever types may be killed in between.
    """

    name = "fake"

    def __init__(
        self,
        agent: ScriptedAgent,
        runtime: FakeRuntime,
        *,
        random: Random | None = None,
        outside: Outside | None = None,
        faults: Faults | None = None,
        own: bool = True,
    ) -> None:
        self.agent = agent
        self.runtime = runtime
        self.own = own
        self.faults = faults or Faults()
        self.starts: list[float] = []
        self.veiled_since = 0.0
        self.person_at = float("-inf")
        self.on_type: Callable[[tuple[Keystroke, ...]], None] = lambda _: None
        self.on_typed: Callable[[tuple[Keystroke, ...]], None] = lambda _: None
        self.on_end: Callable[[bool], None] = lambda _: None
        self._random = random or Random(0)
        self._outside = outside or Outside()
        self._terminals: list[Terminal] = []
        self._opened = 0
        self._frames: tuple[str, str] = ("", "")
        self._told: dict[str, tuple[object, ...]] = {}

    # -- the verbs ------------------------------------------------------------------------------

    async def start(self, launch: Launch) -> Place:
        """Start the scripted agent in a new terminal."""
        check(launch)
        await self._reach()
        agent, run = launch.agent, launch.run
        if any((t.place.agent, t.place.run) == (agent, run) for t in self._terminals):
            raise HostError(f"run {run} of {agent!r} already has a terminal")
        if launch.argv[0] != SCRIPTED:
            raise HostError(f"No such file or directory: {launch.argv[0]!r}")
        self._launch(launch.argv)
        self._opened += 1
        place = Place(id=f"%{self._opened}", agent=agent, run=run, pid=run, own=self.own)
        self._terminals.append(Terminal(place=place))
        self._outside.after()
        return place

    async def find(self, agent: str) -> tuple[Place, ...]:
        """All terminals of that agent, oldest run first."""
        await self._reach()
        mine = (t.place for t in self._terminals if t.place.agent == agent)
        return tuple(sorted(mine, key=lambda place: place.run))

    async def look(self, place: Place) -> ScreenSeen:
        """What the terminal shows at the moment of the look; a slow host delivers it later."""
        seen = self.seen(place)
        await self._reach()
        self._outside.after()
        return seen

    async def stirred(self, place: Place, patience: float) -> bool:
        """Wait, in virtual time, until the terminal shows something else."""
        until = self.runtime.monotonic + patience
        while True:
            seen = self.seen(place)
            shown = (seen.text, seen.title, seen.command, seen.alive)
            if self._told.get(place.id) != shown:
                self._told[place.id] = shown
                return True
            rest = until - self.runtime.monotonic
            if rest <= 0:
                return False
            pause: Awaitable[None] = self.runtime.sleep(min(rest, STIR))
            await pause

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:
        """Keys go to whatever is in the foreground."""
        for stroke in strokes:
            _ = keys.encode(stroke.name) if isinstance(stroke, Key) else keys.paste(stroke.text)
        self.on_type(strokes)  # the laws hold at the moment the keys leave the supervisor
        await self._reach()
        terminal = self._terminal(place)
        if self.own and not self._lives(terminal):
            raise HostError(f"run {place.run} of {place.agent!r} has ended, nothing can be typed")
        for stroke in strokes:
            self._press(terminal, stroke)
        self.on_typed(strokes)
        self._outside.after()

    async def end(self, place: Place, *, force: bool) -> None:
        """A signal."""
        self.on_end(force)
        await self._reach()
        if self._lives(self._terminal(place)):
            self.agent.end(SIGKILL if force else SIGTERM)
        else:
            self.agent.left = ()
        self._outside.after()

    async def forget(self, place: Place) -> None:
        """Remove an ended terminal."""
        await self._reach()
        terminal = self._terminal(place)
        if self.own and self._lives(terminal):
            raise HostError(f"run {place.run} of {place.agent!r} still runs", hint="end it first")
        self._terminals.remove(terminal)
        self._outside.after()

    async def close(self) -> None:
        """Nothing to let go of."""

    # -- what is there --------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether the agent's process runs."""
        return self.agent.running is not None and self.agent.running.exit is None

    @property
    def shell_line(self) -> str:
        """What stands on the shell's line."""
        return self._terminals[-1].line if self._terminals else ""

    def veil(self, seconds: float) -> None:
        """Something the adapter does not know covers the agent for a while."""
        self.veiled_since = self.runtime.monotonic
        self.faults.veiled_until = self.veiled_since + seconds

    def seen(self, place: Place, *, unreliable: bool = False) -> ScreenSeen:
        """The terminal of that run now; `unreliable` adds torn and stale frames."""
        terminal = self._terminal(place)
        self.agent.advance()
        running = self.agent.running
        newest = terminal is self._terminals[-1]
        if running is None or not newest:
            return self._shown("", alive=False, command="")
        exit_ = running.exit
        if exit_ is not None and self.own:
            ended = self._shown(running.screen(), alive=False, command="")
            return replace(ended, code=exit_.code, signal=exit_.signal)
        if exit_ is not None:
            text = f"{running.screen()}\nKilled\nme@host:~/work$ {terminal.line}"
            return self._shown(text, alive=True, command="bash")
        if self.runtime.monotonic < self.faults.veiled_until:
            return self._shown("-- INSERT --\n~\n~\n[No Name]", alive=True, command="python3")
        frame = self._frame(running.screen(), unreliable=unreliable)
        return self._shown(frame, alive=True, command="python3", title=running.title)

    def person(self, text: str) -> None:
        """A person types: into the agent's box, or on the shell's line."""
        self.person_at = self.runtime.monotonic
        if self.alive:
            self.agent.person_draft = text
            self.agent.key("C-u")
            self.agent.paste(text)
        elif not self.own and self._terminals:
            self.agent.person_draft = self._terminals[-1].line = text

    def clear_line(self) -> None:
        """A person takes back what stands on the shell's line."""
        if self._terminals:
            self._terminals[-1].line = ""

    def _frame(self, frame: str, *, unreliable: bool) -> str:
        if frame != self._frames[1]:
            self._frames = (self._frames[1], frame)
        if not unreliable:
            return frame
        dice = self._random.random()
        if dice < self.faults.stale:
            return self._frames[0] or frame
        if dice < self.faults.stale + self.faults.torn:
            old, new = self._frames[0].split("\n"), frame.split("\n")
            cut = self._random.randint(0, len(new))
            return "\n".join(old[:cut] + new[cut:])
        return frame

    def _shown(self, text: str, *, alive: bool, command: str, title: str = "") -> ScreenSeen:
        runtime = self.runtime
        return ScreenSeen(
            text=text,
            at=runtime.monotonic,
            utc=runtime.utc,
            title=title,
            command=command,
            cols=_COLS,
            rows=_ROWS,
            alive=alive,
        )

    # -- inside ---------------------------------------------------------------------------------

    def _launch(self, argv: tuple[str, ...]) -> None:
        self.agent.start(argv)
        self.starts.append(self.runtime.monotonic)

    def _press(self, terminal: Terminal, stroke: Keystroke) -> None:
        if self.alive:
            if isinstance(stroke, Text):
                self.agent.paste(stroke.text)
            else:
                self.agent.key(stroke.name)
        elif not self.own:
            self._shell(terminal, stroke)

    def _shell(self, terminal: Terminal, stroke: Keystroke) -> None:
        if isinstance(stroke, Text):
            terminal.line += stroke.text
        elif stroke.name == "Enter":
            line, terminal.line = terminal.line, ""
            self.agent.person_draft = ""
            words = shlex.split(line)
            if words[:1] == [SCRIPTED]:
                self._launch(tuple(words))
        elif len(stroke.name) == 1:
            terminal.line += stroke.name

    def _terminal(self, place: Place) -> Terminal:
        for terminal in self._terminals:
            if (terminal.place.id, terminal.place.agent) == (place.id, place.agent):
                return terminal
        raise PlaceGone(f"terminal {place.id} of {place.agent!r} is gone")

    def _lives(self, terminal: Terminal) -> bool:
        """Whether the agent runs, and there: it lives in the newest terminal."""
        return self.alive and terminal is self._terminals[-1]

    async def _reach(self) -> None:
        self._outside.before()
        if self._random.random() < self.faults.slow:
            pause: Awaitable[None] = self.runtime.sleep(
                self._random.random() * self.faults.slow_seconds
            )
            await pause
