"""PassThrough: a person's terminal and the agent's, each byte of one for the other.

Rule 1: bytes are never altered, either way. Only between two runs, and after the terminal stood
still or we were stopped, something of our own is written: what puts it back or paints it anew.
Rule 2: memory has a limit on both ways. A terminal that is slow slows the agent down, as it would
without us. One that takes no byte for some seconds (a dead network, a stopped window) must not hold
up an agent overnight: what it misses is dropped, and once it takes bytes again it is painted from
the computed screen. A program that reads nothing leaves what is typed in the kernel, as always.
Rule 3: whatever way we end, `end` puts the terminal back; the guardian does when nothing of ours
can run any more.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import TYPE_CHECKING

from koboshi.hosts.console.device import Console, Size
from koboshi.hosts.console.modes import Modes
from koboshi.hosts.console.typed import Typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.hosts.terminal import Terminal

#: Bytes for the person's terminal above which the agent waits, and below which it goes on.
HIGH, LOW = 1 << 18, 1 << 16
#: Seconds for which it waits for a terminal that takes nothing.
STALL = 5.0
#: Bytes for the program above which the keyboard waits.
TYPED_HIGH = 1 << 16
#: Seconds between two tellings that a person types.
TELL_EVERY = 1.0
#: Seconds between two sizes: programs draw anew only when they see another one.
JIGGLE = 0.1
CTRL_C, CTRL_BACKSLASH = b"\x03", b"\x1c"

ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class PassThrough:
    """The audience of a `PtyHost`: shows one terminal of it at a time."""

    def __init__(self, console: Console, *, hold: float) -> None:
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.person: Callable[[], None] = lambda: None
        self._console = console
        self._hold = hold
        self._modes, self._typed = Modes(), Typed()
        self._terminal: Terminal | None = None
        self._early = bytearray()  #: typed before there was a program to read it
        self._shown_one = self._paused = self._blind = False
        self._undo_blind = b""
        self._typed_at = self._told_at = float("-inf")
        self.interrupted_at = float("-inf")  #: when a key that signals was last typed
        self._telling: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._confided = b""

    # -- beginning and end ---------------------------------------------------------------------

    def begin(self) -> None:
        """Take the terminal over."""
        console = self._console
        console.guard()
        console.typed, console.taken, console.gone = self._keys, self._taken, self._gone
        for number in ENDINGS:
            self._loop.add_signal_handler(number, self._end_by, number)
        self._loop.add_signal_handler(signal.SIGWINCH, self._resize)
        self._loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        self._loop.add_signal_handler(signal.SIGCONT, self._go_on)
        self._confide()
        console.raw()
        console.listen(on=True)

    def end(self) -> None:
        """Put the terminal back as it was found."""
        try:
            self._console.finish(self._modes.undo() if self._terminal else b"")
        finally:
            self._terminal = None
            self._console.close()
            for number in (*ENDINGS, signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT):
                self._loop.remove_signal_handler(number)

    def notice(self, text: str) -> None:
        """A line of our own, only while no agent shows."""
        if self._terminal is None:
            self._console.write(f"\r\n{text}\r\n".encode())

    # -- the audience --------------------------------------------------------------------------

    def size(self) -> Size:
        """What a new terminal is to have."""
        return self._console.size()

    def busy(self) -> bool:
        """Whether a person typed a moment ago: the last look before our own keys (law 10)."""
        return time.monotonic() - self._typed_at < self._hold

    def enter(self, terminal: Terminal) -> None:
        """Show that one; the screen of the one before it is cleared away."""
        if self._terminal is not None:
            self.left(self._terminal)
        self._terminal = terminal
        self._paused = False
        if self._shown_one:
            self._console.write(b"\x1b[H\x1b[2J")
        elif self._early:
            terminal.write(bytes(self._early))
        self._shown_one = True

    def see(self, terminal: Terminal, data: bytes) -> bool:
        """The program wrote; whether the person's terminal will answer what it asks."""
        if terminal is not self._terminal:
            return False
        self._modes.feed(data)
        self._confide()
        if self._blind:
            return False
        self._console.write(data)
        if self._console.pending > HIGH and not self._paused:
            self._paused = True
            terminal.pause()
            self._loop.call_later(STALL, self._lose_patience)
        return self._console.is_keyboard

    def drained(self) -> None:
        """The program has read what was typed."""
        self._console.listen(on=True)

    def left(self, terminal: Terminal) -> None:
        """That one is over: nothing it switched on may stay."""
        if terminal is not self._terminal:
            return
        self._terminal = None
        self._console.write(self._modes.undo())
        if not self._modes.alternate and terminal.screen.cursor[0]:
            self._console.write(b"\r\n")
        self._modes = Modes()
        self._confide()
        self._console.listen(on=True)

    # -- what the terminal does ----------------------------------------------------------------

    def _keys(self, data: bytes) -> None:
        if self._console.is_keyboard and self._typed.feed(data):
            self._typed_at = time.monotonic()
            if CTRL_C in data or CTRL_BACKSLASH in data:
                self.interrupted_at = self._typed_at
            self._tell_person()
        if self._terminal is None:
            if CTRL_C in data:
                self._end_by(0)
            elif not self._shown_one:  # later it was meant for one that is gone
                self._early += data[: TYPED_HIGH - len(self._early)]
            return
        self._terminal.write(data)
        if self._terminal.backlog > TYPED_HIGH:
            self._console.listen(on=False)

    def _tell_person(self) -> None:
        """At once, and after the last key: a pause is counted from that."""
        wait = self._told_at + TELL_EVERY - time.monotonic()
        if wait <= 0:
            self._telling, self._told_at = None, time.monotonic()
            self.person()
        elif self._telling is None:
            self._telling = self._loop.call_later(wait + 0.001, self._tell_person)

    def _taken(self) -> None:
        if self._blind:
            self._see_again()
        elif self._paused and self._console.pending < LOW and self._terminal is not None:
            self._paused = False
            self._terminal.resume()

    def _lose_patience(self) -> None:
        if not self._paused or self._terminal is None:
            return
        waited = time.monotonic() - self._console.moved_at
        if waited < STALL:
            self._loop.call_later(STALL - waited + 0.001, self._lose_patience)
            return
        self._blind, self._paused = True, False
        self._undo_blind = self._modes.undo()
        self._console.drop()
        # One byte that means nothing: when the terminal takes it, it can be painted again.
        self._console.write(b"\x18")
        self._terminal.resume()

    def _see_again(self) -> None:
        if self._console.pending:
            return
        self._blind = False
        self._console.write(self._undo_blind + self._modes.redo())
        self._paint()
        self._jiggle()

    def _paint(self) -> None:
        if self._terminal is None:
            return
        screen = self._terminal.screen
        x, y = screen.cursor
        rows = screen.ansi().replace("\n", "\r\n")
        self._console.write(f"\x1b[m\x1b[H\x1b[2J{rows}\x1b[m\x1b[{y + 1};{x + 1}H".encode())

    def _gone(self) -> None:
        """The terminal has hung up."""
        self._end_by(signal.SIGHUP)

    # -- signals -------------------------------------------------------------------------------

    def _end_by(self, number: int) -> None:
        if not self.ended.done():
            self.ended.set_result(number)

    def _resize(self) -> None:
        if self._terminal is not None:
            self._terminal.resize(*self._console.size())

    def _jiggle(self) -> None:
        """Make the program draw anew."""
        if self._terminal is not None:
            cols, rows, *pixels = self._console.size()
            self._terminal.resize(cols, max(1, rows - 1), *pixels)
            self._loop.call_later(JIGGLE, self._resize)

    def _suspend(self) -> None:
        """Stop as any program does: with the terminal in order for the shell.

        The agent is not stopped. It goes on until its terminal is full, as behind any stopped one.
        """
        self._console.finish(self._modes.undo() if self._terminal else b"")
        os.kill(os.getpid(), signal.SIGSTOP)  # goes on here with SIGCONT, which has its own turn

    def _go_on(self) -> None:
        """In the foreground again; whoever had the terminal meanwhile left it as they liked."""
        self._console.raw()
        self._console.listen(on=True)
        self._console.write(self._modes.redo() if self._terminal else b"")
        if self._modes.alternate:
            self._paint()
        self._jiggle()

    def _confide(self) -> None:
        undo = self._modes.undo()
        if undo != self._confided:
            self._confided = undo
            self._console.confide(undo=undo.decode("latin-1"))
