"""The stream: one question to the daemon however many look on, everything first, and an end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from koboshi.errors import DaemonError
from koboshi.web import feed as feeding
from koboshi.web.feed import Feed, TooMany
from tests.web.houses import MadeUpDaemon, agent


def events(frame: bytes) -> list[tuple[str, Any]]:
    """The events in a frame, with what they say."""
    found = []
    for block in frame.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


async def next_of(frames: AsyncIterator[bytes], topic: str) -> Any:  # noqa: ANN401
    """The next that is told under that name."""
    async with asyncio.timeout(5):
        async for frame in frames:
            for name, value in events(frame):
                if name == topic:
                    return value
    raise AssertionError(topic)


def screen(*rows: str) -> dict[str, Any]:
    """What a daemon says of a terminal."""
    seen = {"ansi": "\n".join(rows), "text": "", "cols": 80, "rows": 24, "cursor": [0, 0]}
    return {"epoch": "e", "count": 1, "screen": {**seen, "title": "", "alive": True}}


def test_everything_first_then_what_changed() -> None:
    """For each viewer, whenever they came; and one subscription for all."""

    async def go() -> None:
        daemon = MadeUpDaemon(agent("a"), agent("b"))
        feed = Feed(daemon)
        task = asyncio.get_running_loop().create_task(feed.run())
        viewers = [feed.frames("", lambda: True) for _ in range(20)]
        for viewer in viewers:
            first = await next_of(viewer, "board")
            assert (first["full"], sorted(first["items"])) == (True, ["a", "b"])
        daemon.news.put_nowait(daemon.told(agent("a", status="working"), gone=("b",)))
        for viewer in viewers:
            told = await next_of(viewer, "board")
            assert (told["full"], list(told["items"]), told["gone"]) == (False, ["a"], ["b"])
        assert [verb for verb, _ in daemon.asked].count("follow") == 3
        late = feed.frames("", lambda: True)
        assert list((await next_of(late, "board"))["items"]) == ["a"]
        for viewer in (*viewers, late):
            await viewer.aclose()
        assert feed.viewers == 0
        task.cancel()

    asyncio.run(go())


def test_of_long_lists_only_a_number_is_told() -> None:
    """Another one when the list is, also of another daemon; an older daemon tells none."""

    async def go() -> None:
        daemon = MadeUpDaemon(agent("a"))
        feed = Feed(daemon)
        task = asyncio.get_running_loop().create_task(feed.run())
        frames = feed.frames("", lambda: True)
        assert (await next_of(frames, "board"))["full"]
        for epoch, number in (("e", 4), ("e", 5), ("f", 5)):
            told = daemon.told() | {"epoch": epoch, "news": {"incidents": number, "rules": 0}}
            daemon.news.put_nowait(told)
            said = (await next_of(frames, "news"))["items"]
            assert said["incidents"] == f"{epoch}.{number}"
        await frames.aclose()
        task.cancel()

    asyncio.run(go())


def test_a_daemon_that_goes_and_comes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """And after that everything is asked for anew: its numbers mean nothing to another."""
    monkeypatch.setattr(feeding, "AGAIN", 0.0)

    async def go() -> None:
        daemon = MadeUpDaemon(agent("a"))
        feed = Feed(daemon)
        task = asyncio.get_running_loop().create_task(feed.run())
        frames = feed.frames("", lambda: True)
        assert (await next_of(frames, "link"))["items"]["daemon"]["up"] is False
        assert (await next_of(frames, "link"))["items"]["daemon"]["up"] is True
        daemon.news.put_nowait(DaemonError("gone"))
        assert (await next_of(frames, "link"))["items"]["daemon"]["up"] is False
        daemon.news.put_nowait(daemon.told(agent("z"), full=True))
        assert (await next_of(frames, "board"))["gone"] == ["a"]
        assert daemon.asked[-2][1]["epoch"] == ""
        await frames.aclose()
        task.cancel()

    asyncio.run(go())


def test_a_terminal_is_followed_while_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only rows that changed are told again; with the last viewer the looking ends."""
    monkeypatch.setattr(feeding, "PACE", 0.0)

    async def go() -> None:
        daemon = MadeUpDaemon(agent("a"))
        feed = Feed(daemon)
        one, two = feed.frames("a", lambda: True), feed.frames("a", lambda: True)
        daemon.news.put_nowait(screen("<b>", "two", "three"))
        for viewer in (one, two):
            first = await next_of(viewer, "screen")
            assert first["items"]["0"] == [["<b>", ""]]
            assert set(first["items"]) == {"state", "0", "1", "2"}
        daemon.news.put_nowait(screen("<b>", "more"))
        for viewer in (one, two):
            told = await next_of(viewer, "screen")
            assert (list(told["items"]), told["gone"]) == (["1"], ["2"])
        assert len([1 for verb, _ in daemon.asked if verb == "picture"]) in (2, 3)
        await one.aclose()
        assert len(asyncio.all_tasks()) == 2
        await two.aclose()
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(go())


def test_a_key_that_was_taken_away_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the next word at the latest."""
    monkeypatch.setattr(feeding, "BEAT", 0.001)

    async def go() -> list[bytes]:
        answers = iter([True, True, False])
        return [frame async for frame in Feed(MadeUpDaemon()).frames("", lambda: next(answers))]

    assert len(asyncio.run(go())) == 3


def test_there_is_an_end_to_how_many_look_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a thousand pages gets no thousand streams."""
    monkeypatch.setattr(feeding, "VIEWERS", 2)

    async def go() -> None:
        feed = Feed(MadeUpDaemon())
        open_ = [feed.frames("", lambda: True) for _ in range(2)]
        for each in open_:
            await anext(each)
        with pytest.raises(TooMany):
            await anext(feed.frames("", lambda: True))
        for each in open_:
            await each.aclose()

    asyncio.run(go())
