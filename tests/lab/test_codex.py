"""Codex CLI as it is: what koboshi says of it from its start to its end."""

from __future__ import annotations

import signal
import time
from typing import Any, Protocol

import pytest

from koboshi.core.readings import ApiError, Meaning, PromptKind, Status
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Refuse, Turn, call, hang, refuse, say
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

VERSION = "0.166.0"


class Codex(Protocol):
    """Makes the stage of a test."""

    def __call__(self, **room: Any) -> Stage:  # noqa: ANN401
        """A stage whose room has these fields."""


@pytest.fixture
def codex(stages: Stages) -> Codex:
    """Codex CLI, without its daemon."""

    def made(**room: Any) -> Stage:  # noqa: ANN401
        return stages("codex", VERSION, **room)

    return made


def escalated(command: str) -> Turn:
    """A call that wants out of the sandbox, which is always asked about."""
    outside = {"sandbox_permissions": "require_escalated", "justification": "May this run?"}
    return call("exec_command", cmd=command, **outside)


# --- starting ------------------------------------------------------------------------------------


def test_it_starts_idle(codex: Codex) -> None:
    """A start without a question ends at an empty prompt."""
    look = codex().start()

    assert (look.reading.draft, look.reading.prompt) == ("", None)


def test_an_untrusted_folder_is_a_question_of_trust(codex: Codex) -> None:
    """Enter on what is selected leads to the prompt."""
    stage = codex(trusted=False)
    look = stage.start(until=Status.ASKING)

    assert look.prompt.kind is PromptKind.TRUST
    assert Meaning.ONCE in look.meanings
    assert look.prompt.selected is not None

    stage.settled()
    stage.key("Enter")
    stage.wait_status(Status.IDLE)


def test_the_question_of_trust_is_answered(codex: Codex) -> None:
    """The keys that koboshi would press close the dialog."""
    stage = codex(trusted=False)
    stage.start(until=Status.ASKING)
    stage.answer(Meaning.ONCE)


# --- work ----------------------------------------------------------------------------------------


def test_a_turn_is_work_and_then_idle(codex: Codex, model: Model) -> None:
    """While text streams only the title moves; it is work all the same."""
    stage = codex()
    stage.start()
    model.expect(say("word " * 100, pace=0.03))
    stage.say("Count the words.")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 1.5)
    stage.wait_status(Status.IDLE)

    assert [request.told.count("Count the words.") for request in model.asked] == [1]


def test_a_model_that_never_answers_looks_like_work(codex: Codex, model: Model) -> None:
    """A hang cannot be told from work by the screen; it must not be called anything else."""
    stage = codex()
    stage.start()
    model.expect(hang())
    stage.say("Are you there?")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 3)

    model.release()
    stage.wait_status(Status.IDLE)


# --- questions -----------------------------------------------------------------------------------


def test_a_command_that_was_refused_does_not_run(codex: Codex, model: Model) -> None:
    """The question names the command; No leaves the folder as it was."""
    stage = codex()
    stage.start()
    model.expect(escalated("touch made.txt"))
    stage.say("Make a file.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PERMISSION
    assert "touch made.txt" in look.prompt.subject
    assert {Meaning.ONCE, Meaning.NO} <= set(look.meanings)
    assert look.prompt.selected == look.prompt.index_of(Meaning.ONCE)

    stage.answer(Meaning.NO)
    stage.wait_status(Status.IDLE)

    assert not (stage.home.cwd / "made.txt").exists()


def test_a_command_that_was_allowed_runs_once(codex: Codex, model: Model) -> None:
    """The model gets one result, and the command has run one time."""
    stage = codex()
    stage.start()
    model.expect(escalated("echo ran >> made.txt"), say("Added."))
    stage.say("Add a line.")
    stage.answer(Meaning.ONCE)
    stage.wait_text("Added.")
    stage.wait_status(Status.IDLE)

    assert (stage.home.cwd / "made.txt").read_text(encoding="utf-8") == "ran\n"
    assert len(model.results) == 1


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 429])
def test_an_error_that_ends_the_turn_leaves_it_failed(
    codex: Codex, model: Model, status: int
) -> None:
    """One request, one red line, and an idle-looking prompt."""
    stage = codex()
    stage.start()
    model.expect(refuse(status, "scripted trouble", times=EVER))
    stage.say("Try.")
    failed = stage.wait_status(Status.FAILED, never=[Status.IDLE])

    assert failed.reading.error == ApiError(code=str(status))


def test_an_error_that_is_retried_is_work(codex: Codex, model: Model) -> None:
    """500: Codex tries for half a minute; all that time it works."""
    stage = codex()
    stage.start()
    model.expect(refuse(500, times=EVER))
    stage.say("Try.")
    look = stage.wait(
        lambda look: look.reading.error is not None and look.reading.error.retrying,
        20,
        "a retry",
    )

    assert look.reading.status is Status.WORKING


def test_a_usage_limit_says_when_it_resets(codex: Codex, model: Model) -> None:
    """The instant of the reset, from a clock time without a zone."""
    resets = (int(time.time()) // 3600 + 3) * 3600
    error = {
        "type": "usage_limit_reached",
        "message": "The usage limit has been reached",
        "plan_type": "plus",
        "resets_at": resets,
    }
    stage = codex()
    stage.start()
    model.expect(Turn(trouble=Refuse(status=429, body={"error": error}), times=EVER))
    stage.say("Try.")
    look = stage.wait_status(Status.LIMITED, never=[Status.IDLE])

    assert look.reading.limit is not None
    assert look.reading.limit.resets_at == resets


# --- the end -------------------------------------------------------------------------------------


def test_exit_is_gone_with_its_code(codex: Codex) -> None:
    """A typed exit."""
    stage = codex()
    stage.start()
    look = stage.leave()

    assert look.reading.status is Status.GONE
    assert (look.seen.code, look.seen.signal) == (0, None)


def test_a_kill_is_gone_with_its_signal(codex: Codex, model: Model) -> None:
    """Its spinner stays in the title, its frame on the screen; the process is dead."""
    stage = codex()
    stage.start()
    model.expect(hang())
    stage.say("Work.")
    stage.wait_status(Status.WORKING)
    stage.kill()
    look = stage.wait_status(Status.GONE)

    assert (look.seen.code, look.seen.signal) == (None, signal.SIGKILL)


def test_a_kill_under_a_shell_is_gone(codex: Codex, model: Model) -> None:
    """The frame of the dead agent stays on the screen, and a shell is drawn over it."""
    stage = codex()
    stage.start_in_shell()
    model.expect(hang())
    stage.say("Work.")
    stage.wait_status(Status.WORKING)
    stage.kill()
    look = stage.wait_status(Status.GONE)

    assert look.seen.alive
