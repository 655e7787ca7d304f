"""Panes that the user already has, on the user's own tmux server; nothing of theirs is changed.

No client of ours is ever attached there: see calls.py. A pane is resolved once, to its id, the
tmux server and the process it was opened with; all three are checked in every verb, so that an id
that was given out anew is never taken. A file per agent lets the next supervisor find the pane.
The shell in the pane owns the agent: that it ended can be seen, its exit code cannot.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import secrets
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from koboshi.adapters.base import SHELLS
from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import foreign, recorder, trees
from koboshi.hosts.base import Keystroke, Launch, Place
from koboshi.hosts.calls import TmuxCalls
from koboshi.hosts.control import Command
from koboshi.hosts.ears import Pace
from koboshi.hosts.foreign import ForeignPane
from koboshi.hosts.runs import slug
from koboshi.hosts.tmux import client_env
from koboshi.observations import ScreenSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """What is remembered of an adopted pane."""

    agent: str
    run: int
    socket: str  #: a path
    pane: str
    pid: int  #: of what the pane was opened with
    born: int | None
    server: int  #: pid of the tmux server

    def same(self, pane: ForeignPane) -> bool:
        """Whether that is still the pane we were shown."""
        if (pane.id, pane.pid, pane.server) != (self.pane, self.pid, self.server):
            return False
        return pane.dead or self.born is None or recorder.born(self.pid) == self.born


@dataclass(frozen=True, slots=True, kw_only=True)
class Peeked:
    """What runs in a pane that is not ours yet."""

    argv: tuple[str, ...]
    cwd: str


class AdoptedHost:
    """Host over panes of other tmux servers; `adopt` takes the place of `start`."""

    name = "adopted"

    def __init__(self, *, state_dir: Path, tmux: str = "tmux") -> None:
        self._folder = Path(state_dir).absolute() / "adopted"
        self._tmux = tmux
        self._paces: dict[tuple[str, str], Pace] = {}

    # -- verbs ---------------------------------------------------------------------------------

    async def adopt(
        self, agent: str, target: str, *, socket: str | Path | None = None, run: int = 1
    ) -> Place:
        """Look after a pane from now on; `socket` is a name for `-L`, a path for `-S`, or nothing.

        Nothing means the server we run in, else the user's default one.
        """
        calls = self._calls(*server(socket))
        pane = foreign.resolve(target, await _panes(calls))
        if pane.ours:
            raise HostError(f"pane {pane.id} is koboshi's own, agent {pane.ours!r}")
        for other in self._records():
            if other.same(pane) and other.agent != agent:
                raise HostError(f"pane {pane.id} is already watched as {other.agent!r}")
        adopted = Adopted(
            agent=agent,
            run=run,
            socket=pane.socket,
            pane=pane.id,
            pid=pane.pid,
            born=recorder.born(pane.pid),
            server=pane.server,
        )
        await self._refuse_second(adopted)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        recorder.write(str(self._folder), self._name(agent), asdict(adopted))
        return place_of(adopted, pane)

    async def peek(self, target: str, *, socket: str | Path | None = None) -> Peeked:
        """What is in the foreground of a pane; a shell is nobody to look after."""
        calls = self._calls(*server(socket))
        pane = foreign.resolve(target, await _panes(calls))
        group = None if pane.dead else foreground(pane.pid)
        try:
            process = psutil.Process(group)
            argv, cwd = tuple(process.cmdline()), process.cwd()
        except psutil.Error as error:
            raise HostError(f"pane {pane.id} has no program that can be seen: {error}") from error
        if group is None or Path(argv[0] if argv else "").name.removeprefix("-") in SHELLS:
            raise HostError(
                f"pane {pane.id} shows a shell, no agent",
                hint="start the agent there first, or let koboshi start it: koboshi run -- claude",
            )
        return Peeked(argv=argv, cwd=cwd)

    async def attach_argv(self, place: Place) -> tuple[str, ...]:
        """The command that brings a person to the pane."""
        adopted = self._of(place)
        await self._pane(adopted)
        return (self._tmux, "-S", adopted.socket, "attach-session", "-t", adopted.pane)

    def terminal(self, agent: str) -> str:
        """What only that agent's terminal is called, as far as programs in it know: SERVER.PANE."""
        with contextlib.suppress(PlaceGone):
            adopted = self._record(agent)
            return f"{adopted.server}.{adopted.pane.removeprefix('%')}"
        return ""

    async def start(self, launch: Launch) -> Place:
        """Refused: a program is started by typing its command into the pane's shell."""
        raise HostError(f"{launch.agent!r} lives in a pane of the user's, nothing is started there")

    async def find(self, agent: str) -> tuple[Place, ...]:
        """The pane of that agent, if it is still there."""
        with contextlib.suppress(PlaceGone):
            adopted = self._record(agent)
            return (place_of(adopted, await self._pane(adopted)),)
        return ()

    async def look(self, place: Place) -> ScreenSeen:
        """The screen and what is in the foreground; `alive` as long as the pane is."""
        at, utc = time.monotonic(), time.time()
        adopted, cut = self._of(place), f"cut-{secrets.token_hex(8)}"
        said = await self._at(adopted).say(*foreign.look(place.id, cut))
        facts, plain, ansi, *_ = (*said.split(f"{cut}\n"), "", "")  # a server may die half-way
        pane = self._checked(adopted, facts)
        self._pace(place).saw((plain, pane.title, pane.command, pane.dead))
        return ScreenSeen(
            text=plain.removesuffix("\n"),
            run=place.run,
            at=at,
            utc=utc,
            ansi=ansi.removesuffix("\n"),
            title=pane.title,
            command="" if pane.dead else pane.command,
            cols=pane.cols,
            rows=pane.rows,
            cursor=pane.cursor,
            pid=None if pane.dead else foreground(pane.pid),
            alive=not pane.dead,
            # A key goes to the pane that is in front.
            typed_at=float(pane.typed_at) if pane.window_active and pane.active else None,
        )

    async def stirred(self, place: Place, patience: float) -> bool:
        """Wait until a look is due: nothing may be changed on that server, so nothing rings."""
        self._of(place)
        return await self._pace(place).stirred(patience)

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:
        """Send keystrokes in order, unless a person scrolls in the pane."""
        texts = foreign.check(strokes)
        adopted = self._of(place)
        calls, pane = self._at(adopted), await self._pane(adopted)
        if pane.mode or pane.synchronized or pane.dead:
            raise foreign.reason(pane, agent=place.agent)
        buffers = [f"koboshi-{secrets.token_hex(6)}" for _ in texts]
        try:
            for name, text in zip(buffers, texts, strict=True):
                # From standard input: tmux takes 16 KiB of arguments and no more.
                await calls.say(("load-buffer", "-b", name, "-"), stdin=text.encode())
            for command in foreign.typed(pane, strokes, buffers):
                await self._press(adopted, command)
        except BaseException:
            await self._drop(calls, buffers)
            raise

    async def end(self, place: Place, *, force: bool) -> None:
        """Signal what is in the foreground, with all it started; never the user's shell."""
        pane = await self._pane(self._of(place))
        group = None if pane.dead else foreground(pane.pid)
        if group is not None:
            await asyncio.to_thread(trees.end_group, group, shell=is_shell, force=force)

    async def forget(self, place: Place) -> None:
        """Look after it no more; the pane, and whatever runs in it, stays as it is."""
        self._of(place)
        self._paces.pop((place.id, place.agent), None)
        (self._folder / self._name(place.agent)).unlink(missing_ok=True)

    async def close(self) -> None:
        """Nothing of ours is there."""

    # -- parts of the verbs --------------------------------------------------------------------

    async def _refuse_second(self, adopted: Adopted) -> None:
        for place in await self.find(adopted.agent):
            known = self._record(adopted.agent)
            if (known.socket, known.pane) == (adopted.socket, adopted.pane):
                continue
            hint = "let go of it first, or use another name"
            raise HostError(f"{adopted.agent!r} is already in pane {place.id}", hint=hint)

    async def _pane(self, adopted: Adopted) -> ForeignPane:
        facts = ("display-message", "-p", "-t", adopted.pane, foreign.FORMAT)
        return self._checked(adopted, await self._at(adopted).say(facts))

    @staticmethod
    def _checked(adopted: Adopted, facts: str) -> ForeignPane:
        # display-message does not fail for a pane that is not there: it prints empty fields.
        pane = ForeignPane.parse(facts.removesuffix("\n"))
        if pane is None or not adopted.same(pane):
            raise PlaceGone(f"pane {adopted.pane} of {adopted.agent!r} is gone")
        return pane

    async def _press(self, adopted: Adopted, command: Command) -> None:
        if foreign.REFUSED in await self._at(adopted).say(command):
            raise foreign.reason(await self._pane(adopted), agent=adopted.agent)

    @staticmethod
    async def _drop(calls: TmuxCalls, buffers: list[str]) -> None:
        for name in buffers:
            with contextlib.suppress(HostError):
                await calls.say(("delete-buffer", "-b", name))

    def _pace(self, place: Place) -> Pace:
        return self._paces.setdefault((place.id, place.agent), Pace())

    def _at(self, adopted: Adopted) -> TmuxCalls:
        return self._calls("-S", adopted.socket)

    def _calls(self, *words: str) -> TmuxCalls:
        return TmuxCalls(words, tmux=self._tmux, env=client_env())

    # -- what is remembered --------------------------------------------------------------------

    def _of(self, place: Place) -> Adopted:
        """The record; the run is not compared: in a pane that stays, runs come and go."""
        adopted = self._record(place.agent)
        if adopted.pane != place.id:
            raise PlaceGone(f"pane {place.id} of {place.agent!r} is gone")
        return adopted

    def _record(self, agent: str) -> Adopted:
        try:
            record = json.loads((self._folder / self._name(agent)).read_bytes())
            return Adopted(**record)
        except FileNotFoundError:
            raise PlaceGone(f"no pane of {agent!r} is known") from None
        except (ValueError, TypeError) as error:
            raise PlaceGone(f"what is known of {agent!r} cannot be read: {error}") from error

    def _records(self) -> list[Adopted]:
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(ValueError, TypeError, OSError):
                found.append(Adopted(**json.loads(path.read_bytes())))
        return found

    @staticmethod
    def _name(agent: str) -> str:
        """`agent.json`; a name that is no file name gets a sum of it besides."""
        plain = slug(agent)
        if plain == agent:
            return f"{plain}.json"
        return f"{plain}-{hashlib.sha256(agent.encode()).hexdigest()[:8]}.json"


def server(socket: str | Path | None) -> tuple[str, ...]:
    """The words that name a server to tmux."""
    if socket is None:
        path = os.environ.get("TMUX", "").rpartition(",")[0].rpartition(",")[0]
        return ("-S", path) if path else ()
    if isinstance(socket, Path) or "/" in socket:
        return ("-S", str(Path(socket).absolute()))  # tmux tells it again as it was said
    return ("-L", socket)


async def _panes(calls: TmuxCalls) -> list[str]:
    """All panes of a server; a person asked for one of them, so that there must be a server."""
    try:
        return (await calls.say(foreign.LIST)).splitlines()
    except PlaceGone as error:
        raise PlaceGone(
            f"no tmux server is there: {error}",
            hint="'tmux ls' shows yours; -L NAME and -S SOCKET name another one",
        ) from error


def place_of(adopted: Adopted, pane: ForeignPane) -> Place:
    """The place of an adopted pane."""
    pid = None if pane.dead else foreground(pane.pid)
    return Place(id=pane.id, agent=adopted.agent, run=adopted.run, pid=pid, own=False)


def foreground(pid: int) -> int | None:
    """The process group in the foreground of that process's terminal."""
    try:
        # The name in parentheses may itself hold spaces and parentheses.
        stat = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        group = int(stat[5])
    except (OSError, ValueError, IndexError):
        said = subprocess.run(
            ["ps", "-o", "tpgid=", "-p", str(pid)], capture_output=True, check=False, text=True
        ).stdout.strip()
        group = int(said) if said.isdecimal() else 0
    return group if group > 0 else None


def is_shell(entry: trees.Entry) -> bool:
    """Whether that process is a shell."""
    try:
        argv = entry.process.cmdline()
        names = {entry.process.name(), Path(argv[0]).name if argv else ""}
    except psutil.Error:
        return False
    return any(name.removeprefix("-") in SHELLS for name in names)
