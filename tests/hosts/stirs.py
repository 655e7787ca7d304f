"""What every host promises about `stirred`: nothing that happens in a terminal is slept through."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from koboshi.hosts.base import Host, Key, Place

#: Longer than anything here takes; who waits so long has slept through it.
LONG = 60.0
#: Shorter than the quickest pace of a host that looks by the clock.
SHORT = 0.05


async def at_rest(host: Host, place: Place, clock: Callable[[], float] = time.monotonic) -> None:
    """Look until nothing stirs any more."""
    deadline = clock() + 30
    while await host.stirred(place, SHORT):
        assert clock() < deadline, "it never comes to rest"
        await host.look(place)


class StirContract:
    """Needs `opened` and `started`."""

    ready = "pid="  #: what the program shows once it has begun
    clock: Callable[[], float] = staticmethod(time.monotonic)

    def opened(self) -> AbstractAsyncContextManager[Host]:
        """A host, ready, that leaves nothing behind."""
        raise NotImplementedError

    async def started(
        self, host: Host, name: str, *args: object, agent: str = "doll", run: int = 1
    ) -> Place:
        """Start a program."""
        raise NotImplementedError

    def drive(self, story: Coroutine[Any, Any, None]) -> None:
        """Let it happen; a fake has a time of its own."""
        asyncio.run(story)

    async def breathe(self) -> None:
        """Let others run."""
        await asyncio.sleep(0.01)

    async def resting(self, host: Host) -> Place:
        """A program that has said what it had to say."""
        place = await self.started(host, "show", "hello")
        deadline = self.clock() + 30
        while self.ready not in (await host.look(place)).text:
            assert self.clock() < deadline
            await host.stirred(place, 1)
        await at_rest(host, place, self.clock)
        return place

    async def silence(self, host: Host, place: Place, patience: float) -> float:
        """How long it is silent for who has that patience.

        Whoever is late for a look by the clock is told that one is due: then it is done first.
        """
        began = self.clock()
        deadline = began + 30
        while await host.stirred(place, patience):
            assert self.clock() < deadline, "it is never silent"
            await host.look(place)
            began = self.clock()
        return self.clock() - began

    def test_the_first_answer_is_yes(self) -> None:
        """What there was before nobody was told."""

        async def story() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                began = self.clock()
                assert await host.stirred(place, LONG) is True
                assert self.clock() - began < LONG / 2

        self.drive(story())

    def test_silence_lasts_as_long_as_the_patience(self) -> None:
        """And not longer; also where there is none."""

        async def story() -> None:
            async with self.opened() as host:
                place = await self.resting(host)
                assert SHORT * 0.9 <= await self.silence(host, place, SHORT) < LONG / 2
                assert await self.silence(host, place, 0) < LONG / 2

        self.drive(story())

    def test_an_end_is_heard(self) -> None:
        """Though nothing is printed."""

        async def story() -> None:
            async with self.opened() as host:
                place = await self.resting(host)
                began = self.clock()
                await host.end(place, force=True)
                while (await host.look(place)).alive:
                    assert await host.stirred(place, LONG) is True
                assert self.clock() - began < LONG / 2

        self.drive(story())


class EchoContract(StirContract):
    """The same for what is printed, where something can be typed that is."""

    def test_output_is_heard_while_one_waits(self) -> None:
        """However long one would have waited."""

        async def story() -> None:
            async with self.opened() as host:
                place = await self.resting(host)
                await host.type(place, (Key(name="y"), Key(name="o")))
                began = self.clock()
                while "yo" not in (await host.look(place)).text:
                    assert await host.stirred(place, LONG) is True
                assert self.clock() - began < LONG / 2

        self.drive(story())

    def test_what_changes_between_a_look_and_the_wait_is_not_lost(self) -> None:
        """It came before anybody waited for it."""

        async def story() -> None:
            async with self.opened() as host:
                place = await self.resting(host)
                await host.look(place)
                await host.type(place, (Key(name="y"), Key(name="o")))
                began = self.clock()
                assert await host.stirred(place, LONG) is True
                assert self.clock() - began < LONG / 2

        self.drive(story())

    def test_looks_of_others_do_not_swallow_it(self) -> None:
        """A performer looks too, and tells nobody."""

        async def story() -> None:
            async with self.opened() as host:
                place = await self.resting(host)
                await host.type(place, (Key(name="y"), Key(name="o")))
                deadline = self.clock() + 30
                while "yo" not in (await host.look(place)).text:
                    assert self.clock() < deadline
                    await self.breathe()
                began = self.clock()
                assert await host.stirred(place, LONG) is True
                assert self.clock() - began < LONG / 2

        self.drive(story())
