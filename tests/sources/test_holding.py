"""Hooks that wait for an answer: the real shim, a real socket, and whoever holds the line."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi import _hook
from koboshi.observations import HookFired
from koboshi.sources import holding as holdings
from koboshi.sources import hooksocket
from koboshi.sources.holding import Held, Holding
from koboshi.sources.hookhttp import hook_http, reserve
from koboshi.sources.hooksocket import hook_socket
from tests.sources.test_shim import patient_shim

ASKS = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "x"}}
SAYS = {"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "nö\n"}}}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short one: the path of a socket must be."""
    with tempfile.TemporaryDirectory(prefix="kb-") as made:
        yield Path(made)


@pytest.fixture(autouse=True)
def _in_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((hooksocket, "PATIENCE"), (hooksocket, "TAKES"), (holdings, "TAKES")):
        monkeypatch.setattr(module, name, 30.0)


class Desk:
    """Somebody who holds lines, and what they were told."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.open = True  #: whether what is held is an open question
        self.taken: list[HookFired] = []
        self.over: list[tuple[str, str]] = []
        self.came = asyncio.Event()
        self.holding = Holding(
            wanted=lambda: wanted,
            take=self._take,
            waits=lambda ticket: self.open and bool(ticket),
            over=lambda ticket, why: self.over.append((ticket, why)),
        )

    def _take(self, fired: HookFired) -> None:
        self.taken.append(fired)
        self.came.set()

    async def line(self) -> Held:
        """The one that is held."""
        await asyncio.wait_for(self.came.wait(), 30)
        held = self.holding.get(self.taken[-1].ticket)
        assert held is not None
        return held


Meanwhile = Callable[[Desk], Awaitable[Any]]


def asked(folder: Path, meanwhile: Meanwhile, *, wanted: bool = True) -> tuple[Desk, bytes, Any]:
    """A shim asks, and something happens meanwhile: the desk, what it printed, what came of it."""

    async def ask() -> tuple[Desk, bytes, Any]:
        desk = Desk(wanted=wanted)
        async with hook_socket(folder / "s", "a1", lambda _: None, desk.holding):
            payload = json.dumps(ASKS).encode()
            printing = asyncio.create_task(asyncio.to_thread(patient_shim, folder, payload, "ask"))
            came = await meanwhile(desk)
            return desk, await printing, came

    return asyncio.run(ask())


def test_an_answer_is_printed_and_known_to_have_been(folder: Path) -> None:
    """Whole, on one line, and nothing is spooled."""

    async def answer(desk: Desk) -> bool:
        return await (await desk.line()).say(SAYS)

    desk, printed, taken = asked(folder, answer)

    assert taken is True
    assert json.loads(printed) == SAYS
    assert desk.over == []
    assert [fired.payload for fired in desk.taken] == [ASKS]
    assert not (folder / "spool").exists()


def test_who_is_let_go_prints_nothing(folder: Path) -> None:
    """The dialog is all there is then, and whoever asked for the line is told so."""

    async def let_go(desk: Desk) -> None:
        (await desk.line()).let_go()

    desk, printed, _ = asked(folder, let_go)

    assert printed == b""
    assert [why for _, why in desk.over] == ["it was not answered in time"]
    assert not (folder / "spool").exists()


def test_a_second_answer_is_not_taken(folder: Path) -> None:
    """The first one wins."""

    async def twice(desk: Desk) -> list[bool]:
        line = await desk.line()
        return list(await asyncio.gather(line.say(SAYS), line.say({"other": 1})))

    _, printed, taken = asked(folder, twice)

    assert taken == [True, False]
    assert json.loads(printed) == SAYS


def test_where_nobody_would_answer_nobody_waits(folder: Path) -> None:
    """The hook is told of like any other."""

    async def come(desk: Desk) -> None:
        await asyncio.wait_for(desk.came.wait(), 30)

    desk, printed, _ = asked(folder, come, wanted=False)

    assert printed == b""
    assert [(fired.payload, fired.ticket) for fired in desk.taken] == [(ASKS, "")]


def test_a_question_that_is_over_is_not_waited_for(folder: Path, monkeypatch: Any) -> None:  # noqa: ANN401
    """A person was quicker, at the terminal: their CLI does not end the hook."""
    monkeypatch.setattr(holdings, "BEAT", 0.01)

    async def close(desk: Desk) -> None:
        await desk.line()
        desk.open = False

    desk, printed, _ = asked(folder, close)

    assert (printed, desk.over) == (b"", [])


def test_a_line_is_held_for_a_time_only(folder: Path, monkeypatch: Any) -> None:  # noqa: ANN401
    """And then the dialog is looked at."""
    monkeypatch.setattr(holdings, "HOLD", 0.05)
    monkeypatch.setattr(holdings, "BEAT", 0.01)

    async def wait(desk: Desk) -> None:
        await desk.line()

    desk, printed, _ = asked(folder, wait)

    assert printed == b""
    assert len(desk.over) == 1


def test_a_listener_that_dies_has_said_nothing(folder: Path) -> None:
    """The connection is gone with it; the shim prints nothing and does not wait."""

    async def ask() -> bytes:
        async with hook_socket(folder / "s", "a1", lambda _: None):
            pass
        server = await asyncio.start_unix_server(_hang_up, str(folder / "s"))
        async with server:
            return await asyncio.to_thread(patient_shim, folder, json.dumps(ASKS).encode(), "ask")

    assert asyncio.run(ask()) == b""


async def _hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(b"~=" + json.dumps(SAYS).encode()[:20])
    await writer.drain()
    writer.close()


def heard(monkeypatch: Any, sent: list[bytes], *, close: bool) -> bytes:  # noqa: ANN401
    """What the shim prints of what a listener sends after its first sign of life."""
    printed: list[bytes] = []

    class Out:
        buffer = type("Buffer", (), {"write": printed.append, "flush": lambda *_: None})

    monkeypatch.setattr(_hook, "SILENCE", 0.05)
    monkeypatch.setattr(sys, "stdout", Out)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for each in sent:
            theirs.sendall(each)
        if close:
            theirs.shutdown(socket.SHUT_WR)
        assert _hook.heard(ours) is True
        signal.alarm(0)
    return b"".join(printed)


def test_a_listener_that_freezes_is_given_up(monkeypatch: Any) -> None:  # noqa: ANN401
    """It said that it lives, and then no more: the dialog is all there is."""
    assert heard(monkeypatch, [b"~~"], close=False) == b""


@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"~", b"=", b"+", b"\n"]), max_size=6))
def test_the_shim_prints_a_whole_answer_or_nothing(sent: list[bytes]) -> None:
    """Whatever is sent: a line that began with `=`, without it, or nothing at all."""
    with pytest.MonkeyPatch.context() as patch:
        printed = heard(patch, [each for each in sent if each], close=True)

    whole = b"".join(sent).lstrip(b"~")
    assert printed in (b"", whole[1:])
    if printed:
        assert whole.startswith(b"=")
        assert printed.endswith(b"\n")


@pytest.mark.parametrize("answers", [True, False])
def test_over_http_the_answer_is_the_body(folder: Path, answers: bool) -> None:  # noqa: FBT001
    """Or nothing is said, and the dialog stays."""

    async def ask() -> tuple[bytes, Desk]:
        desk = Desk(wanted=answers)
        url = reserve(folder / "hooks.url")
        async with hook_http(url, desk.taken.append, desk.holding):
            reader, writer = await asyncio.open_connection("127.0.0.1", url.port)
            body = json.dumps(ASKS).encode()
            path = url.of(7).partition(str(url.port))[2]
            head = f"POST {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            if answers:
                assert await (await desk.line()).say(SAYS)
            said = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return said, desk

    said, desk = asyncio.run(ask())
    head, _, body = said.partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 200 ")
    assert json.loads(body) == (SAYS if answers else {})
    assert [(fired.payload, fired.run) for fired in desk.taken] == [(ASKS, 7)]
    assert desk.over == []
