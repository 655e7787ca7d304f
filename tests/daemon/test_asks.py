"""What an agent asks people: open while its call waits, answered once."""

from __future__ import annotations

import asyncio

import pytest

from koboshi.daemon import asks
from koboshi.daemon.asks import Asks
from koboshi.errors import KoboshiError


def test_the_first_answer_reaches_the_call_that_waits() -> None:
    """By the question's own name; who comes late is told so."""

    async def act() -> None:
        desk = Asks("a1")
        assert desk.take("t1", 3, "Which port?", ("80", "81")) is not None
        waits = asyncio.create_task(desk.wait("t1", 60.0))
        await asyncio.sleep(0)
        [shown] = desk.open(3)
        assert (shown["id"], shown["question"], shown["options"]) == (
            "a1:ask1",
            "Which port?",
            ["80", "81"],
        )
        assert desk.reply("a1:ask2", 3, "no") is None
        assert desk.reply("a1:ask1", 3, "81") is not None
        assert desk.reply("a1:ask1", 3, "80") is None
        assert await waits == "81"
        assert desk.open(3) == []

    asyncio.run(act())


def test_a_call_that_asks_again_waits_on() -> None:
    """One question however often it is asked; an answer in between is not lost."""

    async def act() -> None:
        desk = Asks("a1")
        assert desk.take("t1", 3, "Which port?", ()) is not None
        assert await desk.wait("t1", 0.0) == ""
        assert desk.take("t1", 3, "Which port?", ()) is None
        assert desk.reply("a1:ask1", 3, "80") is not None
        assert await desk.wait("t1", 0.0) == "80"

    asyncio.run(act())


def test_a_question_goes_with_its_call_and_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked on behalf of a run that is over, or of a call that was given up."""

    async def act() -> None:
        desk = Asks("a1")
        desk.take("t1", 3, "Which port?", ())
        await desk.wait("t1", 0.0)
        assert len(desk.open(3)) == 1
        monkeypatch.setattr(asks, "GRACE", -1.0)
        assert desk.open(3) == []

        desk.take("t2", 3, "And which host?", ())
        waits = asyncio.create_task(desk.wait("t2", 60.0))
        await asyncio.sleep(0)
        assert len(desk.open(3)) == 1
        assert desk.open(4) == []
        waits.cancel()

    asyncio.run(act())


def test_two_questions_are_told_apart_and_many_are_refused() -> None:
    """An answer that could mean either is none."""
    desk = Asks("a1")
    for number in range(asks.MOST):
        desk.take(f"t{number}", 3, "?", ())

    assert desk.reply("a1", 3, "yes") is None
    with pytest.raises(KoboshiError, match="open already"):
        desk.take("one more", 3, "?", ())
    assert desk.reply("a1:ask2", 3, "yes") is not None
