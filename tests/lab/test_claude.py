"""Claude Code as it is: what koboshi says of it from its start to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from koboshi.core.readings import Meaning, PromptKind, Status
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import call, say
from tests.lab.stage import Stage

pytestmark = pytest.mark.lab

VERSIONS = ("2.1.197", "2.1.325")

Claude = Callable[..., Stage]


@pytest.fixture(params=VERSIONS)
def claude(request: pytest.FixtureRequest, stages: Stages) -> Claude:
    """A stage for each version; keywords go to its room."""

    def made(**room: Any) -> Stage:  # noqa: ANN401
        return stages("claude", request.param, **room)

    return made


def test_it_starts_idle(claude: Claude) -> None:
    """A start without a question ends at an empty prompt."""
    look = claude().start()

    assert (look.reading.draft, look.reading.prompt) == ("", None)


def test_an_untrusted_folder_is_a_question_of_trust(claude: Claude) -> None:
    """Its options are known by meaning: versions differ in order and in what is selected."""
    stage = claude(trusted=False)
    prompt = stage.start(until=Status.ASKING).prompt

    assert prompt.kind is PromptKind.TRUST
    assert {option.meaning for option in prompt.options} == {Meaning.ONCE, Meaning.NO}
    assert prompt.selected is not None

    stage.answer(Meaning.ONCE)
    stage.wait_status(Status.IDLE)


def test_a_turn_is_work_and_then_idle(claude: Claude, model: Model) -> None:
    """While text streams it works; afterwards it is idle, and the model was told once."""
    stage = claude()
    stage.start()
    model.expect(say("word " * 100, pace=0.03))
    stage.say("Count the words.")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 1.5)
    stage.wait_status(Status.IDLE)

    assert [request.told.count("Count the words.") for request in model.asked] == [1]


def test_a_command_that_was_refused_does_not_run(claude: Claude, model: Model) -> None:
    """The question names the command; No leaves the folder as it was."""
    stage = claude()
    stage.start()
    model.expect(call("Bash", command="touch made.txt", description="Make a file"))
    stage.say("Make a file.")
    prompt = stage.wait_status(Status.ASKING, never=[Status.IDLE]).prompt

    assert prompt.kind is PromptKind.PERMISSION
    assert "touch made.txt" in prompt.subject
    assert {Meaning.ONCE, Meaning.NO} <= {option.meaning for option in prompt.options}

    stage.answer(Meaning.NO)
    stage.wait_status(Status.IDLE)

    assert not (stage.home.cwd / "made.txt").exists()


def test_a_command_that_was_allowed_runs_once(claude: Claude, model: Model) -> None:
    """The model gets one result, and the command has run one time."""
    stage = claude()
    stage.start()
    model.expect(call("Bash", command="echo ran >> made.txt", description="Add"), say("Done."))
    stage.say("Add a line.")
    stage.answer(Meaning.ONCE)
    stage.wait_text("Done.")
    stage.wait_status(Status.IDLE)

    assert (stage.home.cwd / "made.txt").read_text() == "ran\n"
    assert len(model.results) == 1
