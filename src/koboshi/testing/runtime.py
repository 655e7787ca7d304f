"""Virtual time: a clock that only moves when told, and tasks that run in a fixed order."""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any

from koboshi.core.events import Moment
from koboshi.daemon.runtime import Nudge, shift_after
from koboshi.store.wire import Boot

#: Turns of all tasks within one call: more than any honest night needs, few enough to be told soon.
MOST_TURNS = 100_000
#: Seconds in which a nudge is noticed.
HEED = 0.05


class _Pause:
    """An awaitable that hands its duration to the runtime."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __await__(self) -> Generator[float, None, None]:
        yield self.seconds


class _Heed:
    """An awaitable that lets a coroutine run until it ends or a nudge is there."""

    __slots__ = ("nudge", "work")

    def __init__(self, work: Coroutine[Any, Any, bool], nudge: Nudge) -> None:
        self.work, self.nudge = work, nudge

    def __await__(self) -> Generator[float, None, bool]:
        try:
            while not self.nudge.given():
                try:
                    pause = self.work.send(None)
                except StopIteration as ended:
                    return bool(ended.value)
                until = pause
                while until > 0 and not self.nudge.given():
                    step = min(until, HEED)
                    yield step
                    until -= step
                if pause <= 0:
                    yield 0.0
            return False
        finally:
            self.work.close()


class FakeRuntime:
    """Implements `daemon.runtime.Runtime` without an event loop.

    `monotonic` is the machine's clock and `shift` what a supervisor adds to it; `utc` can be set to
    anything at any time, as a real wall clock can.
    """

    def __init__(self, *, utc: float = 1_800_000_000.0) -> None:
        self.monotonic = 0.0
        self.utc_ahead = utc  #: wall clock minus monotonic clock
        self.boot_id = "boot-1"
        self._shift = 0.0
        self._queue: list[tuple[float, int, Coroutine[Any, Any, None]]] = []
        self._order = 0

    # -- what a supervisor sees -----------------------------------------------------------------

    def now(self) -> Moment:
        """The time."""
        return Moment(at=self.monotonic + self._shift, utc=self.utc)

    @property
    def utc(self) -> float:
        """The wall clock."""
        return self.monotonic + self.utc_ahead

    def scale(self, monotonic: float) -> float:
        """The machine's time in the supervisor's."""
        return monotonic + self._shift

    def boot(self) -> Boot:
        """Which start of the machine this is."""
        return Boot(id=self.boot_id, shift=self._shift)

    def go_on(self, last: Moment, boot: Boot) -> None:
        """Make `at` go on after that moment."""
        self._shift = shift_after(last, boot, self.boot(), self.now())

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Let others run."""
        return _Pause(seconds)

    def heed(self, work: Coroutine[Any, Any, bool], nudge: Nudge) -> Awaitable[bool]:
        """Wait for the work or the nudge."""
        return _Heed(work, nudge)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Let that run beside, from now on."""
        self._push(self.monotonic, work)

    # -- what drives it -------------------------------------------------------------------------

    def run_until(self, end: float) -> None:
        """Run every task that is due by then, in order of time, and move the clock there."""
        turns = 0
        while self._queue and self._queue[0][0] <= end:
            turns += 1
            if turns > MOST_TURNS:
                raise RuntimeError(f"tasks go round in circles at {self.monotonic}")
            at, _, work = heapq.heappop(self._queue)
            self.monotonic = max(self.monotonic, at)
            try:
                pause = work.send(None)
            except StopIteration:
                continue
            self._push(self.monotonic + pause, work)
        self.monotonic = max(self.monotonic, end)

    def next_due(self) -> float | None:
        """When the next task wants to run."""
        return self._queue[0][0] if self._queue else None

    def kill(self) -> None:
        """Drop every task where it stands, as SIGKILL would, and the supervisor's shift."""
        queue, self._queue = self._queue, []
        for _, _, work in queue:
            work.close()
        self._shift = 0.0

    def _push(self, at: float, work: Coroutine[Any, Any, None]) -> None:
        self._order += 1
        heapq.heappush(self._queue, (at, self._order, work))
