"""Codex CLI: its own questions, its context, what the API may answer it."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import pytest

from koboshi.core.readings import ApiError, Limit, Meaning, PromptKind, Status
from koboshi.observations import HookFired
from koboshi.performers.equipping import SHIM
from koboshi.sources.spool import Spool
from koboshi.store.project import carry_out, plan
from tests.lab.conftest import Staged
from tests.lab.limits import codex_error, codex_used_up
from tests.lab.model.server import Model
from tests.lab.model.turns import (
    EVER,
    Break,
    Hang,
    Say,
    Turn,
    Usage,
    call,
    drop,
    refuse,
    say,
)
from tests.lab.stage import failures, plan_mode

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: As few tries as can be: by default it tries thirty times in half a minute.
ONCE = (
    *("-c", "model_providers.lab.request_max_retries=1"),
    *("-c", "model_providers.lab.stream_max_retries=1"),
)
#: By default the footer does not tell of the context.
FOOTER = ("-c", 'tui.status_line=["model-with-reasoning","context-used","current-dir"]')
PATCH = """\
apply_patch <<'EOF'
*** Begin Patch
*** Add File: made.txt
+made
*** End Patch
EOF
"""


# --- questions -----------------------------------------------------------------------------------


def test_an_edit_is_asked_about(codex: Staged, model: Model) -> None:
    """A patch in a sandbox that may not write: the question names the file."""
    stage = codex(args=("-c", "sandbox_mode=read-only"))
    stage.start()
    model.expect(call("exec_command", cmd=PATCH), say("Patched."))
    stage.say("Patch it.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PERMISSION
    assert look.prompt.question == "Would you like to make the following edits?"
    assert look.prompt.subject == str(stage.home.cwd / "made.txt")
    assert look.meanings == (Meaning.ONCE, Meaning.ALWAYS, Meaning.NO)

    stage.answer(Meaning.ONCE)
    stage.wait_text("Patched.")
    stage.wait_status(Status.IDLE)

    assert (stage.home.cwd / "made.txt").read_text(encoding="utf-8") == "made\n"


def test_a_plan_waits_for_approval(codex: Staged, model: Model) -> None:
    """The title says nothing here; the screen does, however much the plan looks like a dialog."""
    stage = codex()
    stage.start()
    plan_mode(stage)
    plan = "# Plan\n\n1. Yes, first this\n2. No, not that\n"
    model.expect(say(f"<proposed_plan>\n{plan}</proposed_plan>\n"))
    stage.say("Plan it.")
    look = stage.wait_status(Status.ASKING, never=[Status.IDLE])

    assert look.prompt.kind is PromptKind.PLAN
    assert look.prompt.question == "Implement this plan?"
    assert look.meanings == (Meaning.ONCE, Meaning.ALWAYS, Meaning.NO)

    stage.answer(Meaning.NO)
    stage.wait_status(Status.IDLE)


# --- context -------------------------------------------------------------------------------------


def test_a_filling_context_is_read_as_used(codex: Staged, model: Model) -> None:
    """95% of 272k tokens, less 12k that do not count."""
    stage = codex(args=FOOTER)
    stage.start()
    model.expect(say("Long.", usage=Usage(input=200_000)))
    stage.say("Read everything.")
    look = stage.wait(lambda look: bool(look.used), "a context notice")

    assert look.used == pytest.approx(76, abs=1)


@pytest.mark.parametrize("command", ["/compact", "Go on."], ids=["by-hand", "by-itself"])
def test_compaction_is_work(codex: Staged, model: Model, command: str) -> None:
    """It works until the summary is there; the turn that caused it goes on."""
    stage = codex(args=(*FOOTER, "-c", "model_auto_compact_token_limit=100000"))
    stage.start()
    model.expect(say("Long.", usage=Usage(input=50_000 if command == "/compact" else 150_000)))
    stage.say("Read everything.")
    stage.wait_text("Long.")
    stage.wait_status(Status.IDLE)
    summary = Turn(blocks=(Say(text="Summary."),), trouble=Hang(), side=True, match="COMPACTION")
    model.expect(summary)
    stage.submit(command)
    stage.wait_text("Compacting")

    assert stage.stays(Status.WORKING, 1).reading.reason == "compacting"

    model.let_go()  # it may be asked for after the screen has said so
    stage.wait_text("Context compacted")
    stage.wait_status(Status.IDLE, never=[Status.FAILED])


# --- errors --------------------------------------------------------------------------------------


def test_an_error_that_ends_the_turn_leaves_it_failed(codex: Staged) -> None:
    """Nobody tries again; one red line, and a prompt that looks idle."""
    stage = codex(args=ONCE)
    stage.start()
    overloaded = Break(type="server_is_overloaded", message="The server is overloaded")
    troubles = {
        "400": refuse(400, times=EVER),
        "401": refuse(401, times=EVER),
        "429": refuse(429, times=EVER),
        "500": refuse(500, times=EVER),
        "context": codex_error(400, "context_length_exceeded"),
        "quota": codex_error(429, "insufficient_quota"),
        "overloaded": Turn(trouble=overloaded, times=EVER),
        "network": drop("One two three", after=2, reset=True, times=EVER),
    }

    assert failures(stage, troubles, lull=1.0) == {code: ApiError(code=code) for code in troubles}


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        pytest.param(refuse(500, times=EVER), "500", id="500"),
        pytest.param(refuse(429, times=EVER, retry_after="30"), "429", id="429"),
    ],
)
def test_an_error_that_is_retried_is_work(
    codex: Staged, model: Model, turn: Turn, code: str
) -> None:
    """By default it tries for half a minute, or as long as it was told; all that time it works."""
    stage = codex()
    stage.start()
    model.expect(turn)
    stage.say("Try.")
    look = stage.wait(lambda look: look.retrying, "a retry")

    assert look.reading.status is Status.WORKING
    assert look.reading.error is not None
    assert look.reading.error.code == code


@pytest.mark.parametrize("hours", [3, 50])
def test_a_usage_limit_says_when_it_resets(codex: Staged, model: Model, hours: int) -> None:
    """The instant of the reset, from a clock time or a date without a zone."""
    resets = (int(time.time()) // 3600 + hours) * 3600
    stage = codex()
    stage.start()
    model.expect(codex_used_up(resets))
    stage.say("Try.")
    look = stage.wait_status(Status.LIMITED, never=[Status.IDLE])

    assert look.reading.limit == Limit(kind="usage", resets_at=resets)


# --- hooks that `koboshi init --codex` puts into a project ----------------------------------------


@pytest.mark.parametrize("reached", [True, False], ids=["koboshi", "nobody"])
def test_hooks_of_the_project_are_trusted_once_and_harmless(
    codex: Staged, model: Model, *, reached: bool, tmp_path: Path
) -> None:
    """Codex asks at its first start; then they tell koboshi, or do nothing where it is not."""
    spool = tmp_path / "spool"
    known = {
        "KOBOSHI_HOOK_SHIM": shlex.join(SHIM),
        "KOBOSHI_HOOK_SPOOL": str(spool),
        "KOBOSHI_AGENT": "a1",
        "KOBOSHI_RUN_NUMBER": "1",
    }
    stage = codex(env=known if reached else {})
    carry_out(stage.home.cwd, plan(stage.home.cwd, remove=False, codex=True))
    look = stage.start(until=Status.ASKING)
    assert "Hooks need review" in look.seen.text
    stage.key("2")  # trust all and continue; here a digit only moves
    stage.wait_text("› 2. Trust all")
    stage.key("Enter")
    stage.wait_text("Ask Codex to do anything")
    stage.wait_status(Status.IDLE)
    model.expect(call("exec_command", cmd="echo one"), say("Two."))
    stage.say("Count.")
    look = stage.wait_text("Two.")
    stage.wait_status(Status.IDLE)

    assert "hook" not in look.seen.text.lower().partition("count.")[2].replace("hooks", "")
    told = [each.payload for each in Spool(spool, "a1").read() if isinstance(each, HookFired)]
    names = [each["hook_event_name"] for each in told]
    assert ("Stop" in names, "PreToolUse" in names) == (reached, reached)
    assert len({each["session_id"] for each in told}) == reached

    stage.leave()
    assert "Hooks need review" not in stage.start().seen.text
