"""The master side of a PTY, and a person's terminal that may show it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import struct
import termios
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import psutil

if TYPE_CHECKING:
    from koboshi.hosts.screens import Screen

#: Bytes for one read. Linux hands out 4 KiB at most, so that several reads make one turn.
CHUNK = 1 << 16
#: Reads before other tasks get their turn: a program that prints for ever starves nobody.
READS = 32
#: Seconds for the rest of a dead program's output to come through.
LAST_OUTPUT = 1.0


class Audience(Protocol):
    """A person's terminal that shows the terminals of a host, one at a time."""

    def size(self) -> tuple[int, int, int, int]:
        """Columns, rows and pixels of the person's terminal."""
        ...

    def busy(self) -> bool:
        """Whether a person typed a moment ago."""
        ...

    def enter(self, terminal: Terminal) -> None:
        """A program is about to start there."""
        ...

    def see(self, terminal: Terminal, data: bytes) -> bool:
        """It wrote; whether somebody else answers what it may have asked its terminal."""
        ...

    def drained(self) -> None:
        """It has read all that was typed."""
        ...

    def left(self, terminal: Terminal) -> None:
        """It is over."""
        ...


class Terminal:
    """The master side of one PTY: read without pause into a screen, written to in order."""

    def __init__(
        self, master: int, screen: Screen, size: tuple[int, int], audience: Audience | None = None
    ) -> None:
        self.screen = screen
        self.size = size  #: columns and rows
        self._audience = audience
        self._paused = False
        self._heard = 0
        self._master: int | None = master
        self._out = bytearray()
        self._hung_up = asyncio.Event()
        self.news = asyncio.Event()  #: set by output and by the end, cleared by who was told
        self.news.set()
        self._loop = asyncio.get_running_loop()
        os.set_blocking(master, False)
        self._loop.add_reader(master, self.read)
        if audience is not None:
            audience.enter(self)

    @property
    def backlog(self) -> int:
        """Bytes the program has not read yet."""
        return len(self._out)

    def pause(self) -> None:
        """Leave what the program writes in the kernel: it waits."""
        if self._master is not None and not self._paused:
            self._paused = True
            self._loop.remove_reader(self._master)

    def resume(self) -> None:
        """Read on."""
        if self._master is not None and self._paused:
            self._paused = False
            self._loop.add_reader(self._master, self.read)

    def resize(self, cols: int, rows: int, width: int = 0, height: int = 0) -> None:
        """Another size, for the screen and for the program, which is told by SIGWINCH."""
        if self._master is None:
            return
        self.size = (cols, rows)
        self.news.set()
        self.screen.resize(cols, rows)
        with contextlib.suppress(OSError):
            set_size(self._master, cols, rows, width, height)

    def read(self) -> None:
        """Take what is there, up to a fair share of one turn."""
        for _ in range(READS):
            if self._paused or self._master is None or not self._read_once(self._master):
                return

    async def finished(self) -> None:
        """Wait until the last byte has been read, or for a short time.

        The kernel hands output on in the background: an empty read is not yet the end.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_OUTPUT):
                await self._hung_up.wait()

    async def drained(self) -> None:
        """The same for a run whose processes have all ended, as long as something comes."""
        heard = -1
        while not self._hung_up.is_set() and (self._paused or heard != self._heard):
            heard = self._heard
            await self.finished()

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
            if self._audience is not None:
                self._audience.left(self)

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
        self._heard += len(data)
        self.news.set()
        answer = self.screen.feed(data)
        answered = self._audience is not None and self._audience.see(self, data)
        if answer and not answered:
            self.write(answer)
        return True

    def _flush(self) -> None:
        if self._master is None:
            return
        try:
            sent = os.write(self._master, self._out[:CHUNK]) if self._out else 0
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
            if self._audience is not None:
                self._audience.drained()


def set_size(descriptor: int, cols: int, rows: int, width: int = 0, height: int = 0) -> None:
    """Give a PTY its size; the pixels are for programs that draw images."""
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, width, height))
