"""Gemini CLI: its own questions, its quota, its silence about errors."""

from __future__ import annotations

import pytest

from koboshi.core.readings import ApiError, Meaning, PromptKind, Status
from tests.lab.conftest import Staged
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Refuse, Turn, Usage, call, drop, refuse, say
from tests.lab.stage import failures

pytestmark = [pytest.mark.lab, pytest.mark.stage]

TYPE = "type.googleapis.com/google.rpc.QuotaFailure"
DAILY = "GenerateRequestsPerDayPerProjectPerModel"


def used_up() -> Turn:
    """The answer to a key whose day is used up."""
    details = [{"@type": TYPE, "violations": [{"quotaId": DAILY}]}]
    what = {"code": 429, "message": "You exceeded your current quota"}
    body = {"error": {**what, "status": "RESOURCE_EXHAUSTED", "details": details}}
    return Turn(trouble=Refuse(status=429, body=body), times=EVER)


def test_a_file_to_be_written_is_asked_about(gemini: Staged, model: Model) -> None:
    """The question names the file; refused, there is none."""
    stage = gemini()
    stage.start()
    model.expect(call("write_file", file_path="made.txt", content="● 1. Allow once\n"))
    stage.say("Write.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PERMISSION
    assert look.prompt.question == "Apply this change?"
    assert look.prompt.subject == "made.txt"
    assert look.meanings == (Meaning.ONCE, Meaning.ALWAYS, Meaning.OTHER, Meaning.NO)

    stage.answer(Meaning.NO)
    stage.wait_status(Status.IDLE)

    assert not (stage.home.cwd / "made.txt").exists()


def test_a_used_up_quota_opens_a_menu(gemini: Staged, model: Model) -> None:
    """The title says Working; the screen asks, and one option stops."""
    stage = gemini()
    stage.start()
    model.expect(used_up())
    stage.say("Try.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.LIMIT
    assert look.prompt.question == "Usage limit reached for all Pro models."
    assert look.meanings == (Meaning.OTHER, Meaning.WAIT)
    assert look.reading.limit is not None
    assert look.reading.limit.resets_at is None

    stage.answer(Meaning.WAIT)


def test_a_loop_that_was_detected_is_a_question(gemini: Staged, model: Model) -> None:
    """The title says Ready; the screen asks."""
    stage = gemini()
    stage.start()
    model.expect(say("The same sentence again and again here. " * 60, pace=0.0))
    stage.say("Repeat yourself.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.QUESTION
    assert look.prompt.subject == "A potential loop was detected"
    assert len(look.prompt.options) == 2
    assert look.prompt.selected == 0

    stage.settled()
    stage.key("Escape")
    stage.wait_status(Status.IDLE)


def test_an_error_fails_the_turn_or_is_retried_in_silence(gemini: Staged, model: Model) -> None:
    """500 is tried again without a word on the screen; the others are not."""
    stage = gemini()
    stage.start()
    troubles = {
        "401": refuse(401, times=EVER),
        "403": refuse(403, times=EVER),
        "api": drop("One two three", after=2, reset=True, times=EVER),
    }

    assert failures(stage, troubles) == {code: ApiError(code=code) for code in troubles}

    model.forget()
    model.expect(refuse(500, times=EVER))
    tries = len(model.asked)
    stage.say("Try on.")
    stage.wait_status(Status.WORKING)
    stage.wait(lambda _: len(model.asked) > tries + 1, "a second try")

    assert stage.stays(Status.WORKING, 1).reading.error is None


def test_a_filling_context_is_read_as_used(gemini: Staged, model: Model) -> None:
    """Only when the settings say so, and one turn late: a share of 1,048,576 tokens."""
    stage = gemini(settings={"ui": {"footer": {"hideContextPercentage": False}}})
    stage.start()
    model.expect(say("Long.", usage=Usage(input=500_000)), say("More."))
    for word in ("Long.", "More."):
        stage.say(f"Read until {word}")
        stage.wait_text(f"✦ {word}")
        stage.wait_status(Status.IDLE)
    look = stage.wait(lambda look: bool(look.used), "a context notice")

    assert look.used == pytest.approx(48, abs=1)
