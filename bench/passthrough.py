"""A program in a PTY, directly and under the foreground wrapper: echo of a key, and output."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .figures import Figure, NotMeasured, count

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = 500
MEGABYTES = 20
_READY = b"ready:"
_PATIENCE = 60.0  # seconds
#: Echoes each key; a `!` makes it write as many lines as its argument says.
_PROGRAM = """
import os, sys, tty
tty.setraw(0)
line = b"the quick brown fox jumps over the lazy dog and on it goes ...\\r\\n"
os.write(1, b"ready:")
while key := os.read(0, 1):
    data = line * int(sys.argv[1]) + b"done." if key == b"!" else key
    while data:
        data = data[os.write(1, data[:65536]):]
"""


def measure_passthrough(scale: float) -> tuple[Figure, ...]:
    """Both ways in turns, in one run: only their ratio says something about another machine."""
    lines = count(MEGABYTES * 16_384, scale, least=100)
    program = (sys.executable, "-c", _PROGRAM, str(lines))
    wrapper = (sys.executable, "-m", "koboshi.daemon.foreground", "--set", "mode=0", "--")
    keys = count(KEYS, scale, least=5)
    with terminal(*program) as direct, terminal(*wrapper, *program) as wrapped:
        echoes: list[tuple[float, float]] = [
            (echo(direct, b"x"), echo(wrapped, b"x")) for _ in range(keys)
        ]
        poured = pour(direct), pour(wrapped)
    alone, through = (statistics.median(each) * 1e6 for each in zip(*echoes, strict=True))
    rates = [lines * 64 / 1e6 / seconds for seconds in poured]
    return (
        Figure(key="echo_direct", value=alone, unit="µs"),
        Figure(key="echo_wrapped", value=through, unit="µs", aim="< 1000"),
        Figure(key="echo_ratio", value=through / alone, unit="× (wrapped:direct)"),
        Figure(key="output_direct", value=rates[0], unit="MB/s"),
        Figure(key="output_wrapped", value=rates[1], unit="MB/s"),
        Figure(key="output_ratio", value=rates[1] / rates[0], unit="× (wrapped:direct)"),
    )


@contextmanager
def terminal(*argv: str) -> Iterator[int]:
    """The master of a terminal with that program in it, once it listens."""
    master, slave = pty.openpty()
    with tempfile.TemporaryDirectory(prefix="koboshi-bench-") as state:
        process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "KOBOSHI_STATE": state},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(slave)
        try:
            until(master, _READY)
            yield master
        finally:
            process.terminate()
            drain(master, process)
            os.close(master)


def drain(master: int, process: subprocess.Popen[bytes]) -> None:
    """Take what comes until the process has ended: it may wait for us to read."""
    deadline = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if select.select([master], [], [], 0.05)[0]:
            try:
                os.read(master, 65536)
            except OSError:
                break
    process.wait(_PATIENCE)


def until(master: int, end: bytes) -> None:
    """Read until that came."""
    last = b""
    while end not in last:
        if not select.select([master], [], [], _PATIENCE)[0]:
            raise NotMeasured(f"expected {end!r}, and came {last!r}")
        last = last[-16:] + os.read(master, 65536)


def echo(master: int, key: bytes) -> float:
    """Seconds from a key to its echo."""
    begun = time.perf_counter()
    os.write(master, key)
    until(master, key)
    return time.perf_counter() - begun


def pour(master: int) -> float:
    """Seconds for all the lines."""
    begun = time.perf_counter()
    os.write(master, b"!")
    until(master, b"done.")
    return time.perf_counter() - begun
