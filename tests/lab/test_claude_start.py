"""The dialogs that Claude Code may open before its prompt: all of them are about trust."""

from __future__ import annotations

import json

import pytest

from koboshi.core.readings import Meaning, PromptKind, Status
from tests.lab.conftest import Staged, Stages
from tests.lab.parts import CLAUDE
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

NO_KEY_KNOWN: dict[str, dict[str, list[str]]] = {
    "customApiKeyResponses": {"approved": [], "rejected": []}
}


def answered(stage: Stage, meaning: Meaning) -> None:
    """Answer what is asked, and see the prompt."""
    stage.answer(meaning)
    stage.wait_status(Status.IDLE)


def test_a_key_from_the_environment_is_asked_about(claude: Staged) -> None:
    """The refusal is selected, in every version: Enter would mean no."""
    stage = claude(settings=NO_KEY_KNOWN)
    look = stage.start(until=Status.ASKING)

    assert look.prompt.kind is PromptKind.TRUST
    assert look.prompt.question == "Do you want to use this API key?"
    assert look.meanings == (Meaning.ONCE, Meaning.NO)
    assert look.prompt.selected == 1

    answered(stage, Meaning.ONCE)


def test_a_server_of_the_project_is_asked_about(claude: Staged) -> None:
    """`.mcp.json` names a program that would be started."""
    stage = claude()
    servers = {"mcpServers": {"labsrv": {"command": "true", "args": []}}}
    (stage.home.cwd / ".mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    look = stage.start(until=Status.ASKING)

    assert look.prompt.kind is PromptKind.TRUST
    assert look.prompt.subject == "labsrv"
    assert look.meanings == (Meaning.ONCE, Meaning.ALWAYS, Meaning.NO)

    answered(stage, Meaning.NO)


def test_a_start_without_permissions_is_asked_about(claude: Staged) -> None:
    """The refusal is selected and ends the program; yes leads to the prompt."""
    stage = claude(args=("--dangerously-skip-permissions",), env={"IS_SANDBOX": "1"})
    look = stage.start(until=Status.ASKING)

    assert look.prompt.kind is PromptKind.TRUST
    assert "Bypass Permissions" in look.prompt.question
    assert look.meanings == (Meaning.NO, Meaning.ONCE)
    assert look.prompt.selected == 0

    answered(stage, Meaning.ONCE)


def test_a_start_that_was_refused_is_gone(claude: Staged) -> None:
    """No, exit."""
    stage = claude(trusted=False)
    stage.start(until=Status.ASKING)
    stage.answer(Meaning.NO)

    assert stage.ended().reading.status is Status.GONE


def test_auto_mode_starts_idle(stages: Stages) -> None:
    """2.1.325 explains the mode above the box; nobody has asked anything yet."""
    stage = stages(CLAUDE[-1], args=("--permission-mode", "auto"))
    stage.start(until=None)
    stage.wait_text("Auto mode lets Claude handle")
    stage.wait_status(Status.IDLE)
