"""The bell: who holds the rope, what is heard, and that nobody ever waits for the listener."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from koboshi.hosts import bells, recorder
from koboshi.hosts.bells import Belfry, Bell, rope
from koboshi.hosts.ears import PACES, RETRY, Ear, Pace
from tests.hosts.waiting import until

WAITS = [False, True] if bells.dd_gives_up() else [True]


@contextmanager
def ringer(bell: Bell, *, waits: bool) -> Iterator[subprocess.Popen[bytes]]:
    """What tmux starts, with a pipe to it in our hand."""
    command = ["sh", "-c", rope(str(bell.path), waits=waits)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[bytes], data: bytes) -> None:
    """The agent prints."""
    assert process.stdin is not None
    while data:
        data = data[process.stdin.write(data) :]


async def attached(bell: Bell) -> None:
    """Wait until somebody holds the rope."""
    await until(lambda: not bell.rang() and bell.attached)


@pytest.mark.parametrize("waits", WAITS)
def test_each_piece_of_output_rings_once(tmp_path: Path, *, waits: bool) -> None:
    """And its end tells that nobody holds the rope."""

    async def run() -> None:
        bell = Bell(tmp_path, Belfry())
        assert (bell.rang(), bell.attached) == (False, False)
        with ringer(bell, waits=waits) as process:
            await attached(bell)
            for _ in range(3):
                say(process, b"output")
                await bell.wait(30)
                assert bell.rang() is True
                assert (bell.rang(), bell.attached) == (False, True)
            assert process.stdin is not None
            process.stdin.close()
            await bell.wait(30)
            assert (bell.rang(), bell.attached) == (True, False)
        bell.close()

    asyncio.run(run())


@pytest.mark.parametrize("waits", WAITS)
@pytest.mark.parametrize("listens", [True, False])
def test_nobody_waits_for_a_listener_that_does_not_read(
    tmp_path: Path, *, waits: bool, listens: bool
) -> None:
    """It gives up; what it leaves is not more than a pipe holds."""

    async def run() -> None:
        bell = Bell(tmp_path, Belfry())
        with ringer(bell, waits=waits) as process:
            await attached(bell)
            if not listens:
                bell.close()
            with pytest.raises(BrokenPipeError):
                say(process, b"x" * (1 << 25))
            process.wait(30)
        assert bell.path.is_fifo()
        bell.close()

    asyncio.run(run())


@pytest.mark.parametrize("waits", WAITS)
def test_without_a_fifo_nothing_is_made(tmp_path: Path, *, waits: bool) -> None:
    """The folder was cleared away: a file in its place would grow for ever."""
    command = ["sh", "-c", rope(str(tmp_path / "bell"), waits=waits)]
    subprocess.run(command, input=b"output", check=False, timeout=30)

    assert list(tmp_path.iterdir()) == []


def test_the_recorder_rings_where_somebody_listens(tmp_path: Path) -> None:
    """And does not mind where nobody does, nor where the bell is full."""

    async def run() -> None:
        recorder.ring(str(tmp_path))
        bell = Bell(tmp_path, Belfry())
        recorder.ring(str(tmp_path))
        assert bell.rang() is True
        rope_end = os.open(bell.path, os.O_WRONLY | os.O_NONBLOCK)
        assert os.write(rope_end, b"x" * (1 << 22)) < 1 << 22
        recorder.ring(str(tmp_path))
        os.close(rope_end)
        bell.close()
        recorder.ring(str(tmp_path))

    asyncio.run(run())


def test_a_bell_rings_that_was_not_listened_to(tmp_path: Path) -> None:
    """A stream is heard once per wait; none of it is lost between two."""

    async def run() -> None:
        belfry = Belfry()
        one, two = Bell(tmp_path, belfry), Bell(tmp_path / "..", belfry)
        ropes = [os.open(bell.path, os.O_WRONLY | os.O_NONBLOCK) for bell in (one, two)]
        try:
            assert not one.rang()
            await one.wait(0.001)
            os.write(ropes[0], b"1")
            os.write(ropes[1], b"2")
            await asyncio.gather(one.wait(30), two.wait(30))
            os.write(ropes[0], b"3")
            assert (one.rang(), two.rang()) == (True, True)
            assert (one.rang(), two.rang()) == (False, False)
            os.write(ropes[0], b"4")
            await two.wait(0.2)  # meanwhile the other rings, and nobody waits for it
            await one.wait(30)
            assert (one.rang(), two.rang()) == (True, False)
        finally:
            for each in ropes:
                os.close(each)
            one.close()
            two.close()
            belfry.close()

    (tmp_path / "a").mkdir()
    asyncio.run(run())


def test_who_waits_is_woken_when_the_bell_is_closed(tmp_path: Path) -> None:
    """Its terminal was forgotten."""

    async def run() -> None:
        bell = Bell(tmp_path, Belfry())
        waiting = bell.wait(60)
        bell.close()
        await asyncio.wait_for(waiting, 30)
        assert bell.closed

    asyncio.run(run())


class _Timers:
    """A loop of which only the timers are wanted: time passes when it is told to."""

    def __init__(self) -> None:
        self.now, self.set = 100.003, list[tuple[float, mock.Mock]]()
        self.create_future = asyncio.get_running_loop().create_future
        self.call_soon = asyncio.get_running_loop().call_soon

    def time(self) -> float:
        """Now."""
        return self.now

    def call_at(self, at: float, call: Callable[[int], None], end: int) -> mock.Mock:
        """Another timer."""
        timer = mock.Mock(call=call, end=end, taken_back=False)
        timer.cancel = lambda: setattr(timer, "taken_back", True)
        self.set.append((at, timer))
        return timer

    def go_on(self, seconds: float) -> list[float]:
        """Let time pass; when timers rang."""
        self.now += seconds
        due = [(at, timer) for at, timer in self.set if at <= self.now and not timer.taken_back]
        self.set = [each for each in self.set if each not in due]
        for _, timer in due:
            timer.call(timer.end)
        return [at for at, _ in due]


@contextmanager
def timed() -> Iterator[tuple[Belfry, _Timers]]:
    """Bells whose time is ours."""
    timers = _Timers()
    with mock.patch.object(bells, "asyncio", SimpleNamespace(get_running_loop=lambda: timers)):
        yield Belfry(), timers


def test_waits_never_end_early_and_those_of_one_moment_share_a_timer() -> None:
    """Who gave up waiting disturbs nobody; who waits for nothing is done at once."""

    async def run() -> None:
        with timed() as (belfry, timers):
            long, short, too, gone = (belfry.wait(each)[0] for each in (0.1, 0.03, 0.031, 0.03))
            gone.cancel()
            assert len(timers.set) == 2
            assert timers.go_on(0.03) == []
            assert len(timers.go_on(0.01)) == 1
            assert (short.done(), too.done(), long.done()) == (True, True, False)
            assert timers.go_on(0.05) == []
            assert len(timers.go_on(0.02)) == 1
            await long
            await belfry.wait(0)[0]
            assert timers.set == []

    asyncio.run(run())


def test_nobody_is_woken_for_those_who_were(tmp_path: Path) -> None:
    """The last bell of a moment that rings before its time takes the timer back."""

    async def run() -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        with timed() as (belfry, timers):
            one, two = (Bell(tmp_path / name, belfry) for name in ("a", "b"))
            with mock.patch.object(belfry, "watch"):
                waits = [one.wait(0.03), two.wait(0.03)]
            one.close()
            assert not timers.set[0][1].taken_back
            two.close()
            assert timers.set[0][1].taken_back
            await asyncio.gather(*waits)
            other, _ = belfry.wait(0.03)  # of the same moment, and not forgotten with them
            assert len(timers.go_on(0.05)) == 1
            await other

    asyncio.run(run())


def test_what_is_no_fifo_is_refused(tmp_path: Path) -> None:
    """Whoever put it there."""
    (tmp_path / "bell").write_text("x")
    with pytest.raises(OSError, match="not a FIFO"):
        Bell(tmp_path, Belfry())


def test_what_cannot_ring_is_looked_at_less_and_less() -> None:
    """Often while it moves; at once when it moves again."""
    now = 0.0
    pace = Pace(lambda: now)
    assert pace.due() == 0
    for shown, at, every in (
        ("a", 0.0, PACES[0][1]),
        ("a", 9.0, PACES[0][1]),
        ("a", 11.0, PACES[1][1]),
        ("a", 61.0, PACES[2][1]),
        ("a", 1000.0, PACES[3][1]),
        ("b", 1002.0, PACES[0][1]),
    ):
        now = at
        pace.saw(shown)
        assert pace.due() == pytest.approx(every)


def test_a_bell_that_cannot_be_hung_up_is_tried_again_later_and_later(tmp_path: Path) -> None:
    """Meanwhile we look by the clock: a person may do something with the output."""
    now, tries = 0.0, list[float]()

    async def attach() -> None:
        tries.append(now)

    async def run() -> None:
        nonlocal now
        ear = Ear(tmp_path, Belfry(), clock=lambda: now)
        assert await ear.stirred(60, attach) is True
        ear.pace.saw("x")
        while now < 8 * RETRY:
            now += 0.25
            await ear.stirred(0, attach)
        ear.close()

    asyncio.run(run())
    assert tries == [0.0, RETRY, 3 * RETRY, 7 * RETRY]
