"""The contract for `FakeHost`, as far as it applies: it has one scripted agent and no files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from koboshi.errors import HostError
from koboshi.hosts.base import Host, Key, Keystroke, Launch, Text
from koboshi.scripted.behaviour import Script
from koboshi.testing import FakeHost, FakeRuntime, ScriptedAgent
from tests.hosts.lives import PlaceContract
from tests.hosts.stirs import EchoContract

ARGV = ("scripted", "--session", "s-1")


def fake(*, own: bool = True, runtime: FakeRuntime | None = None) -> FakeHost:
    """A host, and time that stands still."""
    runtime = runtime or FakeRuntime()
    agent = ScriptedAgent(script=Script(), clock=lambda: (runtime.monotonic, runtime.utc))
    return FakeHost(agent, runtime, own=own)


class TestFake(EchoContract, PlaceContract):
    """The contract; how one runs and ends is the script's affair."""

    ready = ""
    runtime = FakeRuntime()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Host]:
        """A host of its own."""
        self.runtime.monotonic = 0.0
        yield fake(runtime=self.runtime)

    def clock(self) -> float:
        """Virtual time."""
        return self.runtime.monotonic

    async def breathe(self) -> None:
        """A moment of virtual time."""
        pause: Awaitable[None] = self.runtime.sleep(0.01)
        await pause

    def drive(self, story: Coroutine[Any, Any, None]) -> None:
        """Ten minutes are over in an instant."""
        ended: list[bool] = []

        async def told() -> None:
            await story
            ended.append(True)

        self.runtime.spawn(told())
        self.runtime.run_until(600)
        assert ended

    def argv(self, name: str, *args: object) -> tuple[str, ...]:  # noqa: ARG002
        """All programs are the scripted one."""
        return ARGV


@pytest.mark.parametrize(
    "stroke", [Key(name="Entr"), Key(name=""), Text(text="a\x1b[201~b"), Text(text="\0")]
)
@pytest.mark.parametrize("own", [True, False])
def test_what_is_no_text_and_no_key_is_refused_whole(
    stroke: Keystroke, tmp_path: Path, *, own: bool
) -> None:
    """A test with a fake must not pass with keys that a real host refuses."""
    heard: list[object] = []

    async def run() -> None:
        host = fake(own=own)
        place = await host.start(Launch(agent="doll", run=1, argv=ARGV, cwd=str(tmp_path)))
        host.runtime.monotonic = 60.0
        host.on_type = heard.append
        before = (await host.look(place)).text
        with pytest.raises(HostError, match="expected"):
            await host.type(place, (Key(name="x"), stroke))
        assert (await host.look(place)).text == before
        assert heard == []
        await host.type(place, (Key(name="z"),))
        assert (await host.look(place)).text != before

    asyncio.run(run())


def test_in_a_pane_of_the_users_the_shell_takes_the_keys(tmp_path: Path) -> None:
    """The pane stays alive, and can be let go of at any time."""

    async def run() -> None:
        host = fake(own=False)
        place = await host.start(Launch(agent="doll", run=1, argv=ARGV, cwd=str(tmp_path)))
        await host.end(place, force=True)
        seen = await host.look(place)
        assert (place.own, seen.alive, seen.command) == (False, True, "bash")
        await host.type(place, (Text(text="ls"),))
        assert host.shell_line == "ls"
        await host.forget(place)
        assert await host.find("doll") == ()

    asyncio.run(run())
