"""A refresh of the real thing: saved, ended, started anew, and the note seen by the model."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.core.actions import Mode
from koboshi.core.engine import Decision, World
from koboshi.core.events import (
    ActionFinished,
    Body,
    Event,
    Order,
    OrderGiven,
    Origin,
    RunStarted,
)
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.core.view import evolve
from koboshi.daemon.solo import Post, watch_over
from koboshi.daemon.supervisor import Supervisor
from koboshi.performers import Program
from tests.lab.conftest import Stages
from tests.lab.journals import saved_before_each_restart
from tests.lab.model.server import Model
from tests.lab.model.turns import Usage, say
from tests.lab.notes import NUMBER, handed_over
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

SETTINGS = Settings(mode=Mode.KEEP, quiet=0.5, refresh_gap=5.0, send_cooldown=1.0)
#: Seconds for a whole refresh, on a busy machine.
PATIENCE = 150.0
#: Most of any window.
FULL = Usage(input=170_000, output=100)
NOTE = "[[\\1\nThe parser is half done; next: the lexer.\n\\1]]"


@pytest.mark.parametrize("part", [*CLAUDE, CODEX], ids=lambda part: part.key)
def test_a_full_context_is_handed_over_to_a_fresh_run(
    part: Part, stages: Stages, model: Model
) -> None:
    """Save before exit, exit before start, and the new run says the number of its note."""
    args = ("--model", "claude-sonnet-4-5") if part.cli == "claude" else ()
    stage = stages(part, args=args)
    model.expect(
        say("Half of the parser is written.", match="Write the parser", usage=usage(part)),
        say(NOTE, match=r"only \[\[(\d{5})", usage=usage(part)),
        say(":\\1: Going on with the lexer.", match=NUMBER),
    )
    bodies, written = refreshed(stage, part, SETTINGS)

    assert "next: the lexer" in written
    [begun] = [b for b in bodies if isinstance(b, ActionFinished) and b.action.kind == "refresh"]
    assert "snapshot refs/koboshi/" in begun.outcome.why
    assert story(bodies) == [
        ("start", "done"),
        ("send", "done"),
        ("refresh", "done"),
        ("checkpoint", "done"),
        ("stop", "done"),
        ("run 2", Origin.FRESH.value),
        ("start", "done"),
        ("load", "done"),
    ]
    [greeted] = handed_over(model)
    assert str(greeted.body).count("next: the lexer") == 1
    assert "Write the parser" not in str(greeted.body)
    # Claude Code has it before the first message, which only asks to go on.
    assert ("SessionStart hook additional context" in greeted.told) == (part.cli == "claude")


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_a_note_is_given_at_the_start_of_one_session_only(
    part: Part, stages: Stages, model: Model
) -> None:
    """After `/clear` the run has an empty session, and an old note would be a lie there."""
    stage = stages(part, args=("--model", "claude-sonnet-4-5"))
    model.expect(
        say("Half of the parser is written.", match="Write the parser", usage=FULL),
        say(NOTE, match=r"only \[\[(\d{5})", usage=FULL),
        say("I know what to do.", match=NUMBER),  # no number: the transcript shows the note
        say("Hello.", match="What now"),
    )

    def heard() -> bool:
        return any(request.main and "What now?" in request.told for request in model.asked)

    bodies, _ = refreshed(stage, part, SETTINGS, then=("/clear", "What now?"), until=heard)

    assert story(bodies)[-3:] == [("load", "done"), ("send", "done"), ("send", "done")]
    [asked] = [r for r in model.asked if r.main and "What now?" in r.told]
    assert "next: the lexer" not in str(asked.body)
    assert len(handed_over(model)) == 1


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_a_note_goes_in_as_a_message_where_hooks_are_off(
    part: Part, stages: Stages, model: Model
) -> None:
    """`disableAllHooks` of the user's own: nothing was given at the start, so it is told."""
    stage = stages(part, args=("--model", "claude-sonnet-4-5"))
    rules = stage.home.cwd / ".claude" / "settings.json"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text(json.dumps({"disableAllHooks": True}))
    model.expect(
        say("Half of the parser is written.", match="Write the parser", usage=FULL),
        say(NOTE, match=r"only \[\[(\d{5})", usage=FULL),
        say(":\\1: Going on with the lexer.", match=NUMBER),
    )
    bodies, _ = refreshed(stage, part, SETTINGS)

    assert story(bodies)[-1] == ("load", "done")
    [greeted] = handed_over(model)
    assert "hand-over note follows" in greeted.told.lower()
    assert str(greeted.body).count("next: the lexer") == 1


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_the_owners_commands_save_and_load(part: Part, stages: Stages, model: Model) -> None:
    """`/sc-save` and `/sc-load` are the project's own; the agent's word for it is looked for."""
    stage = stages(part, args=("--model", "claude-sonnet-4-5"))
    folder = stage.home.cwd / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "sc-save.md").write_text("Keep what you know under the name $ARGUMENTS.\n")
    (folder / "sc-load.md").write_text("Recall what is kept under the name $ARGUMENTS.\n")
    model.expect(
        say("Half of the parser is written.", match="Write the parser", usage=FULL),
        say("Kept as \\1.", match=r"under the name (ckpt-[\w-]+)", usage=FULL),
        say("I know \\1 again.", match=r"Recall what is kept under the name (ckpt-[\w-]+)"),
    )
    settings = evolve(SETTINGS, save_text="/sc-save {name}", load_text="/sc-load {name}")

    bodies, last = refreshed(stage, part, settings)

    assert [kind for kind, _ in story(bodies)][2:] == [
        *("refresh", "checkpoint", "stop", "run 2", "start", "load"),
    ]
    assert all(ending == "done" for kind, ending in story(bodies) if kind != "run 2")
    # In the first request of a session the commands stand with their words, without a name.
    loaded = f"Recall what is kept under the name {last}."
    assert len([r for r in model.asked if r.main and loaded in r.told]) == 1


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_a_turn_that_does_not_end_is_interrupted(part: Part, stages: Stages, model: Model) -> None:
    """In the middle of a tool call, because its owner wants no longer wait; and it says so."""
    stage = stages(part, args=("--model", "claude-sonnet-4-5"))
    rules = stage.home.cwd / ".claude" / "settings.json"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    model.expect(
        replace(part.shell("tail -f /dev/null"), match="Write the parser", usage=FULL),
        say(NOTE, match=r"only \[\[(\d{5})", usage=FULL),
        say(":\\1: Going on with the lexer.", match=NUMBER),
    )

    bodies, written = refreshed(stage, part, evolve(SETTINGS, refresh_wait=2.0))

    assert "next: the lexer" in written
    [begun] = [b for b in bodies if isinstance(b, ActionFinished) and b.action.kind == "refresh"]
    assert begun.outcome.why.startswith("begun, forced")
    assert [kind for kind, _ in story(bodies)][2:] == [
        *("refresh", "checkpoint", "stop", "run 2", "start", "load"),
    ]


def refreshed(
    stage: Stage,
    part: Part,
    settings: Settings,
    *,
    then: tuple[str, ...] = (),
    until: Callable[[], bool] = lambda: True,
) -> tuple[list[Body], str]:
    """A run whose context fills up is refreshed; what happened, and its note or its name.

    `then` is what a person types afterwards, until that is so.
    """
    bodies: list[Body] = []
    asked: list[bool] = []
    later = list(then)
    with tempfile.TemporaryDirectory(prefix="kb-", ignore_cleanup_errors=True) as state:
        program = Program(argv=stage.home.command(), cwd=str(stage.home.cwd))
        post = Post(
            agent="a1",
            agent_type=part.cli,
            program=program,
            state=Path(state),
            settings=settings,
        )
        deadline = time.monotonic() + PATIENCE

        def enough(supervisor: Supervisor) -> bool:
            view = supervisor.world.view
            if not asked and view.status is Status.IDLE:
                order = OrderGiven(order=Order.SEND, by="test", text="Write the parser.")
                asked.append(supervisor.take(order))
            loaded = view.run.number == 2 and view.refresh is None and view.tally.refreshes == 1
            rests = loaded and view.status is Status.IDLE and not view.outbox
            if rests and later:
                supervisor.take(OrderGiven(order=Order.SEND, by="test", text=later.pop(0)))
                return False
            return (rests and until()) or time.monotonic() > deadline

        def listen(event: Event, _: tuple[Decision, ...], __: World) -> None:
            bodies.append(event.body)

        stage.run(watch_over(post, stage.host, enough=enough, listen=listen))
        assert saved_before_each_restart(Path(state), "a1") == 1
        notes = Path(state) / "agents" / "a1" / "notes"
        if settings.save_text:
            return bodies, (notes / "a1-LAST").read_text().strip()
        [note] = notes.glob("ckpt-*.md")
        return bodies, note.read_text()


def usage(part: Part) -> Usage:
    """Claude's window is 200,000 tokens, Codex's 258,400."""
    return FULL if part.cli == "claude" else Usage(input=220_000, output=100)


def story(bodies: list[Body]) -> list[tuple[str, str]]:
    """What was done, in its order."""
    told = []
    for body in bodies:
        if isinstance(body, ActionFinished) and body.action.kind not in ("notify", "escalate"):
            if body.outcome.ending.value != "skipped":
                told.append((body.action.kind, body.outcome.ending.value))
        elif isinstance(body, RunStarted) and body.run > 1:
            told.append((f"run {body.run}", body.origin.value))
    return told
