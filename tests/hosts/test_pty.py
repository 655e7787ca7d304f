"""The contract for `PtyHost` with both engines, and what is its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from koboshi.errors import HostMissing
from koboshi.hosts.base import Host, Launch
from koboshi.hosts.pty import PtyHost
from koboshi.hosts.screens import AvtScreen, GhosttyScreen, Screen, open_screen
from tests.hosts.contract import HostContract
from tests.hosts.waiting import kept, program, until, until_text


class TestPtyGhostty(HostContract):
    """The contract with pyghostty."""

    engine: Callable[[int, int], Screen] = GhosttyScreen

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Host]:
        """A host whose agents end with it."""
        host = PtyHost(screen=type(self).engine)
        try:
            yield host
        finally:
            for agent in ("doll", "other"):
                for place in await host.find(agent):
                    await host.end(place, force=True)
            await host.close()


class TestPtyAvt(TestPtyGhostty):
    """The contract with pyavt."""

    engine = AvtScreen


def test_a_look_at_the_moment_of_the_end_has_the_whole_screen(tmp_path: Path) -> None:
    """Also when not one byte has been read before it."""

    async def run() -> None:
        host = PtyHost()
        argv = program("leave", 1)
        place = await host.start(Launch(agent="doll", run=1, argv=argv, cwd=str(tmp_path)))
        deadline = time.monotonic() + 30
        assert host._folders is not None  # noqa: SLF001
        while not list(host._folders.glob("*/status.json")):  # noqa: SLF001 - and no await here
            assert time.monotonic() < deadline
        seen = await host.look(place)
        assert seen.text.rstrip("\n") == "line\nline\nline\ngoodbye"
        await host.close()

    asyncio.run(run())


def test_an_agent_does_not_outlive_the_process_that_holds_its_terminal(tmp_path: Path) -> None:
    """Unlike in tmux: nobody could reach it any more."""

    async def run() -> None:
        with kept("pty", tmp_path, *program("show")) as keeper:
            (recorder,) = psutil.Process(keeper.pid).children()
            (agent,) = recorder.children()
            keeper.kill()
            keeper.wait()
            await until(lambda: not psutil.pid_exists(agent.pid))

    asyncio.run(run())


def test_closing_the_host_ends_its_agents(tmp_path: Path) -> None:
    """Politely first, by force after a bounded time."""

    async def run() -> None:
        host = PtyHost()
        pids = []
        for name in ("show", "stubborn"):
            place = await host.start(
                Launch(agent=name, run=1, argv=program(name), cwd=str(tmp_path))
            )
            await until_text(host, place, "pid=" if name == "show" else "ready")
            pids.append(place.pid)
        await asyncio.wait_for(host.close(), 15)
        await until(lambda: not any(pid is not None and psutil.pid_exists(pid) for pid in pids))
        assert await host.find("show") == ()

    asyncio.run(run())


def test_a_machine_without_an_engine_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The quick engine, else the other one, else an error with a hint."""
    assert isinstance(open_screen(80, 24), GhosttyScreen)

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(GhosttyScreen, "__init__", lambda *_: missing("pyghostty"))
    assert isinstance(open_screen(80, 24), AvtScreen)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(HostMissing, match="no terminal engine") as caught:
        open_screen(80, 24)
    assert "pyghostty" in caught.value.hint
