"""Bells in a real tmux: whatever becomes of the supervisor, no agent waits and nothing grows."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from koboshi.hosts import bells, writes
from koboshi.hosts.base import Key, Place
from koboshi.hosts.recorder import BELL
from koboshi.hosts.tmux import TmuxHost
from tests.hosts.stirs import LONG, at_rest
from tests.hosts.test_tmux import launch, opened, tmux
from tests.hosts.waiting import kept, program, until, until_text

pytestmark = pytest.mark.tmux

#: Megabytes that an agent prints while nobody listens, and how much tmux may grow meanwhile.
FLOOD, GROWTH = 200, 40


@pytest.fixture(params=[True, False], ids=["told", "piped"])
def told(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both bells: the kernel tells of writes, or tmux pipes them into `dd`."""
    tells: bool = request.param
    if tells and not writes.kernel_tells():
        pytest.skip("this kernel does not tell of writes to a terminal")
    _tell(monkeypatch, tells=tells)
    return tells


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the pipe."""
    _tell(monkeypatch, tells=False)


def _tell(monkeypatch: pytest.MonkeyPatch, *, tells: bool) -> None:
    monkeypatch.setattr(bells, "kernel_tells", lambda: tells)
    monkeypatch.setenv("KEEPER_IS_TOLD", "1" if tells else "")


def server_of(host: TmuxHost) -> psutil.Process:
    """The tmux server."""
    return psutil.Process(int(tmux(host, "display-message", "-p", "#{pid}")))


def helpers(server: psutil.Process) -> list[psutil.Process]:
    """The programs that ring, or will."""
    return [p for p in server.children(recursive=True) if _is_dd(p)]


def _is_dd(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.name() == "dd"
    return False


def ringing(server: psutil.Process) -> bool:
    """Whether one of them has its bell in hand: it has its name before that."""
    return any(map(_holds_a_bell, helpers(server)))


def _holds_a_bell(process: psutil.Process) -> bool:
    if not Path("/proc/self/fd").exists():
        return True
    with suppress(OSError):
        open_files = Path(f"/proc/{process.pid}/fd").iterdir()
        return any(file.readlink().name == BELL for file in open_files)
    return False


async def flooded(host: TmuxHost, place: Place, state: Path) -> None:
    """Wait for the end of the flood; tmux does not grow, and no file does."""
    server = server_of(host)
    before = most = server.memory_info().rss
    while "flood done" not in (await host.look(place)).text:
        most = max(most, server.memory_info().rss)
        await asyncio.sleep(0.05)
    assert (most - before) >> 20 < GROWTH
    assert len(helpers(server)) <= 1
    sizes = [p.stat().st_size for p in (state / "runs").rglob("*") if not p.is_fifo()]
    assert max(sizes) < 1 << 16


async def hung_up(host: TmuxHost, *, told: bool = False) -> None:
    """Wait until there is what rings; what the kernel tells needs nobody."""
    server = server_of(host)
    await until(lambda: not helpers(server) if told else ringing(server))


async def hears(host: TmuxHost, place: Place, *, told: bool = False) -> None:
    """A key that is echoed is heard, by the bell and not by the clock."""
    await at_rest(host, place)
    await hung_up(host, told=told)
    await at_rest(host, place)
    (ear,) = host._ears.values()  # noqa: SLF001
    await host.type(place, (Key(name="y"),))
    assert await host.stirred(place, LONG) is True
    assert ear._bell is not None  # noqa: SLF001
    assert ear._bell.attached  # noqa: SLF001


@asynccontextmanager
async def beside(tmp_path: Path) -> AsyncIterator[TmuxHost]:
    """A second host on the server of a supervisor in another process."""
    socket = f"test-{secrets.token_hex(4)}"
    async with opened(tmp_path, socket) as host:
        yield host


@pytest.mark.timeout(300)  # 200 MB through tmux on a busy machine
@pytest.mark.parametrize("blow", [signal.SIGSTOP, signal.SIGKILL])
def test_a_supervisor_that_is_frozen_or_dead_holds_nobody_up(
    blow: signal.Signals, tmp_path: Path, *, told: bool
) -> None:
    """The agent prints on, tmux and the bell stay small; whoever comes back sees the last screen.

    The next supervisor hangs the bell up again.
    """

    async def run() -> None:
        async with beside(tmp_path) as host:
            argv = program("flood", FLOOD, "wait")
            with kept(host._server[1], tmp_path, *argv) as keeper:  # noqa: SLF001
                (place,) = await host.find("kept")
                await hung_up(host, told=told)
                await until((tmp_path / "seen").exists)
                os.kill(keeper.pid, blow)
                await host.type(place, (Key(name="Enter"),))
                await flooded(host, place, tmp_path)
                if blow is signal.SIGSTOP:
                    os.kill(keeper.pid, signal.SIGCONT)
                    await until(lambda: (tmp_path / "seen").read_text() == "done")
                    keeper.kill()
                keeper.wait()
            assert await asyncio.wait_for(host.stirred(place, LONG), LONG / 2) is True
            assert "flood done" in (await host.look(place)).text
            await hears(host, place, told=told)

    asyncio.run(run())


@pytest.mark.usefixtures("piped")
def test_an_idle_agent_rings_for_the_next_supervisor(tmp_path: Path) -> None:
    """The rope of the old one is still there: nothing need be started."""

    async def run() -> None:
        async with beside(tmp_path) as host:
            with kept(host._server[1], tmp_path, *program("show")) as keeper:  # noqa: SLF001
                (place,) = await host.find("kept")
                await until_text(host, place, "pid=")
                await until(lambda: ringing(server_of(host)))
                keeper.kill()
                keeper.wait()
            (old,) = helpers(server_of(host))
            assert await asyncio.wait_for(host.stirred(place, LONG), LONG / 2) is True
            await hears(host, place)
            assert old.is_running()

    asyncio.run(run())


@pytest.mark.usefixtures("piped")
def test_what_a_person_does_with_the_output_is_left_alone(tmp_path: Path) -> None:
    """We look by the clock until the person is done with it."""
    log = tmp_path / "log"

    async def run() -> None:
        async with opened(tmp_path / "state") as host:
            place = await host.start(launch("show"))
            await until_text(host, place, "pid=")
            tmux(host, "pipe-pane", "-t", place.id, f"exec cat >> {log}")
            while "y" not in (await host.look(place)).text:
                await host.type(place, (Key(name="y"),))
                assert await host.stirred(place, LONG) is True
            await until(lambda: log.exists() and "y" in log.read_text())
            assert tmux(host, "display-message", "-p", "-t", place.id, "#{pane_pipe}") == "1\n"
            tmux(host, "pipe-pane", "-t", place.id)
            deadline = asyncio.get_running_loop().time() + 60
            while not ringing(server_of(host)):
                assert asyncio.get_running_loop().time() < deadline
                await host.stirred(place, 1)
                await host.look(place)
            await hears(host, place)

    asyncio.run(run())


@pytest.mark.parametrize("gives_up", [True, False])
def test_a_bell_is_hung_up_in_any_folder_and_by_any_dd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, gives_up: bool
) -> None:
    """Names mean something to a shell and to tmux; a `dd` that can only wait ends early."""
    if gives_up and not bells.dd_gives_up():
        pytest.skip("this dd cannot give up")
    monkeypatch.setattr(bells, "dd_gives_up", lambda: gives_up)
    _tell(monkeypatch, tells=False)

    async def run() -> None:
        async with opened(tmp_path / "it's #{pid} %H $x") as host:
            place = await host.start(launch("show"))
            await until_text(host, place, "pid=")
            for _ in range(3):
                await hears(host, place)

    asyncio.run(run())


def test_what_is_written_through_another_door_is_heard(tmp_path: Path) -> None:
    """`/dev/tty` is no terminal's own name: all are looked at. Nothing is started for it."""
    if not writes.kernel_tells():
        pytest.skip("this kernel does not tell of writes to a terminal")

    async def run() -> None:
        async with opened(tmp_path / "state") as host:
            argv = ("sh", "-c", "echo pid=; read line; echo heard > /dev/tty; sleep 1000")
            place = await host.start(replace(launch("show"), argv=argv))
            await until_text(host, place, "pid=")
            await at_rest(host, place)
            tmux(host, "send-keys", "-t", place.id, "Enter")
            began = asyncio.get_running_loop().time()
            while "heard" not in (await host.look(place)).text:
                assert await host.stirred(place, LONG) is True
            assert asyncio.get_running_loop().time() - began < LONG / 2
            assert helpers(server_of(host)) == []

    asyncio.run(run())
