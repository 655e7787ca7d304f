"""How late timers may be: those of our own tmux server, a little later than usual. Linux only.

tmux sets a timer of 10 ms whenever a cursor moves, and asks the kernel about every terminal it has
whenever it wakes. Where a hundred agents print, that is costly. Up to 10 ms late these timers fall
together with what wakes it anyway: of 203 wake-ups a second 117 are left.

The slack of another process cannot be set without privileges, but a new one inherits ours. What it
starts would inherit it, too: the recorder gives every program the usual one back. A shell that a
person opens in our server keeps it.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from pathlib import Path

from koboshi.hosts.recorder import SLACK


@contextlib.contextmanager
def lenient_children() -> Iterator[None]:
    """What this thread starts meanwhile may be woken late."""
    path = Path(f"/proc/{threading.get_native_id()}/timerslack_ns")
    try:
        usual = _usual(path)
        path.write_text(str(SLACK), encoding="ascii")
    except OSError:  # another system, or a /proc that is read-only: it only costs more
        yield
        return
    try:
        yield
    finally:
        path.write_text(usual, encoding="ascii")


@functools.cache
def _usual(path: Path) -> str:
    """As it was before the first time: two at once must not take each other's for it."""
    return path.read_text(encoding="ascii").strip()
