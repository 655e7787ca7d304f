"""A turn is interrupted for a refresh: seen to run, ended by its own keys, seen at its prompt."""

from __future__ import annotations

from koboshi.core.actions import Refresh
from koboshi.core.events import Ending
from koboshi.scripted.behaviour import Done, Script, Work
from tests.performers.benches import ASK, Bench

FORCED = Refresh(run=1, nth=1, why="full; forced", forced=True)
LONG: Script = (Work(seconds=600.0, say="x"), Done())


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
