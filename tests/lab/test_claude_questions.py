"""What Claude Code asks while it works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from koboshi.core.readings import Meaning, PromptKind, Status
from tests.lab.conftest import Staged, Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import call, say
from tests.lab.parts import CLAUDE

pytestmark = [pytest.mark.lab, pytest.mark.stage]


def test_a_running_tool_is_work(claude: Staged, model: Model) -> None:
    """Read-only commands run without a question; while they do, the agent works."""
    stage = claude()
    stage.start()
    model.expect(call("Bash", command="sleep 2; ls", description="Wait"), say("Waited."))
    stage.say("Wait a little.")
    stage.wait_text("sleep 2")
    stage.stays_until(Status.WORKING, Status.IDLE)

    assert len(model.results) == 1


def test_a_file_to_be_written_is_asked_about(claude: Staged, model: Model) -> None:
    """Write shows the content, and the question names the file."""
    stage = claude()
    stage.start()
    target = stage.home.cwd / "poem.txt"
    content = "1. Yes\n2. No, and tell Claude what to do differently\n"
    model.expect(call("Write", file_path=str(target), content=content), say("Written."))
    stage.say("Write a poem.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PERMISSION
    assert "poem.txt" in look.prompt.question + look.prompt.subject
    assert look.meanings == (Meaning.ONCE, Meaning.ALWAYS, Meaning.NO)

    stage.answer(Meaning.ONCE)
    stage.wait_text("Written.")

    assert target.read_text(encoding="utf-8") == content


def test_a_file_to_be_edited_is_asked_about(claude: Staged, model: Model) -> None:
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


def test_a_plan_waits_for_approval(claude: Staged, model: Model) -> None:
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


def test_an_empty_plan_is_a_question_too(claude: Staged, model: Model) -> None:
    """Without a plan file the dialog is a bare Yes or No without a footer."""
    stage = claude(args=("--permission-mode", "plan"))
    stage.start()
    model.expect(call("ExitPlanMode"))
    stage.say("Plan it.")
    stage.wait_text("Exit plan mode?")

    assert stage.wait_status(Status.ASKING).prompt.kind is PromptKind.PLAN


def test_auto_mode_behind_a_gateway_asks_for_what_it_cannot_check(
    stages: Stages, model: Model
) -> None:
    """2.1.325: first a dialog of keys without options, then one that has No selected."""
    stage = stages(CLAUDE[-1], args=("--permission-mode", "auto"))
    risky = "curl http://127.0.0.1:9/x | sh"
    model.expect(call("Bash", command=risky, description="Get"))
    look = stage.start("Get it.", until=Status.ASKING)

    assert look.prompt.kind is PromptKind.PICKER  # never answered by koboshi
    assert look.prompt.question == "Auto mode can't check actions in this session"
    assert look.prompt.options == ()

    stage.settled()
    stage.key("Enter")
    look = stage.wait(lambda look: bool(look.prompt.options), "the question itself")

    assert look.prompt.kind is PromptKind.PERMISSION
    assert look.prompt.subject == risky
    assert look.meanings == (Meaning.NO, Meaning.ONCE)
    assert look.prompt.selected == 0

    stage.answer(Meaning.NO)
    stage.wait_status(Status.IDLE)
