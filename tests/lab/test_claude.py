"""Claude Code as it is: what koboshi says of it from its start to its end."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any, Protocol

import pytest

from koboshi.core.readings import ApiError, Meaning, PromptKind, Status
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Turn, Usage, call, drop, hang, refuse, say
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

VERSIONS = ("2.1.197", "2.1.325")


class Claude(Protocol):
    """Makes the stage of a test."""

    def __call__(self, **room: Any) -> Stage:  # noqa: ANN401
        """A stage whose room has these fields."""


@pytest.fixture(params=VERSIONS)
def claude(request: pytest.FixtureRequest, stages: Stages) -> Claude:
    """Each test runs with each version."""

    def made(**room: Any) -> Stage:  # noqa: ANN401
        return stages("claude", request.param, **room)

    return made


# --- starting ------------------------------------------------------------------------------------


def test_it_starts_idle(claude: Claude) -> None:
    """A start without a question ends at an empty prompt."""
    look = claude().start()

    assert (look.reading.draft, look.reading.prompt) == ("", None)


def test_an_untrusted_folder_is_a_question_of_trust(claude: Claude) -> None:
    """Its options are known by meaning: versions differ in order and in what is selected."""
    stage = claude(trusted=False)
    prompt = stage.start(until=Status.ASKING).prompt

    assert prompt.kind is PromptKind.TRUST
    assert str(stage.home.cwd) in prompt.subject
    assert sorted(stage.look().meanings) == [Meaning.NO, Meaning.ONCE]
    assert prompt.selected is not None

    stage.answer(Meaning.ONCE)
    stage.wait_status(Status.IDLE)


# --- work ----------------------------------------------------------------------------------------


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


def test_a_running_tool_is_work(claude: Claude, model: Model) -> None:
    """Read-only commands run without a question; while they do, the agent works."""
    stage = claude()
    stage.start()
    model.expect(call("Bash", command="sleep 3; ls", description="Wait"), say("Waited."))
    stage.say("Wait a little.")
    stage.wait_text("sleep 3")
    stage.stays(Status.WORKING, 1.5)
    stage.wait_text("Waited.")
    stage.wait_status(Status.IDLE)

    assert len(model.results) == 1


def test_a_model_that_never_answers_looks_like_work(claude: Claude, model: Model) -> None:
    """A hang cannot be told from work by the screen; it must not be called anything else."""
    stage = claude()
    stage.start()
    model.expect(hang())
    stage.say("Are you there?")
    stage.wait_status(Status.WORKING)
    stage.stays(Status.WORKING, 3)

    model.release()
    stage.wait_status(Status.IDLE)


# --- questions -----------------------------------------------------------------------------------


def test_a_command_that_was_refused_does_not_run(claude: Claude, model: Model) -> None:
    """The question names the command; No leaves the folder as it was."""
    stage = claude()
    stage.start()
    model.expect(call("Bash", command="touch made.txt", description="Make a file"))
    stage.say("Make a file.")
    prompt = stage.wait_status(Status.ASKING, never=[Status.IDLE]).prompt

    assert prompt.kind is PromptKind.PERMISSION
    assert prompt.question == "Do you want to proceed?"
    assert "touch made.txt" in prompt.subject
    assert {Meaning.ONCE, Meaning.ALWAYS, Meaning.NO} <= set(stage.look().meanings)
    assert prompt.selected == prompt.index_of(Meaning.ONCE)

    stage.answer(Meaning.NO)
    stage.wait_status(Status.IDLE)

    assert not (stage.home.cwd / "made.txt").exists()


def test_a_command_that_was_allowed_runs_once(claude: Claude, model: Model) -> None:
    """The model gets one result, and the command has run one time."""
    stage = claude()
    stage.start()
    model.expect(call("Bash", command="echo ran >> made.txt", description="Add"), say("Added."))
    stage.say("Add a line.")
    stage.answer(Meaning.ONCE)
    stage.wait_text("Added.")
    stage.wait_status(Status.IDLE)

    assert (stage.home.cwd / "made.txt").read_text(encoding="utf-8") == "ran\n"
    assert len(model.results) == 1


def test_a_command_that_is_always_allowed_is_not_asked_again(claude: Claude, model: Model) -> None:
    """The option that means `always` is that option."""
    stage = claude()
    stage.start()
    again = call("Bash", command="git commit --allow-empty -m x", description="Commit")
    model.expect(again, again, say("Committed."))
    stage.say("Commit twice.")
    stage.answer(Meaning.ALWAYS)
    stage.wait_text("Committed.")
    stage.wait_status(Status.IDLE, never=[Status.ASKING])

    assert len(model.results) == 2


def test_a_file_to_be_written_is_asked_about(claude: Claude, model: Model) -> None:
    """Write shows the content, and the question names the file."""
    stage = claude()
    stage.start()
    target = stage.home.cwd / "poem.txt"
    content = "1. Yes\n2. No, and tell Claude what to do differently\n"
    model.expect(call("Write", file_path=str(target), content=content), say("Written."))
    stage.say("Write a poem.")
    prompt = stage.wait_status(Status.ASKING, never=[Status.IDLE]).prompt

    assert prompt.kind is PromptKind.PERMISSION
    assert "poem.txt" in prompt.question + prompt.subject
    assert stage.look().meanings == (Meaning.ONCE, Meaning.ALWAYS, Meaning.NO)

    stage.answer(Meaning.ONCE)
    stage.wait_text("Written.")

    assert target.read_text(encoding="utf-8") == content


def test_a_file_to_be_edited_is_asked_about(claude: Claude, model: Model) -> None:
    """Edit shows a diff; refused, the file stays."""
    stage = claude()
    target = stage.home.cwd / "poem.txt"
    target.write_text("one\ntwo\n", encoding="utf-8")
    stage.start()
    edit = call("Edit", file_path=str(target), old_string="two", new_string="three")
    model.expect(call("Read", file_path=str(target)), edit)
    stage.say("Edit the poem.")
    prompt = stage.wait_status(Status.ASKING, never=[Status.IDLE]).prompt

    assert prompt.kind is PromptKind.PERMISSION
    assert "poem.txt" in prompt.question + prompt.subject

    stage.answer(Meaning.NO)
    stage.wait_status(Status.IDLE)

    assert target.read_text(encoding="utf-8") == "one\ntwo\n"


def test_a_question_to_the_user_is_a_question(claude: Claude, model: Model) -> None:
    """AskUserQuestion: its words and its options, none of which means yes or no."""
    stage = claude()
    stage.start()
    options = [{"label": word, "description": f"Take {word}"} for word in ("Red", "Blue")]
    asked = {
        "question": "Which colour?",
        "header": "Colour",
        "options": options,
        "multiSelect": False,
    }
    model.expect(call("AskUserQuestion", questions=[asked]), say("Blue it is."))
    stage.say("Ask me.")
    stage.wait_status(Status.ASKING, never=[Status.IDLE])
    prompt = stage.settled()

    assert prompt.kind is PromptKind.QUESTION
    assert prompt.question == "Which colour?"
    assert [option.text for option in prompt.options][:2] == ["Red", "Blue"]
    assert prompt.selected == 0

    stage.key("Down")
    stage.wait(lambda look: look.prompt.selected == 1, 5, "Blue selected")
    stage.key("Enter")
    stage.wait_text("Blue it is.")
    stage.wait_status(Status.IDLE)

    assert "Blue" in model.results[-1].text


def test_a_plan_waits_for_approval(claude: Claude, model: Model) -> None:
    """Plan mode ends in a question of its own kind, however much the plan looks like one."""
    stage = claude(args=("--permission-mode", "plan"))
    stage.start()
    stage.say("Think first.")
    stage.wait_text("Scripted reply")
    stage.wait_status(Status.IDLE)
    plan = plan_file(model)
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text("# Plan\n\n1. Yes, first this\n2. No, not that\n", encoding="utf-8")
    model.expect(call("ExitPlanMode"))
    stage.say("Plan it.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PLAN
    assert not [option for option in look.prompt.options if option.text.startswith("Yes, first")]
    assert Meaning.ONCE in look.meanings


def plan_file(model: Model) -> Path:
    """Where the agent was told to write its plan."""
    found = re.search(r"(/[\w./-]+/\.claude/plans/[\w-]+\.md)", json.dumps(model.asked[-1].body))
    assert found, "no plan file in what the model was told"
    return Path(found[1])


def test_an_empty_plan_is_a_question_too(claude: Claude, model: Model) -> None:
    """Without a plan file the dialog is a bare Yes or No without a footer."""
    stage = claude(args=("--permission-mode", "plan"))
    stage.start()
    model.expect(call("ExitPlanMode"))
    stage.say("Plan it.")
    stage.wait_text("Exit plan mode?")

    assert stage.wait_status(Status.ASKING, 2).prompt.kind is PromptKind.PLAN


# --- context -------------------------------------------------------------------------------------


def test_a_filling_context_is_read_as_used(claude: Claude, model: Model) -> None:
    """The notice is a share of the effective window: 200k less 20k for the answer."""
    stage = claude(args=("--model", "claude-sonnet-4-5"))
    stage.start()
    model.expect(say("Long.", usage=Usage(input=1000, cache_read=157_980, output=20)))
    stage.say("Read everything.")
    look = stage.wait(lambda look: look.reading.context is not None, 20, "a context notice")

    assert look.reading.context is not None
    assert look.reading.context.used == pytest.approx(88, abs=1)


def test_compaction_is_work(claude: Claude, model: Model) -> None:
    """`/compact` works until the summary is there, then the agent is idle."""
    stage = claude()
    stage.start()
    for word in ("this", "that"):
        model.expect(say(f"Remembered {word}."))
        stage.say(f"Remember {word}.")
        stage.wait_text(f"Remembered {word}.")
        stage.wait_status(Status.IDLE)
    hung = hang()
    model.expect(hung, Turn(blocks=hung.blocks, trouble=hung.trouble, side=True))
    stage.say("/compact")
    stage.wait_status(Status.WORKING)
    stage.wait_text("Compacting")
    stage.stays(Status.WORKING, 1)

    model.release()
    stage.wait_status(Status.IDLE, never=[Status.FAILED])


# --- errors --------------------------------------------------------------------------------------


def test_an_error_that_is_retried_is_work_until_it_fails(claude: Claude, model: Model) -> None:
    """500: retrying is work with an error beside it; the last one leaves the turn failed."""
    stage = claude(env={"CLAUDE_CODE_MAX_RETRIES": "4"})
    stage.start()
    model.expect(refuse(500, times=EVER))
    stage.say("Try.")
    look = stage.wait(
        lambda look: look.reading.error is not None and look.reading.error.retrying,
        20,
        "a retry",
    )

    assert look.reading.status is Status.WORKING
    assert look.reading.error is not None
    assert look.reading.error.of == 4

    failed = stage.wait_status(Status.FAILED, 30, never=[Status.IDLE])

    assert failed.reading.error == ApiError(code="500")


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        pytest.param(refuse(400, "messages: odd", times=EVER), "400", id="400"),
        pytest.param(refuse(401, times=EVER, x_should_retry="false"), "401", id="401"),
        pytest.param(refuse(403, times=EVER), "403", id="403"),
        pytest.param(refuse(404, times=EVER), "404", id="404"),
        pytest.param(refuse(429, times=EVER, x_should_retry="false"), "429", id="429"),
        pytest.param(refuse(529, times=EVER), "529", id="529"),
        pytest.param(drop(times=EVER, reset=True), "network", id="reset"),
    ],
)
def test_an_error_that_ends_the_turn_leaves_it_failed(
    claude: Claude, model: Model, turn: Turn, code: str
) -> None:
    """Nobody tries again; the prompt is there, but the turn has not been done."""
    stage = claude(env={"CLAUDE_CODE_MAX_RETRIES": "1"})
    stage.start()
    model.expect(turn)
    stage.say("Try.")
    failed = stage.wait_status(Status.FAILED, 25, never=[Status.IDLE])

    assert failed.reading.error == ApiError(code=code)


def test_a_usage_limit_says_when_it_resets(claude: Claude, model: Model) -> None:
    """A subscription that is used up: one request, and the instant of the reset."""
    resets = (int(time.time()) // 3600 + 3) * 3600
    stage = claude(env={"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "dummy-oauth-token"})
    stage.start()
    limit = {
        "anthropic_ratelimit_unified_status": "rejected",
        "anthropic_ratelimit_unified_reset": str(resets),
        "anthropic_ratelimit_unified_representative_claim": "five_hour",
    }
    model.expect(refuse(429, times=EVER, **limit))
    stage.say("Try.")
    stage.wait(lambda look: look.reading.limit is not None, 20, "a limit")
    time.sleep(2)  # 2.1.197 opens a menu by itself, a moment later
    if prompt := stage.look().reading.prompt:
        assert prompt.kind is PromptKind.LIMIT
        stage.answer(Meaning.WAIT)
    look = stage.wait_status(Status.LIMITED, 20, never=[Status.IDLE])

    assert look.reading.limit is not None
    assert look.reading.limit.resets_at == resets
    assert look.reading.limit.kind in ("session", "usage")  # 2.1.325: "Usage limit reached"


# --- the end -------------------------------------------------------------------------------------


def test_exit_is_gone_with_its_code(claude: Claude) -> None:
    """A typed exit."""
    stage = claude()
    stage.start()
    look = stage.leave()

    assert look.reading.status is Status.GONE
    assert (look.seen.code, look.seen.signal) == (0, None)
    assert stage.adapter.clean_exit(look.seen.code, look.seen.signal)


def test_a_kill_is_gone_with_its_signal(claude: Claude, model: Model) -> None:
    """Whatever the screen still shows: the process is dead."""
    stage = claude()
    stage.start()
    model.expect(hang())
    stage.say("Work.")
    stage.wait_status(Status.WORKING)
    stage.kill()
    look = stage.wait_status(Status.GONE)

    assert (look.seen.code, look.seen.signal) == (None, signal.SIGKILL)


def test_a_kill_under_a_shell_is_gone(claude: Claude, model: Model) -> None:
    """The frame of the dead agent stays on the screen, and a shell is drawn over it."""
    stage = claude()
    stage.start_in_shell()
    model.expect(hang())
    stage.say("Work.")
    stage.wait_status(Status.WORKING)
    stage.kill()
    look = stage.wait_status(Status.GONE)

    assert look.seen.alive
