"""OpenCode: its own questions, its endless retries, its context."""

from __future__ import annotations

import pytest

from koboshi.core.readings import ApiError, Meaning, PromptKind, Status
from tests.lab.conftest import Staged
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Usage, call, refuse, say
from tests.lab.parts import OPENCODE

pytestmark = [pytest.mark.lab, pytest.mark.stage]


def test_a_refusal_leaves_it_idle(opencode: Staged, model: Model) -> None:
    """Nothing failed: the person said no, and the agent waits for what comes next."""
    stage = opencode()
    stage.start()
    model.expect(OPENCODE.shell("touch made.txt"))
    stage.say("Make a file.")
    stage.answer(Meaning.NO)
    stage.wait_text("▣")
    stage.wait_status(Status.IDLE, never=[Status.FAILED])


def test_a_file_to_be_written_is_asked_about(opencode: Staged, model: Model) -> None:
    """The question names the file; allowed, it is there. The footer tells of the context."""
    stage = opencode()
    stage.start()
    written = call("write", filePath=str(stage.home.cwd / "made.txt"), content="made\n")
    model.expect(written, say("Written.", usage=Usage(input=150_000)))
    stage.say("Write.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PERMISSION
    assert look.prompt.subject == "made.txt"
    assert look.meanings == (Meaning.ONCE, Meaning.ALWAYS, Meaning.NO)
    assert look.prompt.selected == 0

    stage.answer(Meaning.ONCE)
    stage.wait_text("Written.")
    stage.wait_status(Status.IDLE)
    look = stage.wait(lambda look: look.used is not None, "a context notice")

    assert (stage.home.cwd / "made.txt").read_text(encoding="utf-8") == "made\n"
    assert look.used == pytest.approx(75, abs=1)


def test_an_error_that_is_retried_is_work_and_another_fails(opencode: Staged, model: Model) -> None:
    """429 is tried again without end; interrupted, and asked anew, 401 ends the turn."""
    stage = opencode()
    stage.start()
    model.expect(refuse(429, times=EVER))
    stage.say("Try.")
    look = stage.wait(lambda look: look.retrying, "a retry")

    assert look.reading.status is Status.WORKING

    stage.interrupt()
    # What is left carries no time and no word of the interruption; nothing failed, all the same.
    stage.wait_status(Status.IDLE, never=[Status.FAILED])
    model.forget()
    model.expect(refuse(401, times=EVER))
    stage.say("Try again.")
    failed = stage.wait_status(Status.FAILED, never=[Status.IDLE])

    assert failed.reading.error == ApiError(code="api")
