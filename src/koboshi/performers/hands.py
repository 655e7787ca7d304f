"""Hands: what a performer may touch, and the looks it must take before it does.

Rule 1: nothing is typed on an old look. The last look before a keystroke is younger than `FRESH`.
Rule 2: `touch` comes before the first thing that can reach the outside, and is durable when it
returns. Whoever finds an action without that mark knows that nothing happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.adapters.base import SHELLS
from koboshi.core.events import Ending, Outcome
from koboshi.core.readings import Status
from koboshi.core.view import evolve
from koboshi.errors import HostError, PlaceGone
from koboshi.hosts.base import Key, Text

from .advising import Advise, Line, by_list

if TYPE_CHECKING:
    from koboshi.adapters.base import Adapter
    from koboshi.core.actions import Action, Bundle, Command, Escalate, FixPrompt, Notify
    from koboshi.core.events import Body, Moment
    from koboshi.core.readings import Reading
    from koboshi.core.view import View
    from koboshi.hosts.base import Host, Keystroke, Place
    from koboshi.observations import ScreenSeen

#: Seconds. Between a look and the key that follows it the world can change, and no program can
#: close that gap; a look older than this is taken again.
FRESH = 0.25
#: Seconds after a person's key in which nothing of ours is typed, whatever was decided before it.
TYPING = 3.0
#: Seconds between two looks while waiting for something to show.
POLL = 0.2

#: Looks taken to find a fresh one once our text is in the box: to leave it there would look like a
#: person's half-typed line, and hold everything up.
PATIENT = 20
#: Seconds to wait for a screen that can be read, and what cannot be.
VEILED = 60.0
_VEILED = (Status.UNKNOWN, Status.STARTING)


class Skipped(Exception):
    """The action is void or cannot be done now; nothing was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gear:
    """Where runs are equipped from: a private folder, and who listens to hooks."""

    folder: Path
    url: Callable[[int], str] | None = None  #: where a run posts its hooks, instead of the shim

    @property
    def state(self) -> Path:
        """The state folder, in which this is `agents/NAME`: what `koboshi` needs to find us."""
        return self.folder.absolute().parent.parent

    @property
    def socket(self) -> Path:
        """Where somebody listens, if anybody does."""
        return self.folder / "hooks.sock"

    @property
    def spool(self) -> Path:
        """Where hooks are left while nobody listens."""
        return self.folder / "hooks.spool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How the agent is started."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str] | None = None  #: of who asked for the agent; None: the supervisor's own
    gear: Gear | None = None  #: None: runs are not equipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """One look, raw and read."""

    seen: ScreenSeen
    reading: Reading


async def no_snapshot(name: str) -> str:  # noqa: ARG001
    """Where nothing is known that could be kept."""
    return ""


async def no_notice(_: object) -> str:
    """Where no channel reaches anybody."""
    return ""


async def no_outside(_: object) -> Outcome:
    """Where nobody collects, writes or runs anything."""
    return failed("nobody does that here")


async def no_before(_: object) -> None:
    """Where no program comes first."""


async def no_instead(_: object) -> Outcome:
    """Where no program does it instead."""
    return failed("no program does that here")


async def nobody(_: object) -> tuple[str, ...]:
    """Where no processes are known but the agent's."""
    return ()


@dataclass(slots=True, kw_only=True)
class Hands:
    """The reach of one supervisor into one agent's terminal. `place` moves on with the runs."""

    agent: str
    adapter: Adapter
    host: Host
    program: Program
    now: Callable[[], Moment]
    sleep: Callable[[float], Awaitable[None]]
    mark: Callable[[str], None]
    tell: Callable[[Body], bool]
    announce: Callable[[str], None]
    scale: Callable[[float], float]  #: the host's monotonic time → ours
    view: Callable[[], View]  #: what is known now, for a second opinion
    place: Place | None = None
    #: bring it to people, on the way when it returns; in words to whom
    notice: Callable[[Notify | Escalate], Awaitable[str]] = no_notice
    #: bundles, prompts and programs
    outside: Callable[[Bundle | FixPrompt | Command], Awaitable[Outcome]] = no_outside
    #: let a program of the owner's come first, and wait for it
    before: Callable[[Action], Awaitable[None]] = no_before
    #: whether such a program stands in its place; and what that did
    replaced: Callable[[Action], bool] = lambda _: False
    instead: Callable[[Action], Awaitable[Outcome]] = no_instead
    #: let such a program run now that it has come out; nobody waits for it
    after: Callable[[Action, Outcome], None] = lambda *_: None
    snapshot: Callable[[str], Awaitable[str]] = (
        no_snapshot  #: keep uncommitted work; what came of it
    )
    transcript: Callable[[], tuple[bytes, ...]] = tuple  #: the end of what the agent writes down
    typed: Callable[[tuple[Keystroke, ...]], None] = lambda _: None  #: told of every key
    #: False: somebody else is about to open that session
    session_lock: Callable[[str], AbstractContextManager[bool]] = lambda _: nullcontext(True)  # noqa: FBT003
    #: who has that session open; and what runs before that one have left running
    session_users: Callable[[str], Awaitable[tuple[str, ...]]] = nobody
    left_running: Callable[[int], Awaitable[tuple[str, ...]]] = nobody
    advise: Advise = by_list  #: what the owner's policy says about a question
    held: Callable[[str], Line | None] = lambda _: None  #: the hook that waits under that name

    def at_place(self, run: int) -> Place:
        """The terminal of that run; void if another run lives there."""
        if self.place is None or self.place.run != run:
            raise Skipped(f"run {run} is over")
        return self.place

    async def look(self) -> Glance:
        """The screen as it was at most a moment ago."""
        if self.place is None:
            raise PlaceGone("expected a terminal, and there is none")
        seen = self.ours(await self.host.look(self.place), self.place)
        return Glance(seen=seen, reading=self.adapter.read(seen))

    def ours(self, seen: ScreenSeen, place: Place) -> ScreenSeen:
        """A look in our time, with its run."""
        # In a terminal of our own the host tells when the agent ends; a shell there is the agent.
        command = "" if place.own and seen.command in SHELLS else seen.command
        return evolve(seen, at=self.scale(seen.at), run=place.run, command=command, own=place.own)

    async def fresh_look(self, *, tries: int = 3) -> Glance:
        """A look young enough to type on; nobody else has just typed there."""
        for _ in range(tries):
            glance = await self.look()
            if self.now().at - glance.seen.at <= FRESH:
                self._alone(glance.seen)
                return glance
        raise Skipped("the terminal answers too slowly to type safely")

    def _alone(self, seen: ScreenSeen) -> None:
        typed = seen.typed_at
        if typed is not None and seen.utc is not None and seen.utc - typed < TYPING:
            raise Skipped("a person is typing there")

    async def patient_look(self) -> Glance:
        """A fresh look once something was typed: `Skipped` would say that nothing was."""
        try:
            return await self.fresh_look(tries=PATIENT)
        except Skipped as slow:
            raise HostError(f"in doubt: {slow}") from slow

    def touch(self, key: str) -> None:
        """From here on the outside may be reached."""
        self.mark(key)

    async def keys(self, names: Iterable[str]) -> None:
        """Send keys by name."""
        await self._type(tuple(Key(name=name) for name in names))

    async def paste(self, text: str) -> None:
        """Send text as one piece."""
        await self._type((Text(text=text),))

    async def _type(self, strokes: tuple[Key | Text, ...]) -> None:
        if self.place is None:
            raise PlaceGone("expected a terminal, and there is none")
        self.typed(strokes)  # before: whatever comes of it, they may have arrived
        await self.host.type(self.place, strokes)

    async def until(
        self, shows: Callable[[Glance], bool], seconds: float, *, every: float = POLL
    ) -> Glance | None:
        """Look until it shows; None when it did not within that time."""
        deadline = self.now().at + seconds
        while True:
            glance = await self.look()
            if shows(glance):
                return glance
            if self.now().at >= deadline:
                return None
            await self.sleep(every)


async def readable(hands: Hands) -> Glance | None:
    """A look at a screen that can be read; None when there was none for a long time."""
    return await hands.until(lambda g: g.reading.status not in _VEILED, VEILED)


def done(why: str = "") -> Outcome:
    """It happened, and was seen to have happened."""
    return Outcome(ending=Ending.DONE, why=why)


def failed(why: str) -> Outcome:
    """It was tried, or may have been; never again under this key."""
    return Outcome(ending=Ending.FAILED, why=why)


def skipped(why: str) -> Outcome:
    """It was not done, and may be decided again."""
    return Outcome(ending=Ending.SKIPPED, why=why)
