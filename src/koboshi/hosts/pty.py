"""Terminals of our own, without tmux: a PTY per agent and a screen computed in this process.

Agents in a `PtyHost` end when the host is closed, and when this process dies: nobody else holds
the other end of their terminals.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import struct
import tempfile
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from koboshi.core.observations import ScreenSeen
from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import keys
from koboshi.hosts.base import Key, Place
from koboshi.hosts.bells import MOMENT
from koboshi.hosts.panes import check
from koboshi.hosts.runs import RunFolder, agent_env
from koboshi.hosts.screens import APPLICATION_CURSOR, BRACKETED_PASTE, Screen, open_screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.hosts.base import Keystroke, Launch

TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
#: Bytes for one read. Linux hands out 4 KiB at most, so that several reads make one turn.
CHUNK = 1 << 16
#: Reads before other tasks get their turn: a program that prints for ever starves nobody.
READS = 32
#: Seconds for the rest of a dead program's output to come through.
LAST_OUTPUT = 1.0
#: Seconds between SIGTERM and SIGKILL when the host is closed.
CLOSE_PATIENCE = 3.0


class Terminal:
    """The master side of one PTY: read without pause into a screen, written to in order."""

    def __init__(self, master: int, screen: Screen) -> None:
        self.screen = screen
        self._master: int | None = master
        self._out = bytearray()
        self._hung_up = asyncio.Event()
        self.news = asyncio.Event()  #: set by output and by the end, cleared by who was told
        self.news.set()
        self._loop = asyncio.get_running_loop()
        os.set_blocking(master, False)
        self._loop.add_reader(master, self.read)

    def read(self) -> None:
        """Take what is there, up to a fair share of one turn."""
        for _ in range(READS):
            if self._master is None or not self._read_once(self._master):
                return

    async def finished(self) -> None:
        """Wait until the last byte has been read, or for a short time.

        The kernel hands output on in the background: an empty read is not yet the end.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_OUTPUT):
                await self._hung_up.wait()

    def write(self, data: bytes) -> None:
        """Queue bytes for the program; a program that does not read blocks only itself."""
        self._out += data
        self._flush()

    def foreground(self) -> str:
        """The name of the process that has the terminal, or nothing."""
        if self._master is None:
            return ""
        try:
            argv = psutil.Process(os.tcgetpgrp(self._master)).cmdline()
        except (OSError, psutil.Error):
            return ""
        return Path(argv[0]).name if argv else ""

    def close(self) -> None:
        """Hang up."""
        master, self._master = self._master, None
        if master is not None:
            self._loop.remove_reader(master)
            self._loop.remove_writer(master)
            os.close(master)
            self._hung_up.set()
            self.news.set()

    def _read_once(self, master: int) -> bool:
        try:
            data = os.read(master, CHUNK)
        except BlockingIOError:
            return False
        except OSError:  # EIO: the last process let go of the terminal
            data = b""
        if not data:
            self.close()
            return False
        self.news.set()
        answer = self.screen.feed(data)
        if answer:
            self.write(answer)
        return True

    def _flush(self) -> None:
        if self._master is None:
            return
        try:
            sent = os.write(self._master, self._out) if self._out else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self._out.clear()
            return
        del self._out[:sent]
        if self._out:
            self._loop.add_writer(self._master, self._flush)
        else:
            self._loop.remove_writer(self._master)


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
            cols=self.launch.cols,
            rows=self.launch.rows,
            cursor=screen.cursor,
            pid=child.pid if child else None,
            alive=alive,
            code=ended.code if ended else None,
            signal=ended.signal if ended else None,
        )

    def _command(self) -> str:
        return self.terminal.foreground() or Path(self.launch.argv[0]).name


class PtyHost:
    """Host without tmux; closing it ends its agents."""

    name = "pty"

    def __init__(self, *, screen: Callable[[int, int], Screen] = open_screen) -> None:
        self._screen = screen
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
            self._folders = Path(tempfile.mkdtemp(prefix="koboshi-pty-"))
        screen = self._screen(launch.cols, launch.rows)  # first: it may not be installed
        folder = RunFolder.create(self._folders, launch)
        room = await spawn(launch, folder, screen)
        try:
            folder.release(launch, {**TERMINAL, **agent_env(os.environ, launch)})
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


async def spawn(launch: Launch, folder: RunFolder, screen: Screen) -> Room:
    """A recorder that waits on a new PTY; it makes the PTY its controlling terminal itself."""
    master, slave = os.openpty()
    try:
        size = struct.pack("HHHH", launch.rows, launch.cols, 0, 0)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        recorder = await asyncio.create_subprocess_exec(
            *folder.command(), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return Room(launch, folder, Terminal(master, screen), recorder)


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
