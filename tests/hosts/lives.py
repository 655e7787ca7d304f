"""What every host promises about the lives of its runs, with or without a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psutil
import pytest

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts.base import Host, Key, Launch, Place
from tests.hosts.stirs import StirContract
from tests.hosts.waiting import (
    bystander,
    number_after,
    program,
    runs,
    until,
    until_ended,
    until_seen,
    until_text,
)


class PlaceContract(StirContract):
    """What a fake promises too; every test opens its own host."""

    def opened(self) -> AbstractAsyncContextManager[Host]:
        """A host, ready, that leaves nothing behind."""
        raise NotImplementedError

    def argv(self, name: str, *args: object) -> tuple[str, ...]:
        """How a program of tests/hosts/programs is started."""
        return program(name, *args)

    async def started(
        self, host: Host, name: str, *args: object, agent: str = "doll", run: int = 1
    ) -> Place:
        """Start a program under a name that hardly matters."""
        argv = self.argv(name, *args)
        launch = Launch(
            agent=agent, run=run, argv=argv, cwd=tempfile.gettempdir(), cols=90, rows=25
        )
        return await host.start(launch)

    def test_the_same_run_is_started_once(self) -> None:
        """Also while it is ended; a new run may stand beside an old one, and be found after it."""

        async def run() -> None:
            async with self.opened() as host:
                second = await self.started(host, "show", "new", run=2)
                first = await self.started(host, "leave", 0, run=1)
                other = await self.started(host, "show", agent="other")
                await until_ended(host, first)
                for number in (1, 2):
                    with pytest.raises(HostError, match=f"run {number} of 'doll' already"):
                        await self.started(host, "show", run=number)

                assert await host.find("doll") == (first, second)
                assert await host.find("other") == (other,)
                assert await host.find("nobody") == ()

        asyncio.run(run())

    @pytest.mark.parametrize("argv", [("/no/such/program",), ("no-such-program",), ()])
    def test_a_program_that_cannot_start_leaves_nothing(self, argv: tuple[str, ...]) -> None:
        """The error says so, and the run is free again."""

        async def run() -> None:
            async with self.opened() as host:
                with pytest.raises(HostError, match=r"No such file|nothing to start"):
                    await host.start(
                        Launch(agent="doll", run=1, argv=argv, cwd=tempfile.gettempdir())
                    )
                assert await host.find("doll") == ()
                await self.started(host, "show")

        asyncio.run(run())

    def test_a_forgotten_place_is_gone(self) -> None:
        """For every verb; a running one cannot be forgotten."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                with pytest.raises(HostError, match="still runs"):
                    await host.forget(place)
                await host.end(place, force=False)
                await until_ended(host, place)
                await host.forget(place)

                assert await host.find("doll") == ()
                for verb in (
                    host.look(place),
                    host.stirred(place, 1),
                    host.type(place, (Key(name="x"),)),
                    host.end(place, force=True),
                    host.forget(place),
                ):
                    with pytest.raises(PlaceGone, match="doll"):
                        await verb
                await self.started(host, "show")  # the run is free again

        asyncio.run(run())

    def test_an_ended_one_is_left_as_it_is(self) -> None:
        """It takes no keys, a second end changes nothing, and it can still be looked at."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                await host.end(place, force=True)
                seen = await until_ended(host, place)
                assert (seen.code, seen.signal, seen.command) == (None, signal.SIGKILL, "")
                with pytest.raises(HostError, match="nothing can be typed"):
                    await host.type(place, (Key(name="x"),))
                await host.end(place, force=False)
                again = await host.look(place)
                assert (again.text, again.signal) == (seen.text, signal.SIGKILL)
                assert await host.find("doll") == (place,)

        asyncio.run(run())


class LifeContract(PlaceContract):
    """What every host promises that starts real programs."""

    def test_a_folder_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        """Never somewhere else instead."""

        async def run() -> None:
            async with self.opened() as host:
                argv = self.argv("show")
                with pytest.raises(HostError, match="nowhere"):
                    await host.start(
                        Launch(agent="doll", run=1, argv=argv, cwd=str(tmp_path / "nowhere"))
                    )

        asyncio.run(run())

    def test_a_program_may_refuse_to_end_until_it_is_forced(self) -> None:
        """SIGTERM first, SIGKILL when it is meant."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "stubborn")
                await until_text(host, place, "ready")
                await host.end(place, force=False)
                seen = await until_text(host, place, "refused")
                assert seen.alive
                await host.end(place, force=True)
                seen = await until_ended(host, place)
                assert (seen.code, seen.signal) == (None, signal.SIGKILL)

        asyncio.run(run())

    def test_an_end_reaches_the_whole_process_group(self) -> None:
        """What the program started goes with it."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "family")
                seen = await until_text(host, place, ".")
                child = psutil.Process(number_after("child", seen.text))
                await host.end(place, force=False)
                seen = await until_ended(host, place)

                assert seen.signal == signal.SIGTERM
                await until(lambda: not child.is_running() or child.status() == "zombie")

        asyncio.run(run())

    def test_nothing_of_a_run_outlives_a_forced_end(self) -> None:
        """Wherever it went: another session, another parent, an empty environment."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "leavers")
                seen = await until_text(host, place, "all")
                away = [number_after(name, seen.text) for name in ("daemon", "orphan", "bare")]
                assert all(map(runs, away))
                with bystander() as stranger:
                    await host.end(place, force=True)
                    await until_ended(host, place)
                    await until(lambda: not any(map(runs, away)))
                    assert runs(stranger)

        asyncio.run(run())

    def test_what_outlived_its_program_can_still_be_ended(self) -> None:
        """A daemon that the agent left behind, and that nobody asked for."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "leavers", "leave")
                seen = await until_ended(host, place)
                away = [number_after(name, seen.text) for name in ("daemon", "orphan")]
                bare = number_after("bare", seen.text)
                try:
                    assert (seen.code, all(map(runs, away))) == (3, True)
                    await host.end(place, force=False)
                    assert all(map(runs, away))  # deaf
                    await host.end(place, force=True)
                    await until(lambda: not any(map(runs, away)))
                finally:  # no parent, no session, no mark: nobody could know whose it was
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(bare, signal.SIGKILL)

        asyncio.run(run())

    @pytest.mark.parametrize("force", [False, True])
    def test_a_pair_of_processes_ends_together(self, *, force: bool) -> None:
        """The outer one alone would not listen, and the inner one would draw on without it."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "pair")
                inner = number_after("inner", (await until_text(host, place, ".")).text)
                await host.end(place, force=force)
                await until_ended(host, place)
                await until(lambda: not runs(inner))

        asyncio.run(run())

    def test_who_waits_for_a_terminal_that_is_forgotten_is_woken(self) -> None:
        """A new run begins, the old one is cleared away; nothing will stir there."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "leave", 0)
                await until_ended(host, place)
                while await host.stirred(place, 0.05):
                    await host.look(place)
                waiting = asyncio.create_task(host.stirred(place, 60))
                await asyncio.sleep(0)
                await host.forget(place)
                assert await asyncio.wait_for(waiting, 30) is True

        asyncio.run(run())

    def test_many_agents_are_looked_at_together(self) -> None:
        """Each look is about its own agent."""

        async def run() -> None:
            async with self.opened() as host:
                names = [f"agent {i}" for i in range(8)]
                places = await asyncio.gather(
                    *(self.started(host, "show", f"I am {name}", agent=name) for name in names)
                )
                await asyncio.gather(*(until_text(host, place, "pid=") for place in places))
                looks = await asyncio.gather(*(host.look(place) for place in places * 10))

                for place, seen in zip(places * 10, looks, strict=True):
                    assert seen.text.startswith(f"I am {place.agent}\n")
                    assert seen.pid == place.pid

        asyncio.run(run())

    def test_a_stopped_program_is_alive(self) -> None:
        """SIGSTOP is somebody's wish: it stays stopped, and can be ended by force."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                await until_text(host, place, "pid=")
                assert place.pid is not None
                os.kill(place.pid, signal.SIGSTOP)
                await until(lambda: psutil.Process(place.pid).status() == psutil.STATUS_STOPPED)
                assert (await host.look(place)).alive
                await host.end(place, force=True)
                assert (await until_seen(host, place, lambda s: not s.alive)).signal == 9

        asyncio.run(run())
