"""The kernel tells who writes to a terminal: each once, what is gone, and what nobody can tell."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.hosts import bells, writes
from koboshi.hosts.bells import Belfry, Bell
from koboshi.hosts.ears import ONCE_MORE, Ear
from koboshi.hosts.recorder import ring
from koboshi.hosts.writes import ANYBODY, Writes, kernel_tells

pytestmark = pytest.mark.skipif(not kernel_tells(), reason="this kernel does not tell")


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of one."""
    ends = os.openpty()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


def test_many_writes_are_told_once_and_keys_not_at_all(terminal: tuple[int, int]) -> None:
    """What a person types is not written there; what the program makes of it is."""
    master, device = terminal
    heard: list[bool] = []
    with contextlib.closing(Writes()) as queue:
        number = queue.watch(os.ttyname(device), heard.append)
        for _ in range(3):
            os.write(device, b"x")
        queue.told()
        assert heard == [False]
        os.write(master, b"k")
        queue.told()
        queue.told()
        assert heard == [False]
        queue.unwatch(number)
        os.write(device, b"x")
        queue.told()
        assert heard == [False]


def test_the_end_of_a_terminal_is_told(terminal: tuple[int, int]) -> None:
    """Its name is given to another one."""
    master, device = terminal
    heard: list[bool] = []
    with contextlib.closing(Writes()) as queue:
        queue.watch(os.ttyname(device), heard.append)
        os.close(device)
        os.close(master)
        queue.told()
        assert heard == [True]


def test_who_writes_through_dev_tty_is_meant_for_all_but_not_always(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Somebody else's progress bar must not keep us busy."""
    door = tmp_path / "tty"
    door.touch()
    monkeypatch.setattr(writes, "_ANYBODY", str(door))
    heard: list[bool] = []
    now = 0.0
    with contextlib.closing(Writes(clock=lambda: now)) as queue:
        queue.watch(os.ttyname(terminal[1]), heard.append)
        for at, times in ((0.0, 1), (ANYBODY / 2, 1), (ANYBODY, 2)):
            now = at
            door.write_text("x")
            queue.told()
            assert len(heard) == times


def test_a_bell_hears_the_terminal_and_the_recorder(
    terminal: tuple[int, int], tmp_path: Path
) -> None:
    """And lets go when the terminal is gone."""
    master, device = terminal

    async def run() -> None:
        belfry = Belfry()
        bell = Bell(tmp_path, belfry)
        assert bell.listen(os.ttyname(device))
        assert (bell.rang(), bell.attached) == (False, True)
        os.write(device, b"x")
        await bell.wait(30)
        assert (bell.rang(), bell.rang(), bell.attached) == (True, False, True)
        ring(str(tmp_path))
        await bell.wait(30)
        assert (bell.rang(), bell.rang(), bell.attached) == (True, False, True)
        os.close(device)
        os.close(master)
        await bell.wait(30)
        assert (bell.rang(), bell.told, bell.attached) == (True, False, False)
        bell.close()
        belfry.close()

    asyncio.run(run())


def test_where_the_kernel_does_not_tell_the_bell_says_so(
    terminal: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then tmux must ring."""
    monkeypatch.setattr(bells, "kernel_tells", lambda: False)

    async def run() -> None:
        bell = Bell(tmp_path, Belfry())
        assert not bell.listen(os.ttyname(terminal[1]))
        bell.close()

    asyncio.run(run())


def test_what_rang_is_looked_at_once_more(terminal: tuple[int, int], tmp_path: Path) -> None:
    """A write is told before tmux has read it; the first look may have come too soon."""
    now = 0.0

    async def run() -> None:
        nonlocal now
        belfry = Belfry()
        ear = Ear(tmp_path, belfry, clock=lambda: now)

        async def attach() -> None:
            assert ear.listen(os.ttyname(terminal[1]))

        assert await ear.stirred(0, attach) is True
        os.write(terminal[1], b"x")
        assert await ear.stirred(30, attach) is True
        assert await ear.stirred(0.01, attach) is False
        now += ONCE_MORE
        assert await ear.stirred(0.01, attach) is True
        assert await ear.stirred(0.01, attach) is False
        ear.typed()
        assert await ear.stirred(0.01, attach) is True
        ear.close()
        belfry.close()

    asyncio.run(run())
