"""ScriptedAgent: the bundled scripted agent over all its runs, in virtual time, with its truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from koboshi.adapters.scripted import ScriptedAdapter
from koboshi.adapters.story import Story
from koboshi.rules.probes import WORDS
from koboshi.scripted.behaviour import Behaviour, Script

if TYPE_CHECKING:
    from koboshi.core.readings import Reading
    from koboshi.observations import ScreenSeen

#: Screens kept by `QuickAdapter`; a night has about 60.
_KEPT_SCREENS = 1024


#: What a CLI says of a session that it does not find.
LOST = "No conversation found with session ID"


class QuickAdapter(ScriptedAdapter):
    """The scripted adapter, which reads a screen once: a night looks at each one ten times.

    Its agent also writes down its calls, and says so when it does not find a session. One that
    `hides` shows nothing of its context.
    """

    def __init__(self, *, hides: bool = False) -> None:
        super().__init__()
        self._hides = hides
        self._read: dict[tuple[object, ...], Reading] = {}

    def read(self, seen: ScreenSeen) -> Reading:
        """What that screen shows."""
        key = (seen.text, seen.command, seen.alive, seen.cursor)
        reading = self._read.get(key)
        if reading is not None:
            return reading
        reading = super().read(seen)
        if self._hides:
            reading = replace(reading, context=None)
        if reading.limit is None:  # when a limit resets depends on the time of the look, too
            if len(self._read) >= _KEPT_SCREENS:
                self._read.clear()
            self._read[key] = reading
        return reading

    def story(self, lines: Iterable[bytes]) -> Story:
        """The calls that are open."""
        return Story(calls=tuple(line.decode() for line in lines))

    def lost_session(self, seen: ScreenSeen) -> bool:
        """Whether it said so."""
        return LOST in seen.text


class NotedAdapter(QuickAdapter):
    """The same, when a note that koboshi wrote is told to its agent in words."""

    hands_over: ClassVar[bool] = True

    def story(self, lines: Iterable[bytes]) -> Story:
        """Something that a note can be made of."""
        return replace(super().story(lines), reply="Some of it is done.")


@dataclass(slots=True)
class Memory:
    """What a CLI session remembers on disk."""

    progress: int = 0
    context: float = 3.0
    open: dict[str, str] = field(default_factory=dict)  #: calls without a result: id → what


@dataclass(slots=True)
class ScriptedAgent:
    """One agent: its script, its sessions and notes, and the process that runs now, if any."""

    script: Script
    clock: Callable[[], tuple[float, float]]  #: (monotonic, utc)
    sessions: dict[str, Memory] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    running: Behaviour | None = None
    hooks: list[dict[str, object]] = field(default_factory=list)
    trail: list[tuple[float, str, int | None]] = field(default_factory=list)
    person_draft: str = ""  #: what a person has begun to type and not sent
    calls: list[str] = field(default_factory=list)  #: what its tools were asked to run
    wells: int = 0  #: turns that ended well, but for those that only saved
    answered: int = 0  #: turns that ended well
    prompt: str = ""  #: what began its turn
    limited_until: float | None = None  #: the account's, so it outlives a run
    outage: tuple[float, str] | None = None  #: the API's, so it does, too
    lost: set[str] = field(default_factory=set)  #: sessions that are not found any more
    probed: int = 0  #: times it was asked for its context
    handed_over: int = 0  #: times it was told a note in words
    refused: list[str] = field(default_factory=list)  #: those that were asked for all the same
    held_until: float = -1.0  #: another process has its session open until then
    doubled: bool = False  #: it was gone on with meanwhile
    left: tuple[str, ...] = ()  #: tools that outlived a crash
    beside: tuple[str, ...] = ()  #: those that ran on when the next run began
    dropped: tuple[str, ...] = ()  #: calls that were open when the run before this one ended

    def start(self, argv: tuple[str, ...]) -> Behaviour:
        """Start a process as its command line says."""
        now, utc = self.clock()
        resumed = "--resume" in argv
        session = argv[argv.index("--resume" if resumed else "--session") + 1]
        memory = self.sessions.get(session) if resumed else None
        resumed = memory is not None
        self.dropped = tuple(memory.open.values()) if memory is not None else ()
        memory = self.sessions.setdefault(session, memory or Memory())
        self.running = Behaviour(
            self.script,
            session=session,
            progress=memory.progress,
            context=memory.context,
            resumed=resumed,
            now=now,
            utc=utc,
            notes=self.notes,
            limited_until=self.limited_until,
            outage=self.outage,
        )
        self.beside = self.left
        self.doubled = self.doubled or (resumed and now < self.held_until)
        if session in self.lost:
            self.refused.append(session)
            self.running.refuse(f"{LOST}: {session}")
        self._note()
        return self.running

    def lose(self) -> None:
        """The session of a run that is over is not there any more."""
        if self.running is not None:
            self.lost.add(self.running.session)
            self.sessions[self.running.session] = Memory()

    async def users(self, session: str) -> tuple[str, ...]:
        """Who else has that session open."""
        return (f"scripted {session}",) if self.clock()[0] < self.held_until else ()

    async def outlived(self, _run: int) -> tuple[str, ...]:
        """What still runs of those before that run."""
        return self.left

    def transcript(self) -> tuple[bytes, ...]:
        """What a CLI would have written down of the calls that are open; a resumed one drops it."""
        memory = self.sessions.get(self.running.session) if self.running is not None else None
        return tuple(call.encode() for call in memory.open.values()) if memory else ()

    def advance(self) -> None:
        """Let time pass for it."""
        if self.running is None or self.running.exit is not None:
            return
        self.running.advance(*self.clock())
        self._note()

    def key(self, name: str) -> None:
        """A key arrives."""
        if self.running is not None:
            self.running.key(name, *self.clock())
            self._note()

    def paste(self, text: str) -> None:
        """Text arrives."""
        if self.running is not None:
            self.running.paste(text, *self.clock())
            self._note()

    def decide(self, number: int, meaning: str) -> bool:
        """A hook has decided about that dialog; whether it was still open."""
        if self.running is None:
            return False
        decided = self.running.decide(number, meaning, *self.clock())
        self._note()
        return decided

    def mutter(self, text: str) -> None:
        """A background task of it prints a line."""
        if self.running is not None:
            self.running.mutter(text, *self.clock())
            self._note()

    def end(self, signal: int) -> None:
        """A signal ends it."""
        if self.running is not None:
            self.running.kill(signal, *self.clock())
            self._note()

    def was(self, within: float) -> list[tuple[str, int | None]]:
        """The states it has been in during the last seconds, the present one last."""
        since = self.clock()[0] - within
        states: list[tuple[str, int | None]] = []
        for at, status, prompt in reversed(self.trail):
            states.append((status, prompt))
            if at < since:
                break
        return states[::-1]

    def _heed(self, payload: dict[str, Any]) -> None:
        """Count what the laws need to know."""
        event, calls = payload["hook_event_name"], self.sessions[payload["session_id"]].open
        if event == "PreToolUse":
            self.calls.append(payload["tool_input"]["command"])
            calls[payload["tool_use_id"]] = payload["tool_input"]["command"]
        elif event == "PostToolUse":
            calls.pop(payload["tool_use_id"], None)
        elif event == "UserPromptSubmit":
            self.prompt = payload["prompt"]
            self.probed += WORDS in self.prompt
            self.handed_over += "hand-over note follows" in self.prompt
            calls.clear()  # what has no result by now is dropped
            self.dropped = ()
        elif event == "Stop":
            self.answered += 1
            self.wells += not self.prompt.startswith("/save")

    def _note(self) -> None:
        """Remember what a disk and an observer of the truth would."""
        agent = self.running
        if agent is None:
            return
        memory = self.sessions[agent.session]
        memory.progress, memory.context = agent.progress, agent.context
        self.limited_until, self.outage = agent.limited_until, agent.outage
        if agent.hooks:
            for payload in agent.hooks:
                self._heed(payload)
            self.hooks.extend(agent.hooks)
            agent.hooks.clear()
        if agent.dialog is None and agent.answers[-1:] and agent.answers[-1][1] == "no":
            memory.open.clear()  # a refusal is the result of its call, and no hook tells of it
        state = (agent.status, agent.prompt_number)
        if not self.trail or self.trail[-1][1:] != state:
            self.trail.append((self.clock()[0], *state))
            del self.trail[:-64]
