"""Time that goes on over restarts, reboots and clocks that are set back."""

from __future__ import annotations

import asyncio

import pytest

from koboshi.core.events import Moment
from koboshi.daemon.runtime import AsyncioRuntime, Nudge, shift_after
from koboshi.store.wire import Boot
from koboshi.testing import FakeRuntime

LAST = Moment(at=5_000.0, utc=1_000_000.0)

#: (boot of the journal, today's boot, the time by today's shift, `at` expected at that instant)
TABLE = {
    "same boot: the monotonic clock alone": (
        Boot(id="a", shift=4_000.0), Boot(id="a", shift=7.0), Moment(at=1_107.0, utc=9e9), 5_100.0,
    ),
    "same boot, wall clock set back": (
        Boot(id="a", shift=4_000.0), Boot(id="a", shift=7.0), Moment(at=1_107.0, utc=5.0), 5_100.0,
    ),
    "reboot: by the wall clock": (
        Boot(id="a", shift=4_000.0), Boot(id="b", shift=0.0), Moment(at=30.0, utc=1_000_060.0),
        5_060.0,
    ),
    "reboot, wall clock set back: clamped": (
        Boot(id="a", shift=4_000.0), Boot(id="b", shift=0.0), Moment(at=30.0, utc=999_000.0),
        5_000.0,
    ),
    "boots without a name": (
        Boot(), Boot(), Moment(at=30.0, utc=1_000_010.0), 5_010.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_time_goes_on_where_the_journal_ended(name: str) -> None:
    """By as much as has passed, never back."""
    then, today, now, expected = TABLE[name]
    monotonic = now.at - today.shift

    assert monotonic + shift_after(LAST, then, today, now) == pytest.approx(expected)


def test_a_killed_supervisor_goes_on_in_the_same_boot() -> None:
    """The fake clock and the real rule."""
    runtime = FakeRuntime()
    runtime.go_on(Moment(at=500.0, utc=runtime.utc - 10.0), Boot(id="old", shift=0.0))
    before, boot = runtime.now(), runtime.boot()
    runtime.kill()
    runtime.monotonic += 60.0
    runtime.utc_ahead -= 9_999.0
    runtime.go_on(before, boot)

    assert before.at == 510.0
    assert runtime.now().at == 570.0


def test_the_real_clock_goes_on_and_never_back() -> None:
    """Same machine, same boot."""
    first = AsyncioRuntime()
    last, boot = first.now(), first.boot()
    second = AsyncioRuntime()
    second.go_on(last, boot)

    assert boot.id
    assert second.boot() == boot
    assert 0.0 <= second.now().at - last.at < 60.0


def test_tasks_beside_are_ended_with_the_runtime() -> None:
    """Nothing is left running."""

    async def scene() -> list[str]:
        runtime, said = AsyncioRuntime(), []

        async def work() -> None:
            said.append("begun")
            try:
                await runtime.sleep(1000.0)
            finally:
                said.append("ended")

        runtime.spawn(work())
        await runtime.sleep(0)
        await runtime.cancel()
        return said

    assert asyncio.run(scene()) == ["begun", "ended"]


def test_a_task_that_breaks_ends_the_one_who_waits() -> None:
    """A supervisor with broken hands looks healthy and does nothing; better it ends."""

    async def breaks() -> None:
        raise LookupError("a bug")

    async def main() -> None:
        runtime = AsyncioRuntime()
        runtime.spawn(breaks())
        for _ in range(3):
            await runtime.sleep(0)

    with pytest.raises(LookupError, match="a bug"):
        asyncio.run(main())


def test_a_nudge_ends_the_wait() -> None:
    """One that came before it, too; work that is done first says what it has to say."""

    async def run() -> None:
        runtime, nudge = AsyncioRuntime(), Nudge()
        ended: list[str] = []

        async def work(seconds: float) -> bool:
            try:
                await asyncio.sleep(seconds)
            except asyncio.CancelledError:
                ended.append("cut short")
                raise
            return True

        asyncio.get_running_loop().call_soon(nudge.give)
        assert await runtime.heed(work(60), nudge) is False
        assert (ended, nudge.taken(), nudge.taken()) == (["cut short"], True, False)
        nudge.give()
        assert await runtime.heed(work(60), nudge) is False
        assert (nudge.taken(), ended) == (True, ["cut short"])
        assert await runtime.heed(work(0), nudge) is True
        nudge.give()  # to nobody: it wakes no later wait of somebody else
        await asyncio.sleep(0)

    asyncio.run(run())


def test_nudges_that_come_together_wake_once() -> None:
    """Two hooks in one moment: the one who waits is not taken for one who is to end."""

    async def main() -> None:
        runtime, nudge = AsyncioRuntime(), Nudge()

        def twice() -> None:
            nudge.give()
            nudge.give()

        asyncio.get_running_loop().call_later(0.01, twice)

        assert await runtime.heed(asyncio.sleep(60, result=True), nudge) is False
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    asyncio.run(main())


def test_whoever_is_cancelled_while_it_waits_is_cancelled() -> None:
    """A nudge at the same moment does not change that."""

    async def run() -> None:
        runtime, nudge = AsyncioRuntime(), Nudge()

        async def wait() -> bool:
            return await runtime.heed(asyncio.sleep(60, result=True), nudge)

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        nudge.give()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_what_went_wrong_beside_comes_up_where_one_waits() -> None:
    """Broken hands are no reason to wait on."""

    async def run() -> None:
        runtime = AsyncioRuntime()

        async def broken() -> None:
            raise OSError("broken")

        runtime.spawn(broken())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(OSError, match="broken"):
            await runtime.heed(asyncio.sleep(60, result=True), Nudge())

    asyncio.run(run())


def test_two_nudges_at_once_wake_once() -> None:
    """Two outcomes in one moment: the second must not look like somebody's end."""

    async def main() -> list[bool]:
        runtime, nudge = AsyncioRuntime(), Nudge()

        async def waits() -> bool:
            await asyncio.sleep(30.0)
            return True

        loop = asyncio.get_running_loop()
        loop.call_later(0.01, nudge.give)
        loop.call_later(0.01, nudge.give)
        woken = await runtime.heed(waits(), nudge)
        return [woken, nudge.taken(), nudge.taken()]

    assert asyncio.run(main()) == [False, True, False]
