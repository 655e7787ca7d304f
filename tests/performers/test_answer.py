"""Answer: one key, on a fresh look, never again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from koboshi.adapters.asking import decision
from koboshi.core.actions import Answer
from koboshi.core.events import Ending, Outcome
from koboshi.core.readings import Meaning
from koboshi.core.view import Question
from koboshi.performers.answer import STANDS
from koboshi.scripted.behaviour import Ask, Done, Script
from tests.core.worlds import permission
from tests.performers.benches import ASK, Bench
from tests.performers.test_judging import Waits


def asked(script: Script = ASK, *, choice: Meaning = Meaning.ONCE) -> tuple[Bench, Answer]:
    """A bench with an open question, and the answer that was decided about it."""
    bench = Bench(script)
    bench.ask()
    prompt = bench.reading().prompt
    assert prompt is not None
    return bench, Answer(run=1, nth=1, fingerprint=prompt.fingerprint, choice=choice)


def done(why: str) -> Outcome:
    """It happened."""
    return Outcome(ending=Ending.DONE, why=why)


def failed(why: str) -> Outcome:
    """It was tried."""
    return Outcome(ending=Ending.FAILED, why=why)


def skipped(why: str) -> Outcome:
    """It was not done."""
    return Outcome(ending=Ending.SKIPPED, why=why)


NOT_THERE = skipped("the question is not there any more")


def test_an_answer_presses_one_key() -> None:
    """And sees the question go."""
    bench, action = asked()

    outcome = bench.perform(action)

    assert (outcome, bench.sent) == (done("answered, and seen to be gone"), ["1"])
    assert bench.marks == ["1.question1"]
    assert bench.status == "working"


def test_no_is_another_key() -> None:
    """The option is found by its meaning, not by its place."""
    bench, action = asked(choice=Meaning.NO)

    assert bench.perform(action).ending is Ending.DONE
    assert bench.agent.running is not None
    assert bench.agent.running.answers == [(1, "no")]


def test_a_question_answered_meanwhile_gets_no_key() -> None:
    """Between the decision and the key a person was quicker."""
    bench, action = asked()
    bench.agent.key("1")

    assert (bench.perform(action), bench.sent) == (NOT_THERE, [])


def test_another_question_gets_no_key() -> None:
    """The words on the screen are not the ones that were decided about."""
    bench, action = asked((Ask(command="npm test"), Ask(command="rm -rf build"), Done()))
    bench.agent.key("1")

    assert (bench.perform(action), bench.sent, bench.dialog) == (NOT_THERE, [], 2)


def test_an_unknown_screen_gets_no_key() -> None:
    """Something covers the agent."""
    bench, action = asked()
    bench.host.veil(60.0)

    assert (bench.perform(action), bench.sent) == (NOT_THERE, [])


def test_a_gone_process_gets_no_key() -> None:
    """Its last frame still shows the dialog."""
    bench, action = asked()
    bench.agent.end(9)

    assert (bench.perform(action), bench.sent) == (NOT_THERE, [])


def test_another_run_gets_no_key() -> None:
    """The fence of an action is its run."""
    bench, action = asked()
    bench.agent.end(9)
    bench.start(2)

    assert (bench.perform(action), bench.sent) == (skipped("run 1 is over"), [])
    assert bench.marks == []


def test_an_option_that_is_not_there_is_never_tried_again() -> None:
    """No key is guessed."""
    bench, action = asked(choice=Meaning.WAIT)

    assert (bench.perform(action), bench.sent) == (failed("no option means 'wait'"), [])


def test_the_same_words_following_are_another_question() -> None:
    """One key, one question: the second one stays open."""
    bench, action = asked((Ask(command="npm test"), Ask(command="npm test"), Done()))

    outcome = bench.perform(action)

    assert outcome == done("answered; a question with the same words followed")
    assert (bench.sent, bench.dialog) == (["1"], 2)


def test_a_question_that_stays_is_a_failure_and_one_key() -> None:
    """The key did nothing; nobody presses it again."""
    bench, action = asked()
    bench.host.tricks = {}
    type_ = bench.host.type

    async def deaf(_place: object, strokes: tuple[object, ...]) -> None:
        bench.host.on_type(strokes)  # type: ignore[arg-type]

    bench.host.type = deaf  # type: ignore[method-assign,assignment]
    outcome = bench.perform(action)
    bench.host.type = type_  # type: ignore[method-assign]

    assert outcome == failed("the question is still there after the key")
    assert bench.sent == ["1"]


def keyless(bench: Bench, *moves: str) -> None:
    """An adapter that must move the selection and press Enter, as some dialogs need."""

    class Arrows(type(bench.hands.adapter)):  # type: ignore[misc]
        def keys_for(self, prompt: object, choice: object) -> tuple[str, ...]:  # noqa: ARG002
            return (*moves, "Enter")

    bench.hands.adapter = Arrows()


def test_arrows_are_verified_before_enter() -> None:
    """Enter takes whatever is selected."""
    bench, action = asked(choice=Meaning.NO)
    keyless(bench, "Down", "Down")

    outcome = bench.perform(action)

    assert (outcome.ending, bench.sent) == (Ending.DONE, ["Down", "Down", "Enter"])
    assert bench.agent.running is not None
    assert bench.agent.running.answers == [(1, "no")]


def test_a_selection_that_did_not_move_is_not_entered() -> None:
    """One arrow was lost: Enter would take the wrong row."""
    bench, action = asked(choice=Meaning.NO)
    keyless(bench, "Down")

    outcome = bench.perform(action)

    assert outcome == failed("the selection did not move to the option")
    assert (bench.sent, bench.dialog) == (["Down"], 1)


def test_a_slow_terminal_is_not_typed_into() -> None:
    """A look that took a second may be a second old."""
    bench, action = asked()
    bench.host.slow_looks = 1.0

    outcome = bench.perform(action)

    assert outcome == skipped("the terminal answers too slowly to type safely")
    assert bench.sent == []


def test_a_terminal_that_is_gone_is_an_outcome() -> None:
    """Not an exception."""
    bench, action = asked()
    place = bench.hands.at_place(1)
    bench.run(bench.host.end(place, force=True))
    bench.run(bench.host.forget(place))

    assert (bench.perform(action).ending, bench.sent) == (Ending.FAILED, [])


# -- in doubt -------------------------------------------------------------------------------------


def test_an_answer_that_was_not_begun_may_be_decided_again() -> None:
    """Without the mark nothing was touched."""
    bench, action = asked()

    outcome = bench.settle(action, touched=False)

    assert (outcome, bench.sent) == (skipped("the supervisor ended before it acted"), [])


def test_an_answer_in_doubt_whose_question_is_gone_was_given() -> None:
    """By whom does not matter."""
    bench, action = asked()
    bench.agent.key("1")

    outcome = bench.settle(action)

    assert (outcome, bench.sent) == (done("in doubt; the question is not there any more"), [])


@pytest.mark.parametrize("script", [ASK, (Ask(command="npm test"), *ASK)])
def test_an_answer_in_doubt_is_never_pressed_again(script: Script) -> None:
    """The question may be the old one or a new one with the same words: nobody can tell."""
    bench, action = asked(script)

    outcome = bench.settle(action)

    assert outcome.ending is Ending.FAILED
    assert bench.sent == []


def test_an_answer_in_doubt_about_a_run_that_is_over_is_history() -> None:
    """There is nothing to look at."""
    bench, action = asked()
    bench.hands.place = None

    assert bench.settle(action) == failed("in doubt; the run is over")


# -- through the hook -----------------------------------------------------------------------------

BASH = {"tool_name": "Bash", "tool_input": {"command": "npm test"}}


def hooked(waits: Waits | None, **changes: Any) -> tuple[Bench, Answer]:  # noqa: ANN401
    """A bench whose open question a hook waits with."""
    bench, action = asked()
    bench.hands.held = lambda ticket: waits if ticket == "t" else None
    return bench, replace(action, ticket="t", **changes)


def test_where_a_hook_waits_no_key_is_pressed() -> None:
    """The answer goes there, marked before, and nowhere else."""
    waits = Waits(BASH)
    bench, action = hooked(waits)

    assert bench.perform(action) == done("answered through the hook")
    assert (bench.sent, bench.marks) == ([], ["1.question1"])
    assert waits.said == [decision(BASH, Meaning.ONCE)]


def test_a_refusal_through_the_hook_has_its_reason() -> None:
    """The model reads it."""
    waits = Waits(BASH)
    bench, action = hooked(waits, choice=Meaning.NO, reason="it destroys data")

    assert bench.perform(action).ending is Ending.DONE
    assert waits.said == [decision(BASH, Meaning.NO, reason="it destroys data")]


@pytest.mark.parametrize("waits", [None, Waits(BASH, takes=False)])
def test_a_line_that_broke_has_carried_nothing(waits: Waits | None) -> None:
    """No key was pressed either: the dialog is looked at again."""
    bench, action = hooked(waits)

    assert bench.perform(action).ending is Ending.SKIPPED
    assert bench.settle(action) == skipped("in doubt; its line is gone")
    assert bench.sent == []


def test_no_key_is_pressed_while_a_hook_waits() -> None:
    """It came between the decision and the key: the dialog is drawn all the same."""
    bench, action = asked()
    bench.view = replace(bench.view, held=(Question(prompt=permission(), nth=2, since=0.0),))

    assert bench.perform(action) == skipped("a hook waits for the answer")
    assert bench.sent == []


# -- by its words ---------------------------------------------------------------------------------


def test_an_option_is_found_by_its_words() -> None:
    """Exactly these, in any case of letters; the selection is moved there where it has no key."""
    bench, action = asked((Ask(command="x", kind="question"), Done()), choice=Meaning.OTHER)

    assert bench.perform(replace(action, text="the SECOND")).ending is Ending.DONE
    assert bench.sent == ["2"]


def test_words_that_no_option_has_are_not_guessed() -> None:
    """The first letters are not enough."""
    bench, action = asked((Ask(command="x", kind="question"), Done()), choice=Meaning.OTHER)

    assert bench.perform(replace(action, text="The")) == failed("no option means 'The'")
    assert bench.sent == []


def test_a_dialog_stands_for_a_moment_before_its_key() -> None:
    """A CLI takes no key in the first moments of one; a key that is lost cannot be told."""
    bench, action = asked()
    before = bench.runtime.monotonic
    pressed: list[float] = []
    bench.host.on_type = lambda _: pressed.append(bench.runtime.monotonic - before)

    assert bench.perform(action).ending is Ending.DONE
    assert pressed[0] == pytest.approx(STANDS)


def test_a_dialog_that_closes_while_it_stands_gets_no_key() -> None:
    """The last look before the key counts."""
    bench, action = asked()
    bench.host.tricks = {bench.host.looks + 1: lambda: bench.agent.key("1")}

    assert (bench.perform(action), bench.sent) == (NOT_THERE, [])
