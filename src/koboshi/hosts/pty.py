"""Terminals of our own, without tmux: a PTY per agent and a screen computed in this process.

Agents in a `PtyHost` end when the host is closed, and when this process dies: nobody else holds
the other end of their terminals. An `Audience` sees what they show, and types there too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import keys
from koboshi.hosts.base import Key, Place
from koboshi.hosts.bells import MOMENT
from koboshi.hosts.panes import check
from koboshi.hosts.runs import RunFolder, agent_env, own_env
from koboshi.hosts.screens import APPLICATION_CURSOR, BRACKETED_PASTE, Screen, open_screen
from koboshi.hosts.sweep import sign, sweep
from koboshi.hosts.terminal import Terminal, set_size
from koboshi.observations import ScreenSeen

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.hosts.base import Keystroke, Launch
    from koboshi.hosts.terminal import Audience

TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
#: Of the folders in which the recorders of a host tell what became of their programs.
PREFIX = "koboshi-pty-"
#: Seconds between SIGTERM and SIGKILL when the host is closed.
CLOSE_PATIENCE = 3.0


class Room:
    """One agent's terminal with everything that belongs to it."""

    def __init__(
        self,
        launch: Launch,
        folder: RunFolder,
        terminal: Terminal,
        recorder: asyncio.subprocess.Process,
    ) -> None:
        self.launch = launch
        self.folder = folder
        self.terminal = terminal
        self.recorder = recorder

    def alive(self) -> bool:
        """Whether the program still runs, whatever became of its recorder."""
        child = self.folder.child()
        recorded = self.recorder.returncode is None
        return self.folder.ended() is None and (recorded or (child is not None and child.running()))

    def see(self) -> ScreenSeen:
        """The screen and the process now."""
        at, utc = time.monotonic(), time.time()
        alive = self.alive()
        ended, child, screen = self.folder.ended(), self.folder.child(), self.terminal.screen
        return ScreenSeen(
            text=screen.text(),
            run=self.launch.run,
            at=at,
            utc=utc,
            ansi=screen.ansi(),
            title=screen.title,
            command=self._command() if alive else "",
            cols=self.terminal.size[0],
            rows=self.terminal.size[1],
            cursor=screen.cursor,
            pid=child.pid if child else None,
            alive=alive,
            code=ended.code if ended else None,
            signal=ended.signal if ended else None,
        )

    def _command(self) -> str:
        return self.terminal.foreground() or Path(self.launch.argv[0]).name


class PtyHost:
    """Host without tmux; closing it ends its agents. `audience`: a person looks on."""

    name = "pty"

    def __init__(
        self,
        *,
        screen: Callable[[int, int], Screen] = open_screen,
        audience: Audience | None = None,
    ) -> None:
        self._screen = screen
        self._audience = audience
        self._rooms: dict[str, Room] = {}
        self._count = 0
        self._starting = asyncio.Lock()
        self._folders: Path | None = None

    async def start(self, launch: Launch) -> Place:
        """Start a program on a new PTY, in a session of its own."""
        check(launch)
        async with self._starting:
            if any(place.run == launch.run for place in await self.find(launch.agent)):
                message = f"run {launch.run} of {launch.agent!r} already has a terminal"
                raise HostError(message)
            room = await self._open(launch)
            self._count += 1
            self._rooms[f"pty-{self._count}"] = room
        return self._place(f"pty-{self._count}", room)

    async def find(self, agent: str) -> tuple[Place, ...]:
        """All terminals of that agent in this host, oldest run first."""
        mine = [(i, room) for i, room in self._rooms.items() if room.launch.agent == agent]
        places = [self._place(i, room) for i, room in mine]
        return tuple(sorted(places, key=lambda place: place.run))

    async def look(self, place: Place) -> ScreenSeen:
        """The screen and the process now; the screen of an ended program is complete."""
        room = self._room(place)
        if not room.alive():
            await room.terminal.finished()
        return room.see()

    async def stirred(self, place: Place, patience: float) -> bool:
        """Wait until the program prints or ends."""
        news = self._room(place).terminal.news
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await news.wait()
                await asyncio.sleep(MOMENT)  # a frame is drawn in several pieces
        told = news.is_set()
        news.clear()
        return told

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:
        """Send keystrokes in order; text is a bracketed paste where the program asked for such."""
        room = self._room(place)
        if not room.alive():
            message = f"run {place.run} of {place.agent!r} has ended, nothing can be typed"
            raise HostError(message)
        if self._audience is not None and self._audience.busy():
            message = "a person is typing there"  # law 10, at the last moment there is
            raise HostError(message)
        data = "".join(encode(stroke, room.terminal.screen) for stroke in strokes)
        room.terminal.write(data.encode())

    async def end(self, place: Place, *, force: bool) -> None:
        """Signal all processes of the run."""
        await asyncio.to_thread(self._room(place).folder.end, force=force)

    async def forget(self, place: Place) -> None:
        """Remove an ended terminal."""
        room = self._room(place)
        if room.alive():
            message = f"run {place.run} of {place.agent!r} still runs"
            raise HostError(message, hint="end it first")
        del self._rooms[place.id]
        room.terminal.news.set()  # for who waits there
        await leave(room)

    async def close(self) -> None:
        """End all agents: SIGTERM, and after a few seconds SIGKILL."""
        rooms, self._rooms = list(self._rooms.values()), {}
        for room in rooms:
            await asyncio.to_thread(room.folder.end, force=False)
        await asyncio.gather(*map(leave, rooms))
        if self._folders:
            shutil.rmtree(self._folders, ignore_errors=True)
            self._folders = None

    async def _open(self, launch: Launch) -> Room:
        if self._folders is None:
            await asyncio.to_thread(sweep, Path(tempfile.gettempdir()), PREFIX)
            self._folders = Path(tempfile.mkdtemp(prefix=PREFIX))
            sign(self._folders)
        audience = self._audience
        size = audience.size() if audience is not None else (launch.cols, launch.rows, 0, 0)
        screen = self._screen(*size[:2])  # first: it may not be installed
        folder = RunFolder.create(self._folders, launch)
        room = await spawn(launch, folder, screen, size, audience)
        env = {**TERMINAL, **agent_env(os.environ, launch)}
        try:
            folder.release(launch, env if audience is None else own_env(os.environ, launch))
            await folder.started()
        except BaseException:
            folder.remove()  # the recorder gives up without it
            await leave(room)
            raise
        return room

    def _room(self, place: Place) -> Room:
        room = self._rooms.get(place.id)
        if room is None or (room.launch.agent, room.launch.run) != (place.agent, place.run):
            message = f"terminal {place.id} of {place.agent!r} run {place.run} is gone"
            raise PlaceGone(message)
        return room

    def _place(self, place_id: str, room: Room) -> Place:
        child = room.folder.child()
        pid = child.pid if child else None
        return Place(id=place_id, agent=room.launch.agent, run=room.launch.run, pid=pid)


async def spawn(
    launch: Launch,
    folder: RunFolder,
    screen: Screen,
    size: tuple[int, int, int, int],
    audience: Audience | None,
) -> Room:
    """A recorder that waits on a new PTY; it makes the PTY its controlling terminal itself."""
    master, slave = os.openpty()
    try:
        set_size(slave, *size)
        recorder = await asyncio.create_subprocess_exec(
            *folder.command(), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return Room(launch, folder, Terminal(master, screen, size[:2], audience), recorder)


async def leave(room: Room) -> None:
    """Wait for the program's end, in the end by force, and hang up."""
    try:
        async with asyncio.timeout(CLOSE_PATIENCE):
            await room.recorder.wait()
    except TimeoutError:
        await asyncio.to_thread(room.folder.end, force=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_PATIENCE):
                await room.recorder.wait()
    if room.recorder.returncode is None:  # nothing was started, or it cannot be killed
        room.recorder.kill()
        await room.recorder.wait()
    await asyncio.to_thread(room.folder.end, force=True)  # what outlived it
    await room.terminal.drained()
    room.terminal.close()
    room.folder.remove()


def encode(stroke: Keystroke, screen: Screen) -> str:
    """What the terminal sends for one keystroke, in the modes the program has set."""
    if isinstance(stroke, Key):
        return keys.encode(stroke.name, application=screen.mode(APPLICATION_CURSOR))
    text = keys.paste(stroke.text)
    if text and screen.mode(BRACKETED_PASTE):
        return f"{keys.PASTE_START}{text}{keys.PASTE_END}"
    return text
