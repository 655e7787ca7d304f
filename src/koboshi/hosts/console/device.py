"""Console: the terminal koboshi was started in, opened anew, and how it is put back.

Rule 1: the person's own file descriptors are left as they are. `O_NONBLOCK` belongs to what was
opened, and the shell has the same thing open: set there, it would outlive us.
Rule 2: nothing waits for the terminal without a limit; a window over a dead network takes no byte.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import select
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from koboshi.errors import HostError
from koboshi.hosts.console import guardian

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes for one read and one write.
CHUNK = 1 << 16
#: Seconds without a byte taken, after which what is left for the terminal is given up at the end.
LAST_WORDS = 2.0


class Size(NamedTuple):
    """Of a terminal; programs that draw images want the pixels too."""

    cols: int
    rows: int
    width: int = 0
    height: int = 0


class Console:
    """The person's terminal. `typed`, `taken` and `gone` are called from the event loop."""

    def __init__(self, device: int, *, keys: int | None) -> None:
        self._device = device
        self._keys = keys
        self._cooked = termios.tcgetattr(device)
        self._raw = raw_of(self._cooked, keyboard=self.is_keyboard)
        self._out = bytearray()
        self._guardian: subprocess.Popen[bytes] | None = None
        self._loop = asyncio.get_running_loop()
        self._writing = self._reading = self._lost = False
        self._polled = True
        self.moved_at = time.monotonic()  #: when the terminal last took a byte
        self.typed: Callable[[bytes], None] = lambda _: None
        self.taken: Callable[[], None] = lambda: None
        self.gone: Callable[[], None] = lambda: None

    @classmethod
    def open(cls, stdin: int = 0, stdout: int = 1) -> Console:
        """The terminal that standard output is; HostError says what to do when it is none."""
        if not os.isatty(stdout):
            message = "expected a terminal on standard output, and there is none"
            raise HostError(message, hint="use host tmux, or a headless run, where nobody looks on")
        device = reopen(stdout)
        # Without a keyboard, what is piped in is typed, once; the agent goes on when it ends.
        return cls(device, keys=None if os.isatty(stdin) else os.dup(stdin))

    @property
    def is_keyboard(self) -> bool:
        """Whether the person types here: else a pipe does, and Ctrl-C is ours."""
        return self._keys is None

    @property
    def pending(self) -> int:
        """Bytes the terminal has not taken yet."""
        return len(self._out)

    def size(self) -> Size:
        """Its size now; a terminal that has none gets the usual one."""
        try:
            packed = fcntl.ioctl(self._device, termios.TIOCGWINSZ, bytes(8))
        except OSError:
            packed = bytes(8)
        rows, cols, width, height = struct.unpack("HHHH", packed)
        return Size(cols, rows, width, height) if cols and rows else Size(80, 24)

    # -- the line ------------------------------------------------------------------------------

    def guard(self) -> None:
        """Have somebody put the terminal back should we be killed."""
        command = (sys.executable, "-I", "-S", guardian.__file__)
        self._guardian = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=self._device,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        if self._guardian.stdin is not None:
            os.set_blocking(self._guardian.stdin.fileno(), False)
        lines = {"cooked": guardian.freeze(self._cooked), "raw": guardian.freeze(self._raw)}
        self.confide(**lines)

    def confide(self, **words: Any) -> None:  # noqa: ANN401
        """Tell the guardian; short enough that the pipe takes it whole or not at all."""
        if self._guardian is not None and self._guardian.stdin is not None:
            with contextlib.suppress(OSError):
                self._guardian.stdin.write(json.dumps(words).encode() + b"\n")

    def raw(self) -> None:
        """Every byte unaltered, both ways. In the background this stops us, as it should."""
        with contextlib.suppress(termios.error):  # it has hung up: reading will tell
            termios.tcsetattr(self._device, termios.TCSADRAIN, self._raw)

    def cook(self) -> None:
        """As it was. Not TCSADRAIN: a stuck terminal would keep us."""
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._device, termios.TCSANOW, self._cooked)

    # -- bytes ---------------------------------------------------------------------------------

    def listen(self, *, on: bool) -> None:
        """Read the keyboard, or leave what is typed in the kernel, whose queue is short."""
        if on == self._reading or self._lost:
            return
        self._reading = on
        source = self._device if self._keys is None else self._keys
        if not on:
            self._loop.remove_reader(source)
            return
        try:
            self._loop.add_reader(source, self._read)
        except PermissionError:  # epoll takes no regular file and no /dev/null; those never block
            self._polled = False
            self._loop.call_soon(self._read)

    def write(self, data: bytes) -> None:
        """Queue bytes for the terminal."""
        if not self._out:
            self.moved_at = time.monotonic()
        self._out += data
        if not self._writing and not self._lost:
            self._writing = True
            self._loop.call_soon(self._flush)

    def drop(self) -> None:
        """Give up what is queued."""
        self._out.clear()

    def finish(self, last: bytes) -> None:
        """The last bytes, then the line as it was; waits as long as the terminal takes any."""
        self._quiet()
        self._writing = False
        self._out += last
        moved = time.monotonic()
        while self._out and not self._lost and time.monotonic() - moved < LAST_WORDS:
            select.select([], [self._device], [], LAST_WORDS)
            if self._send():
                moved = time.monotonic()
        self.cook()

    def close(self) -> None:
        """Let go; the guardian is told that all is in order."""
        self._quiet()
        if self._guardian is not None:
            self.confide(done=True)
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._guardian.communicate(timeout=LAST_WORDS)
        os.close(self._device)
        if self._keys is not None:
            os.close(self._keys)

    def _quiet(self) -> None:
        self.listen(on=False)
        self._loop.remove_writer(self._device)

    def _read(self) -> None:
        if not self._reading:
            return
        source = self._device if self._keys is None else self._keys
        try:
            data = os.read(source, CHUNK)
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody holds the other end any more
            data = b""
        if data:
            self.typed(data)
            if not self._polled and self._reading:
                self._loop.call_soon(self._read)
            return
        self.listen(on=False)
        if self._keys is None:
            self._hung_up()

    def _flush(self) -> None:
        if self._lost:
            return
        self._send()
        if self._out and not self._lost:
            self._loop.add_writer(self._device, self._flush)
        else:
            self._loop.remove_writer(self._device)
            self._writing = False
        self.taken()

    def _send(self) -> int:
        """One write of what is queued; how much of it was taken."""
        try:
            sent = os.write(self._device, self._out[:CHUNK]) if self._out else 0
        except BlockingIOError:
            return 0
        except OSError:
            self._hung_up()
            return 0
        if sent:
            self.moved_at = time.monotonic()
        del self._out[:sent]
        return sent

    def _hung_up(self) -> None:
        if not self._lost:
            self._quiet()
            self._lost = True
            self._out.clear()
            self.gone()


def reopen(descriptor: int) -> int:
    """The same terminal, opened anew and never waited for.

    By its own name first: macOS cannot poll /dev/tty. That one is for a name that is not ours to
    open (su) or not in our file system (a container).
    """
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        return os.open(os.ttyname(descriptor), flags)
    with contextlib.suppress(OSError):
        return os.open("/dev/tty", flags)
    message = "the terminal on standard output cannot be opened"
    raise HostError(message, hint="use host tmux")


def raw_of(attributes: list[Any], *, keyboard: bool) -> list[Any]:
    """The line with everything switched off; without a keyboard the keys that signal stay."""
    flags_in, flags_out, control, local, *speeds, characters = attributes
    flags_out &= ~termios.OPOST
    if keyboard:
        flags_in &= ~(
            termios.IGNBRK
            | termios.BRKINT
            | termios.PARMRK
            | termios.ISTRIP
            | termios.INPCK
            | termios.INLCR
            | termios.IGNCR
            | termios.ICRNL
            | termios.IXON
        )
        control = (control & ~(termios.CSIZE | termios.PARENB)) | termios.CS8
        local &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
        characters = list(characters)
        characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return [flags_in, flags_out, control, local, *speeds, characters]
