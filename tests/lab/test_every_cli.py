"""What every CLI does, from its start to its end, and what koboshi says of it.

A start costs seconds of processor time, so that each test goes through several turns.
"""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from koboshi.core.readings import ApiError, Meaning, PromptKind, Status
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Hang, hang, refuse, say, stall
from tests.lab.parts import CLAUDE, CODEX, GEMINI, Part
from tests.lab.stage import Stage, plan_mode

pytestmark = [pytest.mark.lab, pytest.mark.stage]


@pytest.fixture
def stage(stages: Stages, part: Part) -> Stage:
    """The CLI, not yet started."""
    return stages(part)


def test_it_starts_works_is_interrupted_and_leaves(stage: Stage, model: Model) -> None:
    """A long answer, no answer, half an answer: all of it is work, and idle afterwards."""
    started = stage.start()

    assert (started.reading.draft, started.reading.prompt) == ("", None)

    words = say(" ".join(f"word{n}" for n in range(100)), pace=0.02)
    model.expect(replace(words, trouble=Hang(after=50)))  # it is not over before it was seen
    stage.say("Count the words.")
    stage.wait_status(Status.WORKING, never=[Status.ASKING, Status.FAILED])
    stage.wait(lambda _: len(model.asked) == 1, "the request: only what hangs is released")
    model.release()
    stage.stays_until(Status.WORKING, Status.IDLE)

    assert [request.told.count("Count the words.") for request in model.asked] == [1]

    model.expect(hang())
    stage.say("Are you there?")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 2)  # it cannot be told from work; it must not be called else
    stage.wait(lambda _: len(model.asked) == 2, "the request")
    model.release()
    stage.stays_until(Status.WORKING, Status.IDLE)

    model.expect(stall("One two three four", after=2))
    stage.say("Count again.")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 1)
    stage.interrupt()
    stage.wait_status(Status.IDLE)

    look = stage.leave()

    assert look.reading.status is Status.GONE
    assert (look.seen.code, look.seen.signal) == (0, None)
    assert stage.adapter.clean_exit(look.seen.code, look.seen.signal)


def test_it_asks_before_it_runs_a_command(stage: Stage, part: Part, model: Model) -> None:
    """Allowed, the command runs once; refused, not at all. The question names it."""
    stage.start()
    made = stage.home.cwd / "made.txt"
    model.expect(part.shell("echo ran >> made.txt"), say("Added."))
    stage.say("Add a line.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PERMISSION
    assert "echo ran >> made.txt" in look.prompt.subject
    assert {Meaning.ONCE, Meaning.NO} <= set(look.meanings)
    assert look.prompt.selected == look.prompt.index_of(Meaning.ONCE)

    stage.answer(Meaning.ONCE)
    stage.wait_text("Added.")
    stage.wait_status(Status.IDLE)

    assert made.read_text(encoding="utf-8") == "ran\n"
    assert len(model.results) == 1

    model.expect(part.shell("rm made.txt"))
    stage.say("Take it away.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert "rm made.txt" in look.prompt.subject

    stage.answer(Meaning.NO)
    stage.wait(lambda look: look.reading.status is not Status.WORKING, "the end of the turn")

    assert made.exists()


@pytest.mark.parametrize("part", [*CLAUDE, CODEX], ids=lambda part: part.key)
def test_a_command_that_is_always_allowed_is_not_asked_again(
    stages: Stages, part: Part, model: Model
) -> None:
    """The option that means `always` is that option."""
    stage = stages(part)
    stage.start()
    again = part.shell("git commit --allow-empty -m x")
    model.expect(again, again, say("Committed."))
    stage.say("Commit twice.")
    stage.answer(Meaning.ALWAYS)
    stage.wait_text("Committed.")
    stage.wait_status(Status.IDLE, never=[Status.ASKING])

    assert len(model.results) == 2


def test_a_question_to_the_user_is_a_question(stage: Stage, part: Part, model: Model) -> None:
    """Its words and its options, none of which means yes or no."""
    stage.start()
    if part is CODEX:
        plan_mode(stage)
    model.expect(part.question, say("Blue it is."))
    stage.say("Ask me.")
    stage.wait_text("Which colour?")
    prompt = stage.wait_status(Status.ASKING).prompt

    assert prompt.kind is PromptKind.QUESTION
    assert prompt.question == "Which colour?"
    assert [option.text for option in prompt.options][:2] == ["Red", "Blue"]
    assert {option.meaning for option in prompt.options} == {Meaning.OTHER}

    stage.choose(1)
    stage.wait_text("Blue it is.")

    assert "Blue" in model.results[-1].text


def test_an_error_that_ends_the_turn_leaves_it_failed_until_it_is_killed(
    stage: Stage, part: Part, model: Model
) -> None:
    """400 is not tried again. A kill is gone, whatever screen and title still show."""
    stage.start()
    model.expect(refuse(400, "scripted trouble", times=EVER))
    stage.say("Try.")
    failed = stage.wait_status(Status.FAILED, never=[Status.IDLE])

    assert failed.reading.error == ApiError(code=part.bad_request)

    model.forget()
    model.expect(hang())
    stage.say("Work.")
    stage.wait_status(Status.WORKING)
    stage.kill()
    look = stage.ended()

    assert look.reading.status is Status.GONE
    assert not stage.adapter.clean_exit(look.seen.code, look.seen.signal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_polite_signal_is_gone(stage: Stage, part: Part, number: signal.Signals) -> None:
    """Each CLI has its own way to end, and some call it a success."""
    stage.start()
    stage.kill(number)
    look = stage.ended()

    assert look.reading.status is Status.GONE
    wanted = part.terminated if number is signal.SIGTERM else part.hung_up
    assert (look.seen.code, look.seen.signal) == wanted


@pytest.mark.parametrize("part", [*CLAUDE, CODEX], ids=lambda part: part.key)
def test_a_kill_under_a_shell_is_gone(stages: Stages, part: Part, model: Model) -> None:
    """The frame of the dead agent stays on the screen, and a shell is drawn over it."""
    stage = stages(part)
    stage.start_in_shell()
    model.expect(hang())
    stage.say("Work.")
    stage.wait_status(Status.WORKING)
    stage.kill()
    look = stage.wait_status(Status.GONE)

    assert look.seen.alive


@pytest.mark.parametrize("part", [*CLAUDE, CODEX, GEMINI], ids=lambda part: part.key)
def test_an_untrusted_folder_is_a_question_of_trust(stages: Stages, part: Part) -> None:
    """Its options are known by meaning: order, numbers and what is selected differ."""
    stage = stages(part, trusted=False)
    look = stage.start(until=Status.ASKING)

    assert look.prompt.kind is PromptKind.TRUST
    assert {Meaning.ONCE, Meaning.NO} <= set(look.meanings)
    assert look.prompt.selected is not None

    stage.answer(Meaning.ONCE)
    stage.wait_status(Status.IDLE)
