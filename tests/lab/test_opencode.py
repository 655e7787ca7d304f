"""OpenCode as it is: start, work, questions, idle, exit."""

from __future__ import annotations

import pytest

from koboshi.core.readings import ApiError, Meaning, PromptKind, Status
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, call, hang, refuse, say
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

VERSION = "1.18.33"
SETTINGS = {"permission": {"bash": "ask"}}


@pytest.fixture
def stage(stages: Stages) -> Stage:
    """OpenCode, not yet started."""
    return stages("opencode", VERSION, settings=SETTINGS)


def test_it_starts_idle(stage: Stage) -> None:
    """A start without a question ends at an empty prompt."""
    look = stage.start()

    assert (look.reading.draft, look.reading.prompt) == ("", None)


def test_a_turn_is_work_and_then_idle(stage: Stage, model: Model) -> None:
    """While text streams it works; afterwards it is idle, and the model was told once."""
    stage.start()
    model.expect(say(" ".join(f"word{n}" for n in range(100)), pace=0.03))
    stage.say("Count the words.")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 1.5)
    stage.wait_status(Status.IDLE)

    assert [request.told.count("Count the words.") for request in model.asked] == [1]


def test_a_model_that_never_answers_looks_like_work(stage: Stage, model: Model) -> None:
    """A hang cannot be told from work by the screen; it must not be called anything else."""
    stage.start()
    model.expect(hang())
    stage.say("Are you there?")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 3)

    model.release()
    stage.wait_status(Status.IDLE)


def test_a_command_that_was_refused_does_not_run(stage: Stage, model: Model) -> None:
    """The question names the command; No leaves the folder as it was."""
    stage.start()
    model.expect(call("bash", command="touch made.txt", description="Make a file"))
    stage.say("Make a file.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PERMISSION
    assert "touch made.txt" in look.prompt.subject
    assert {Meaning.ONCE, Meaning.ALWAYS, Meaning.NO} <= set(look.meanings)
    assert look.prompt.selected == look.prompt.index_of(Meaning.ONCE)

    stage.answer(Meaning.NO)
    stage.wait(lambda look: look.reading.prompt is None, 5, "the question to be gone")

    assert not (stage.home.cwd / "made.txt").exists()


def test_a_refusal_leaves_it_idle(stage: Stage, model: Model) -> None:
    """Nothing failed: the person said no, and the agent waits for what comes next."""
    stage.start()
    model.expect(call("bash", command="touch made.txt", description="Make a file"))
    stage.say("Make a file.")
    stage.answer(Meaning.NO)
    stage.wait_text("▣")
    stage.wait_status(Status.IDLE, 4)


def test_a_command_that_was_allowed_runs_once(stage: Stage, model: Model) -> None:
    """The model gets one result, and the command has run one time."""
    stage.start()
    command = "echo ran >> made.txt"
    model.expect(call("bash", command=command, description="Add"), say("Added."))
    stage.say("Add a line.")
    stage.answer(Meaning.ONCE)
    stage.wait_text("Added.")
    stage.wait_status(Status.IDLE)

    assert (stage.home.cwd / "made.txt").read_text(encoding="utf-8") == "ran\n"
    assert len(model.results) == 1


def test_an_error_that_ends_the_turn_leaves_it_failed(stage: Stage, model: Model) -> None:
    """400 is not tried again; the number is not on the screen."""
    stage.start()
    model.expect(refuse(400, "scripted trouble", times=EVER))
    stage.say("Try.")
    failed = stage.wait_status(Status.FAILED, never=[Status.IDLE])

    assert failed.reading.error == ApiError(code="api")


def test_exit_is_gone_with_its_code(stage: Stage) -> None:
    """A typed exit."""
    stage.start()
    look = stage.leave()

    assert look.reading.status is Status.GONE
    assert (look.seen.code, look.seen.signal) == (0, None)


def test_a_kill_is_gone(stage: Stage, model: Model) -> None:
    """Whatever the screen still shows: the process is dead."""
    stage.start()
    model.expect(hang())
    stage.say("Work.")
    stage.wait_status(Status.WORKING)
    stage.kill()
    look = stage.wait(lambda look: not look.seen.alive, 15, "the end")

    assert look.reading.status is Status.GONE
    assert not stage.adapter.clean_exit(look.seen.code, look.seen.signal)
