"""The desk: on disk before anything else, out on every channel, and nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.config.outside import Channel, Notify
from koboshi.core.events import Severity
from koboshi.notices.desk import FILE, Desk, custom_of
from koboshi.notices.notice import Letter, Notice
from koboshi.notices.outbox import Custom, Route
from tests.hosts.waiting import until
from tests.notices.servers import Webhook, dead_port


def a_notice(key: str = "1", *, asks: bool = False) -> Notice:
    """Something bad that happened to `api`."""
    return Notice(
        key=key, agent="api", text=f"it did {key}", severity=Severity.P0, utc=time.time(), asks=asks
    )


def at(*ports: int, slow: int = 0) -> Notify:
    """A channel for each port; the one at `slow` is not waited for."""
    seconds = [0.3 if port == slow else 20 for port in ports]
    urls = {
        f"c{n}": f"json://127.0.0.1:{port}/?rto={wait}&cto={wait}"
        for n, (port, wait) in enumerate(zip(ports, seconds, strict=True))
    }
    return Notify(channels={name: Channel(url=url) for name, url in urls.items()})


def quick(notify: Notify, repeat: float = 0.0) -> Custom:
    """The same without pauses for people."""
    routes = {name: Route() for name in notify.channels}
    return Custom(routes=routes, group=0.0, gather=0.0, again=0.05, repeat=repeat)


class Lines:
    """What the desk tells of its deliveries."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, utc: float, text: str) -> None:
        """One more."""
        del utc
        self.said.append(text)


def test_dead_slow_and_broken_servers_delay_nobody_else(tmp_path: Path) -> None:
    """Each channel has its own thread; what was not sent stays, and goes out when it can."""
    lines = Lines()

    async def go() -> None:
        with (
            Webhook().open() as good,
            Webhook().open() as slow,
            Webhook().open() as bad,
            Webhook().open() as stuck,
        ):
            slow.delay, bad.status = 1.0, 500
            stuck.free.clear()
            notify = at(good.port, slow.port, bad.port, dead_port(), stuck.port, slow=slow.port)
            desk = Desk(tmp_path, told=lines)
            desk.open(notify, quick(notify))
            said = await desk.take(a_notice())
            assert said == "on its way: c0, c1, c2, c3, c4"
            await asyncio.to_thread(good.wait, 1)
            await until(lambda: len(desk.waiting()["troubles"]) >= 2)
            await asyncio.to_thread(stuck.wait, 1)  # and still it answers nobody
            stuck.free.set()
            bad.status = 200
            await until(
                lambda: any(line.startswith("c2") and "– sent" in line for line in lines.said)
            )
            await desk.close()
        assert len(good.got) == 1

    asyncio.run(go())
    kept = (tmp_path / FILE).read_text(encoding="utf-8")
    assert '"c3"' in kept
    assert '"c0"' not in kept
    assert any("not sent, again in" in line for line in lines.said)


def test_the_next_one_brings_out_what_is_left(tmp_path: Path) -> None:
    """Spooled while the network was down; the process died meanwhile."""

    async def night() -> None:
        dead = at(dead_port())
        desk = Desk(tmp_path)
        desk.open(dead, quick(dead))
        for n in range(3):
            await desk.take(a_notice(str(n)))
        await desk.close()

    async def morning() -> list[dict[str, str]]:
        with Webhook().open() as hook:
            notify = at(hook.port)
            desk = Desk(tmp_path)
            desk.open(notify, quick(notify))
            got = await asyncio.to_thread(hook.wait, 1)
            await until(lambda: desk.waiting()["waiting"] == 0)
            await desk.close()
            return got

    asyncio.run(night())
    (got,) = asyncio.run(morning())

    assert got["message"] == "api: it did 0\napi: it did 1\napi: it did 2"


def test_who_is_asked_is_asked_until_acknowledged(tmp_path: Path) -> None:
    """Three times here; then a person has seen to it."""

    async def go() -> int:
        with Webhook().open() as hook:
            notify = at(hook.port)
            desk = Desk(tmp_path)
            desk.open(notify, quick(notify, repeat=0.05))
            await desk.take(a_notice("q", asks=True))
            got = await asyncio.to_thread(hook.wait, 3)
            assert got[0]["message"] == "Needs you: api: it did q"
            assert got[2]["message"] == "Still needs you: api: it did q"
            desk.settle("api")
            assert desk.waiting()["asked"] == []
            await desk.close()
            return len(hook.got)

    assert asyncio.run(go()) >= 3


def test_nobody_is_asked_for_what_is_over(tmp_path: Path) -> None:
    """The rules of the agent do not ask any more, and it is well."""
    lines = Lines()

    async def go() -> list[dict[str, str]]:
        with Webhook().open() as hook:
            notify = at(hook.port)
            desk = Desk(tmp_path, told=lines)
            desk.needed = lambda _agent, _keys: ()
            desk.open(notify, quick(notify, repeat=0.05))
            await desk.take(a_notice("q", asks=True))
            await until(lambda: any("it is over" in line for line in lines.said))
            await desk.close()
            return hook.wait(1)

    assert len(asyncio.run(go())) == 1


def test_a_channel_that_hangs_holds_up_neither_the_loop_nor_our_leaving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread is left behind."""
    monkeypatch.setattr("koboshi.notices.desk.LEAVES", 0.1)
    stuck = threading.Event()

    class Hangs:
        def send(self, letter: Letter) -> str:
            del letter
            stuck.wait(30)
            return ""

    async def go() -> float:
        notify = at(9)
        desk = Desk(tmp_path, make=lambda _: Hangs())
        desk.open(notify, quick(notify))
        began = time.monotonic()
        for n in range(600):
            await desk.take(a_notice(str(n)))
        await desk.close()
        return time.monotonic() - began

    took = asyncio.run(go())
    stuck.set()

    assert took < 20
    assert (tmp_path / FILE).stat().st_size < 200_000


def test_a_storm_is_few_messages(tmp_path: Path) -> None:
    """A thousand notices in a moment: the first ones, and the rest as one."""

    async def go() -> list[dict[str, str]]:
        with Webhook().open() as hook:
            notify = at(hook.port)
            desk = Desk(tmp_path)
            desk.open(notify, replace(quick(notify), gather=0.2, group=0.5))
            await asyncio.gather(*(desk.take(a_notice(str(n))) for n in range(1000)))
            await until(lambda: desk.waiting()["waiting"] == 0)
            await desk.close()
            return hook.wait(1)

    got = asyncio.run(go())
    assert len(got) <= 6
    assert any("notices)" in each["title"] for each in got)


def test_a_channel_that_comes_back_is_served(tmp_path: Path) -> None:
    """Taken out of the file and put in again."""

    async def go() -> list[dict[str, str]]:
        with Webhook().open() as hook:
            notify = at(hook.port)
            desk = Desk(tmp_path)
            for each in (notify, Notify(), notify):
                desk.open(each, quick(each))
            await desk.take(a_notice())
            got = await asyncio.to_thread(hook.wait, 1)
            await desk.close()
            return got

    assert len(asyncio.run(go())) == 1


def test_a_full_disk_keeps_nobody_from_being_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is sent, though it could not be kept."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("koboshi.notices.desk.write_whole", full)

    async def go() -> list[dict[str, str]]:
        with Webhook().open() as hook:
            notify = at(hook.port)
            desk = Desk(tmp_path)
            desk.open(notify, quick(notify))
            await desk.take(a_notice())
            got = await asyncio.to_thread(hook.wait, 1)
            await desk.close()
            return got

    assert asyncio.run(go())[0]["message"] == "api: it did 1"


def test_the_owner_says_how() -> None:
    """Hours and severities of the file; a channel without an address is none."""
    notify = Notify.model_validate(
        {
            "quiet": "22:00-07:00",
            "group": "1m",
            "wakes": "P1",
            "channels": {
                "a": {"url": "json://127.0.0.1/", "severity": "P2"},
                "b": {"url": "json://127.0.0.1/", "quiet": ""},
                "c": {},
            },
        }
    )
    custom = custom_of(notify)

    assert custom.routes["a"] == Route(least=Severity.P2, quiet=notify.quiet)
    assert custom.routes["b"].quiet.left(23 * 60) == 0
    assert set(custom.routes) == {"a", "b"}
    assert (custom.group, custom.wakes) == (60.0, Severity.P1)
