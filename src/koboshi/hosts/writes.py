"""Who writes to a terminal, told by the kernel: inotify on the device that the agent writes to.

The cheapest bell there is: no process, no pipe, and tmux has nothing to do for it. Nobody can wait
for us, and nothing is left behind: a queue that nobody reads is cut off at a fixed length.

Traps:

- A write is told before tmux has read it: a look at once may show what was there before (ears.py
  looks a second time).
- What is written through `/dev/tty` belongs to that device and to no terminal: whoever does that,
  all are told, at most so often.
- What the kernel itself echoes, in front of a program that reads whole lines, is not written.
- The device goes when its terminal does, and another one gets its name.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    #: Told True when it was the last time: the device is gone.
    Hear = Callable[[bool], None]

#: Seconds between two words about `/dev/tty`.
ANYBODY = 2.0
_ANYBODY = "/dev/tty"
_EVENT = struct.Struct("iIII")
_MODIFIED, _OVERFLOW, _IGNORED = 0x2, 0x4000, 0x8000
_CHUNK = 1 << 16


class Writes:
    """One inotify queue. OSError where there is none."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fd = _call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        self._hear: dict[int, Hear] = {}
        self._clock = clock
        self._anybody_at = float("-inf")
        self._anybody = -1
        with contextlib.suppress(OSError):  # where nobody can open it nobody writes to it
            self._anybody = self._add(_ANYBODY)

    def fileno(self) -> int:
        """Can be read when there is news."""
        return self._fd

    def watch(self, device: str, hear: Hear) -> int:
        """Call `hear` when something was written there; the number is for `unwatch`."""
        number = self._add(device)
        self._hear[number] = hear
        return number

    def unwatch(self, number: int) -> None:
        """Call no more."""
        if self._hear.pop(number, None) is not None:
            with contextlib.suppress(OSError):  # the device is gone
                _call("inotify_rm_watch", self._fd, number)

    def told(self) -> None:
        """Tell all that there is, each once."""
        news: dict[int, int] = {}
        with contextlib.suppress(BlockingIOError):
            piece = os.read(self._fd, _CHUNK)
            at = 0
            while at < len(piece):
                number, mask, _, length = _EVENT.unpack_from(piece, at)
                news[number] = news.get(number, 0) | mask
                at += _EVENT.size + length
        for number in self._meant(news):
            gone = bool(news.get(number, 0) & _IGNORED)
            hear = self._hear.pop(number, None) if gone else self._hear.get(number)
            if hear is not None:
                hear(gone)

    def _meant(self, news: dict[int, int]) -> list[int]:
        if any(mask & _OVERFLOW for mask in news.values()):
            return list(self._hear)
        if self._anybody in news and self._clock() >= self._anybody_at + ANYBODY:
            self._anybody_at = self._clock()
            return list(self._hear)
        return list(news)

    def close(self) -> None:
        """Tell nobody any more."""
        self._hear.clear()
        os.close(self._fd)

    def _add(self, device: str) -> int:
        return _call("inotify_add_watch", self._fd, os.fsencode(device), _MODIFIED)


def _call(name: str, *words: int | bytes) -> int:
    """A function of the C library; OSError when it fails, or is none."""
    function = getattr(_library(), name, None)
    if function is None:
        raise OSError(f"there is no {name}")
    done = int(function(*words))
    if done < 0:
        raise OSError(ctypes.get_errno(), name)
    return done


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def kernel_tells() -> bool:
    """Whether a write to a terminal is told: tried once, on a terminal of our own."""
    try:
        master, device = os.openpty()
    except OSError:
        return False
    heard: list[bool] = []
    try:
        with contextlib.closing(Writes()) as writes:
            writes.watch(os.ttyname(device), heard.append)
            os.write(device, b"x")
            writes.told()
    except OSError:
        return False
    finally:
        os.close(master)
        os.close(device)
    return heard == [False]
