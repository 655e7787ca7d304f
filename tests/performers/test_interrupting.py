"""Interrupt: a turn and nothing else, one key at a time, seen at its prompt afterwards."""

from __future__ import annotations

import pytest

from koboshi.adapters.decode import work
from koboshi.core.actions import Interrupt, Refresh
from koboshi.core.events import Ending
from koboshi.core.view import evolve
from koboshi.hosts.base import Keystroke, Place
from koboshi.scripted.behaviour import Done, Hang, Script, Work
from tests.performers.benches import ASK, Bench

STOP = Interrupt(run=1, about="hang1.0.0")
HANGS: Script = (Hang(), Done())
FORCED = Refresh(run=1, nth=1, why="full; forced", forced=True)
LONG: Script = (Work(seconds=600.0, say="x"), Done())


def stalled(script: Script = HANGS) -> Bench:
    """A turn whose screen is known."""
    bench = Bench(script)
    bench.say("go")
    bench.wait(30.0)
    seen = bench.run(bench.hands.look()).seen
    bench.view = evolve(bench.view, sight=evolve(bench.view.sight, work=work(seen)))
    bench.wait(30.0)
    return bench


def test_a_turn_that_hangs_is_ended_by_one_key() -> None:
    """The clock of its spinner has gone on meanwhile; that is no work."""
    bench = stalled()

    outcome = bench.perform(STOP)

    assert (outcome.ending, outcome.why) == (Ending.DONE, "interrupted, and seen at its prompt")
    assert (bench.sent, bench.status, bench.marks) == (["Escape"], "idle", [STOP.key])


def test_a_turn_that_moved_is_left_alone() -> None:
    """It was decided about another screen."""
    bench = stalled((Work(seconds=50.0, say="step"), Hang(), Done()))

    assert (bench.perform(STOP).why, bench.sent) == ("it has moved", [])


@pytest.mark.parametrize("draft", ["", "please als"])
def test_no_key_goes_to_a_prompt_or_over_a_line(draft: str) -> None:
    """Twice on an empty prompt, it opens a menu; over a line, it clears it."""
    bench = stalled() if draft else Bench(HANGS)
    bench.agent.paste(draft)

    assert (bench.perform(STOP).ending, bench.sent) == (Ending.SKIPPED, [])


def test_a_message_that_came_back_is_sent_again() -> None:
    """Before the first token a CLI takes it back into the box."""
    bench = Bench(HANGS)
    bench.say("go on")
    circle = Interrupt(run=1, about="loop1.0")

    assert "was sent again" in bench.perform(circle).why
    assert (bench.sent, bench.draft) == (["Escape", "Enter"], "")


@pytest.mark.parametrize("action", [STOP, FORCED], ids=["a hang", "a refresh"])
def test_a_line_that_a_person_begins_meanwhile_is_left_alone(
    action: Interrupt | Refresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands in the box at the look after the key, and is nobody's message yet."""
    bench = stalled()
    press = bench.host.type

    async def press_and_begin(place: Place, strokes: tuple[Keystroke, ...]) -> None:
        await press(place, strokes)
        bench.host.person("please als")

    monkeypatch.setattr(bench.host, "type", press_and_begin)
    outcome = bench.perform(action)

    assert outcome.ending is Ending.DONE
    assert (bench.sent, bench.draft) == (["Escape"], "please als")


def test_no_key_goes_into_a_dialog() -> None:
    """It would refuse what was asked."""
    bench = Bench(ASK)
    bench.ask()

    assert (bench.perform(STOP).ending, bench.sent, bench.dialog) == (Ending.SKIPPED, [], 1)


def test_an_interrupt_in_doubt_is_looked_at() -> None:
    """At its prompt: done. In its turn: decided anew."""
    bench = stalled()

    assert bench.settle(STOP).ending is Ending.SKIPPED
    bench.agent.key("Escape")
    assert (bench.settle(STOP).ending, bench.sent) == (Ending.DONE, [])


# -- for a refresh ------------------------------------------------------------------------------


def test_a_turn_is_interrupted_and_the_refresh_begins() -> None:
    """One Escape; the outcome says that it was forced."""
    bench = Bench(LONG)
    bench.say("go")
    bench.wait(30.0)

    result = bench.perform(FORCED)

    assert (result.ending, result.why) == (Ending.DONE, "begun, forced")
    assert (bench.sent, bench.status) == (["Escape"], "idle")
    assert bench.marks == ["1.refresh1"]


def test_a_turn_that_has_ended_needs_no_key() -> None:
    """The boundary came after all."""
    bench = Bench()

    assert bench.perform(FORCED).ending is Ending.DONE
    assert bench.sent == []


def test_a_question_is_left_alone() -> None:
    """Escape would be an answer."""
    bench = Bench(ASK)
    bench.ask()

    assert bench.perform(FORCED).ending is Ending.SKIPPED
    assert bench.sent == []
    assert bench.dialog is not None


def test_a_half_typed_line_is_left_alone() -> None:
    """A person is about to say something."""
    bench = Bench(LONG)
    bench.say("go")
    bench.wait(30.0)
    bench.agent.paste("please als")

    assert bench.perform(FORCED).ending is Ending.SKIPPED
    assert bench.sent == []


def test_a_message_that_comes_back_is_sent_again() -> None:
    """Before the first token the CLI puts it back into the box."""
    bench = Bench(LONG)
    bench.say("go")

    result = bench.perform(FORCED)

    assert result.ending is Ending.FAILED
    assert "came back" in result.why
    assert (bench.status, bench.draft) == ("working", "")
