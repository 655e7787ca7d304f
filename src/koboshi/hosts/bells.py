"""A bell per terminal: something was printed there, look again. What was printed is not kept.

Where the kernel tells of writes to a terminal (writes.py) that is all it takes, and the FIFO in the
run's folder is only for the recorder. Elsewhere:

tmux pipes a pane's output into `dd`, and `dd` into a FIFO in the run's folder; we only notice that
there is something to read, and throw it away. No agent may ever wait for us, and tmux may not grow:

- We read too slowly, or are stopped: the FIFO is full after 64 KiB, `dd` may not wait for it
  (`oflag=nonblock`), gives up and ends. tmux takes the pipe away and goes on without.
- We are dead: nobody reads the FIFO, `dd` ends at the next output. An idle one waits, and rings
  for the next supervisor.

Where `dd` cannot do that (macOS, busybox) it copies so little that any FIFO holds it, and ends.

Traps:

- `pipe-pane -o` closes a pipe that is there, and a person may log the agent with it: ask `piped`.
- With `-O` alone tmux 3.3a notices the end of `dd` only when it has something to write; `-I` makes
  it watch the other direction, which leads nowhere.
- A FIFO without a writer is readable for ever: wait only while there is one.
- Opened for reading and writing (`<>`) a FIFO needs nobody at the other end; opened for writing
  alone, a `dd` that can only wait would hang there, and tmux would keep all that it has for it.
- A pane that died keeps its pipe; the recorder rings for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import os
import selectors
import shlex
import stat
import subprocess
from typing import TYPE_CHECKING

from koboshi.hosts.recorder import BELL
from koboshi.hosts.writes import Writes, kernel_tells

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from koboshi.hosts.control import Command
    from koboshi.hosts.writes import Hear

#: Seconds in which bells that ring are told together: for one, for each more, and at most.
MOMENT, MOMENT_EACH, MOMENT_MOST = 0.03, 0.002, 0.2
#: Waits that end within so many seconds of each other end together: a hundred that print would set
#: and take back 150 timers a second.
TOGETHER = 0.01
#: Bytes for one read: all that a FIFO holds, on Linux.
_CHUNK = 1 << 16
#: Reads before others get their turn: the rest of a flood rings again.
_READS = 4
#: Where `dd` can only wait: reads of so many bytes, and so many reads. 4 KiB fit everywhere.
_BLOCK, _BLOCKS = 256, 16


class _Wait:
    """Those who wait until the same moment, and how many of them nothing else has woken."""

    __slots__ = ("left", "those", "timer")

    def __init__(self, timer: asyncio.TimerHandle) -> None:
        self.timer = timer
        self.those: list[asyncio.Future[None]] = []
        self.left = 0


class Belfry:
    """All bells of one host. What rings within a moment is told together.

    A hundred agents that print would wake us a hundred times a second, and tmux as often for the
    looks that follow; so it is five times, for all of them. A frame becomes whole meanwhile, too.
    """

    def __init__(self) -> None:
        self._bells = selectors.DefaultSelector()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writes: Writes | None = None
        self._waits: dict[int, _Wait] = {}

    def wait(self, seconds: float) -> tuple[asyncio.Future[None], int]:
        """Done after that time, or a moment later; the number is for `no_wait`."""
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        end = math.ceil((loop.time() + seconds) / TOGETHER)
        if seconds <= 0:
            loop.call_soon(_done, ready)
            return ready, 0
        wait = self._waits.get(end)
        if wait is None:
            timer = loop.call_at(end * TOGETHER, self._over, end)
            wait = self._waits[end] = _Wait(timer)
        wait.those.append(ready)
        wait.left += 1
        return ready, end

    def no_wait(self, end: int) -> None:
        """One who waits until then needs not: nobody is woken for nobody."""
        wait = self._waits.get(end)
        if wait is not None:
            wait.left -= 1
            if not wait.left:
                wait.timer.cancel()
                del self._waits[end]

    def _over(self, end: int) -> None:
        for ready in self._waits.pop(end).those:
            _done(ready)

    def watch(self, fifo: int, ring: Callable[[], None]) -> None:
        """Call `ring` when something can be read, once for each time that this is called."""
        self._bells.register(fifo, selectors.EVENT_READ, ring)
        self._begin()

    def listen(self, device: str, hear: Hear) -> int:
        """Call `hear` when something is written to that terminal; OSError where nobody tells."""
        if not kernel_tells():
            raise OSError("the kernel does not tell")
        if self._writes is None:
            self._writes = Writes()
            self._bells.register(self._writes, selectors.EVENT_READ, self._writes.told)
            self._begin()
        return self._writes.watch(device, hear)

    def leave(self, number: int) -> None:
        """Call no more."""
        if self._writes is not None:
            self._writes.unwatch(number)

    def _begin(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._bells, self._first)

    def unwatch(self, fifo: int) -> None:
        """Call no more."""
        with contextlib.suppress(KeyError):
            self._bells.unregister(fifo)

    def close(self) -> None:
        """No bell is watched any more."""
        if self._loop is not None:
            self._loop.remove_reader(self._bells)
            self._loop = None
        self._bells.close()
        if self._writes is not None:
            self._writes.close()
            self._writes = None

    def _first(self) -> None:
        """One rang: see in a moment which others did."""
        if self._loop is not None:
            self._loop.remove_reader(self._bells)
            moment = min(MOMENT + MOMENT_EACH * len(self._bells.get_map()), MOMENT_MOST)
            self._loop.call_later(moment, self._all)

    def _all(self) -> None:
        if self._loop is None:
            return
        for key, _ in self._bells.select(0):
            key.data()
        self._loop.add_reader(self._bells, self._first)


class Bell:
    """The listening end of one FIFO; only one may listen."""

    def __init__(self, folder: Path, belfry: Belfry) -> None:
        self.path = folder / BELL
        with contextlib.suppress(FileExistsError):
            os.mkfifo(self.path, 0o600)
        self._fifo = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        if not stat.S_ISFIFO(os.fstat(self._fifo).st_mode):
            os.close(self._fifo)
            raise OSError(f"{self.path} is not a FIFO")
        #: Whether somebody holds the rope: without, silence means nothing.
        self.attached = False
        self._belfry = belfry
        self._watched = self._heard = False
        self._waiting: asyncio.Future[None] | None = None
        self._end = 0
        self._device = self._rope = -1

    @property
    def told(self) -> bool:
        """Whether the kernel tells, which it does before tmux has read what was written."""
        return self._device >= 0

    def listen(self, device: str) -> bool:
        """Let the kernel tell of what is written to that terminal; False where it does not."""
        try:
            self._device = self._belfry.listen(device, self._hear)
        except OSError:
            return False
        # Held by ourselves: without a writer the FIFO would be readable for ever.
        self._rope = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        self.attached = True
        return True

    def _hear(self, gone: bool) -> None:  # noqa: FBT001 - see writes.py
        self._heard = True
        if gone:
            self._let_go()
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
            self._belfry.no_wait(self._end)

    def _let_go(self) -> None:
        if self.told:
            self._belfry.leave(self._device)
            os.close(self._rope)
            self._device = self._rope = -1

    def rang(self) -> bool:
        """Whether it rang since it was asked last; learns who holds the rope."""
        heard, self._heard = self._heard, False
        if self.told:
            return heard  # the recorder's ring is heard by who waits, and stays until then
        for _ in range(_READS):
            try:
                piece = os.read(self._fifo, _CHUNK)
            except BlockingIOError:
                self.attached = True
                return heard
            self.attached = bool(piece)
            if not piece:
                return heard
            heard = True
        return heard

    def wait(self, seconds: float) -> asyncio.Future[None]:
        """Done when it rings or is closed, or that time is over; only while `attached`."""
        if not self._watched:
            self._belfry.watch(self._fifo, self._ring)
            self._watched = True
        self._waiting, self._end = self._belfry.wait(seconds)
        return self._waiting

    def _ring(self) -> None:
        # It can be read for as long as nobody reads it. What nobody waits for stays unread until
        # somebody does: a stream wakes us once per look, not once per piece.
        if self._waiting is None or self._waiting.done():
            self._unwatch()
            return
        self._heard = True
        with contextlib.suppress(BlockingIOError):
            if not os.read(self._fifo, _CHUNK):
                self._unwatch()  # nobody holds the rope: readable for ever
        self._wake()

    def _unwatch(self) -> None:
        if self._watched:
            self._belfry.unwatch(self._fifo)
            self._watched = False

    @property
    def closed(self) -> bool:
        """Whether nobody listens any more."""
        return self._fifo < 0

    def close(self) -> None:
        """Listen no more; who waits is woken."""
        if self.closed:
            return
        self._let_go()
        self._unwatch()  # before the number is given to another file
        os.close(self._fifo)
        self._fifo = -1
        self._wake()


def _done(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def attach(pane: str, fifo: Path) -> Command:
    """Let the output of that pane ring. It takes away what was there: ask `piped` before."""
    # tmux expands `#` and, as strftime does, `%`.
    script = rope(str(fifo), waits=not dd_gives_up()).replace("#", "##").replace("%", "%%")
    return ("pipe-pane", "-IO", "-t", pane, script)


def piped(pane: str) -> Command:
    """Print 1 if something is done with the output of that pane already, and its device."""
    return ("display-message", "-p", "-t", pane, "#{pane_pipe} #{pane_tty}")


def rope(fifo: str, *, waits: bool) -> str:
    """What rings for each piece of output. With `-I`, what it printed would be typed: nothing."""
    where = shlex.quote(fifo)
    if waits:
        copy = f"exec dd bs={_BLOCK} count={_BLOCKS} >&3 2>/dev/null"
        return f"test -p {where} && exec 3<>{where} && {copy}"
    flags = "oflag=nonblock conv=nocreat,notrunc"
    return f"exec dd bs={_CHUNK} {flags} of={where} >/dev/null 2>&1"


@functools.cache
def dd_gives_up() -> bool:
    """Whether `dd` can give up instead of waiting."""
    words = ["dd", "if=/dev/null", "of=/dev/null", "oflag=nonblock"]
    try:
        return subprocess.run(words, check=False, capture_output=True, timeout=5).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
