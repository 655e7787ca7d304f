"""Runtime: time and tasks as a supervisor needs them; in production, and in a simulation."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from koboshi.core.events import Moment
from koboshi.store.wire import Boot

#: Objects between two searches for garbage: a look makes some hundred, and hardly a cycle.
GARBAGE = 20_000


def spare_the_collector() -> None:
    """Keep what a start made out of its sight, and let it search less often.

    A daemon lives for weeks on what it loaded in its first second; looking through that again and
    again was a twentieth of what watching costs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE, 20, 20)


class Nudge:
    """Wakes the one who waits; a nudge that comes while nobody waits is kept."""

    def __init__(self) -> None:
        self._given = False
        self.wake: Callable[[], object] = lambda: None  #: set by the runtime while one waits

    def give(self) -> None:
        """Wake the one who waits, at once; more nudges before that are the same one."""
        if not self._given:
            self._given = True
            self.wake()  # a second cancellation would count as somebody else's, and end the wait

    def given(self) -> bool:
        """Whether a nudge has not been taken yet."""
        return self._given

    def taken(self) -> bool:
        """Take the nudge, if there is one."""
        given, self._given = self._given, False
        return given


class Runtime(Protocol):
    """The clock, and a way to let something run beside."""

    def now(self) -> Moment:
        """The time; `at` never goes back, not even over a restart."""
        ...

    def scale(self, monotonic: float) -> float:
        """A host's monotonic time in ours."""
        ...

    def boot(self) -> Boot:
        """Which start of the machine this is, and what is added to its clock."""
        ...

    def go_on(self, last: Moment, boot: Boot) -> None:
        """Make `at` go on after that moment, by as much as has passed since."""
        ...

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Let others run."""
        ...

    def heed(self, work: Coroutine[Any, Any, bool], nudge: Nudge) -> Awaitable[bool]:
        """Wait for the work and give back what it says; a nudge ends it, and that is False."""
        ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Let that run beside."""
        ...


def shift_after(last: Moment, then: Boot, today: Boot, now: Moment) -> float:
    """What to add to the monotonic clock so that `at` goes on after `last`.

    Within one boot the old shift still fits, and the wall clock need not be asked. After a reboot
    it is all there is; law 7: clamped, so that a clock set back makes no negative age.
    """
    if then.id and then.id == today.id:
        return then.shift
    passed = max(0.0, now.utc - last.utc)
    return today.shift + last.at + passed - now.at


def _boot_id() -> str:
    """A name for this start of the machine; empty when it has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        import psutil  # noqa: PLC0415 - only where there is no /proc

        return f"{psutil.boot_time():.0f}"


class AsyncioRuntime:
    """Real time. `at` is the monotonic clock, shifted so that it goes on where a journal ended.

    The monotonic clock stands still while a laptop sleeps. That is wanted: an agent that slept,
    too, was not idle meanwhile.
    """

    def __init__(self) -> None:
        self._shift = time.time() - time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None

    def now(self) -> Moment:
        """The time."""
        return Moment(at=self.scale(time.monotonic()), utc=time.time())

    def scale(self, monotonic: float) -> float:
        """The machine's time in ours."""
        return monotonic + self._shift

    def boot(self) -> Boot:
        """Which start of the machine this is."""
        return Boot(id=_boot_id(), shift=self._shift)

    def go_on(self, last: Moment, boot: Boot) -> None:
        """Make `at` go on after that moment."""
        self._shift = shift_after(last, boot, self.boot(), self.now())

    async def sleep(self, seconds: float) -> None:
        """Let others run; what went wrong beside comes up here.

        A supervisor whose hands are broken looks healthy and does nothing. Better it ends: the next
        one settles what was left in doubt.
        """
        if self._failure is not None:
            raise self._failure
        await asyncio.sleep(seconds)

    async def heed(self, work: Coroutine[Any, Any, bool], nudge: Nudge) -> bool:
        """Wait for the work or the nudge; what went wrong beside comes up here, too."""
        if self._failure is not None:
            work.close()
            raise self._failure
        if nudge.given():
            work.close()
            return False
        # Without a task of its own, as `asyncio.timeout` does it: this is most of an idle life.
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - for the type checker
        before = task.cancelling()
        nudge.wake = task.cancel
        try:
            return await work
        except asyncio.CancelledError:
            if nudge.given() and task.uncancel() <= before:
                return False
            raise  # somebody else meant it
        finally:
            nudge.wake = lambda: None

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Let that run beside."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # the loop keeps only weak references
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = task.exception()

    async def cancel(self) -> None:
        """End what runs beside, and wait for it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
