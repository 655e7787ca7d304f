"""A program under the wrapper, in a terminal whose other end the test holds."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

import koboshi.errors
from koboshi.hosts.trees import MARK

SOURCE = Path(koboshi.errors.__file__).parent.parent
#: What puts every terminal back: a half-sent sequence given up, cursor, colours, characters.
REST_BEGINS, REST_ENDS = b"\x18\x1b\\\x1b[?2026l", b"\x1b[?25h\x1b[m\x0f\x1b(B"


def wrapped(*argv: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The command that runs that program under the wrapper."""
    return (sys.executable, "-m", "koboshi.daemon.foreground", *options, "--", *argv)


class Window:
    """A terminal of a person: what it was sent, what is typed there, and how it is set."""

    def __init__(
        self,
        *argv: str,
        state: Path,
        size: tuple[int, int] = (90, 25),
        env: Mapping[str, str] | None = None,
        **popen: Any,  # noqa: ANN401
    ) -> None:
        self.master, self.slave = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        os.set_blocking(self.master, False)
        self.process = subprocess.Popen(
            argv,
            **{"stdin": self.slave, "stdout": self.slave, "stderr": self.slave, **popen},
            env={
                **os.environ,
                "PYTHONPATH": str(SOURCE),
                "KOBOSHI_STATE": str(state),
                "TERM": "xterm-256color",
                **(env or {}),
            },
            start_new_session=True,
            preexec_fn=self._own,  # noqa: PLW1509 - the test has one thread
        )

    def _own(self) -> None:
        fcntl.ioctl(1, termios.TIOCSCTTY, 0)

    def resize(self, cols: int, rows: int) -> None:
        """The person drags the corner."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, seconds: float = 0.05) -> bytes:
        """What came within that time, at most one piece."""
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return b""
        self.shown += data
        return data

    def until(self, wanted: Callable[[], bool], seconds: float = 30) -> None:
        """Read until it is so."""
        deadline = time.monotonic() + seconds
        while not wanted():
            self.read()
            assert time.monotonic() < deadline, f"not so within {seconds} s: {self.shown[-600:]!r}"

    def until_shown(self, text: bytes, seconds: float = 30) -> None:
        """Read until that was written to the terminal."""
        self.until(lambda: text in self.shown, seconds)

    def type(self, data: bytes) -> None:
        """Type, reading what comes meanwhile."""
        while data:
            _, ready, _ = select.select([], [self.master], [], 0.05)
            if ready:
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(self.master, data[:4096]) :]
            self.read(0)

    def code(self, seconds: float = 30) -> int:
        """Wait for the wrapper's end; all it wrote has been read then."""
        self.until(lambda: self.process.poll() is not None, seconds)
        while self.read():
            pass
        return self.process.returncode

    def agent(self, seconds: float = 30) -> psutil.Process:
        """The program under the wrapper."""
        found: list[psutil.Process] = []

        def there() -> bool:
            with contextlib.suppress(psutil.Error):
                found[:] = [
                    child
                    for child in psutil.Process(self.process.pid).children(recursive=True)
                    if MARK in child.environ()
                ]
            return bool(found)

        self.until(there, seconds)
        return found[0]

    @property
    def attributes(self) -> list[Any]:
        """How the line is set."""
        return termios.tcgetattr(self.slave)

    @property
    def raw(self) -> bool:
        """Whether keys are passed as they are."""
        return not self.attributes[3] & (termios.ICANON | termios.ISIG | termios.ECHO)

    def restored(self) -> bool:
        """Whether the line is as it was found."""
        return self.attributes == self.before

    def close(self) -> None:
        """End what is left."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        for descriptor in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)


@contextlib.contextmanager
def window(*argv: str, state: Path, **more: Any) -> Iterator[Window]:  # noqa: ANN401
    """A window that is closed in the end."""
    opened = Window(*argv, state=state, **more)
    try:
        yield opened
    finally:
        opened.close()
