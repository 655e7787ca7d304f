"""What comes after a crash of the real thing: which session goes on, and what it is told."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.core.actions import Mode
from koboshi.core.engine import Decision, World
from koboshi.core.events import Event, Order, OrderGiven, Origin, RunStarted, Source
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.daemon.solo import Post, watch_over
from koboshi.daemon.supervisor import Supervisor
from koboshi.performers import Program
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import Usage, call, say
from tests.lab.notes import NUMBER, handed_over
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

SETTINGS = Settings(mode=Mode.KEEP, quiet=0.5, refresh_gap=5.0, send_cooldown=1.0, backoff_base=0.5)
#: Seconds for all of it, on a busy machine.
PATIENCE = 120.0
ARGS = ("--model", "claude-sonnet-4-5")
PROOF = say(":\\1: Going on with the lexer.", match=NUMBER)

each_claude = pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)


def staged(stages: Stages, part: Part) -> Stage:
    """A Claude Code that may run commands."""
    stage = stages(part, args=ARGS)
    rules = stage.home.cwd / ".claude" / "settings.json"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    return stage


def crash(
    stage: Stage, ripe: Callable[[View], bool], over: Callable[[View], bool]
) -> list[RunStarted]:
    """Say something, kill it when it is ripe, and go on until it is over; the runs after that."""
    runs: list[RunStarted] = []
    done: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kb-", ignore_cleanup_errors=True) as state:
        program = Program(
            argv=stage.home.command(), cwd=str(stage.home.cwd), env=dict(stage.home.env)
        )
        post = Post(
            agent="a1",
            agent_type=stage.home.cli,
            program=program,
            state=Path(state),
            settings=SETTINGS,
        )
        deadline = time.monotonic() + PATIENCE

        def enough(supervisor: Supervisor) -> bool:
            view = supervisor.world.view
            if not done and view.status is Status.IDLE:
                words = OrderGiven(order=Order.SEND, by="test", text="Write the parser.")
                done.append("said" if supervisor.take(words) else "")
            elif done == ["said"] and view.run.pid and ripe(view):
                os.kill(view.run.pid, signal.SIGKILL)
                done.append("killed")
            if len(done) > 1 and over(view):
                return True
            # What it waits for is worth knowing: a run that ends here tells nothing by itself.
            told = f"{done} {[run.origin for run in runs]} {view.belief} {view.refresh} {view.run}"
            lines = "\n".join(view.context.lines)
            assert time.monotonic() < deadline, f"not over within {PATIENCE} s: {told}\n{lines}"
            return False

        def listen(event: Event, _: tuple[Decision, ...], __: World) -> None:
            if isinstance(event.body, RunStarted) and event.body.run > 1:
                runs.append(event.body)

        stage.run(watch_over(post, stage.host, enough=enough, listen=listen))
    assert done == ["said", "killed"]
    return runs


def in_a_call(view: View) -> bool:
    """A tool runs, and the transcript says so."""
    clue = view.clue(Source.TRANSCRIPT)
    return clue is not None and any("no result yet" in each for each in clue.evidence)


def is_full(view: View) -> bool:
    """In the middle of a turn, and the context is nearly full."""
    use = view.sight.context
    return use is not None and use.used >= SETTINGS.context_max and in_a_call(view)


def loaded(view: View) -> bool:
    """The note has arrived, and the next run has answered."""
    return view.run.number > 1 and view.refresh is None and view.status is Status.IDLE


@each_claude
def test_a_full_session_is_not_resumed(part: Part, stages: Stages, model: Model) -> None:
    """Run 2 is fresh, and has koboshi's note: what was asked for, and the call that was open."""
    stage = staged(stages, part)
    full = Usage(input=150_000, output=100)
    model.expect(
        replace(part.shell("tail -f /dev/null"), match="Write the parser", usage=full), PROOF
    )

    runs = crash(stage, is_full, loaded)

    assert [run.origin for run in runs] == [Origin.FRESH]
    [greeted] = handed_over(model)
    assert "Write the parser." in greeted.told
    assert "Bash tail -f /dev/null" in greeted.told


@each_claude
def test_a_call_that_was_open_is_told_of(part: Part, stages: Stages, model: Model) -> None:
    """The session goes on, and the model learns that its command may have run, and still does."""
    stage = staged(stages, part)
    model.expect(
        replace(part.shell("tail -f /dev/null"), match="Write the parser"),
        say("It has not.", match="in the middle of a tool call"),
    )

    def answered(view: View) -> bool:
        told = [r for r in model.asked if "in the middle of a tool call" in r.told]
        return bool(told) and view.status is Status.IDLE

    runs = crash(stage, in_a_call, answered)

    assert [run.origin for run in runs] == [Origin.RESUMED]
    [told] = [r for r in model.asked if "in the middle of a tool call" in r.told]
    assert "run #2" in told.told
    assert "Bash tail -f /dev/null" in told.told
    assert "Still running:" in told.told
    assert "Write the parser." in str(told.body)


@each_claude
def test_a_session_that_is_gone_is_begun_anew_with_a_note(
    part: Part, stages: Stages, model: Model
) -> None:
    """`No conversation found`: it is looked for once, and not again until the budget is spent."""
    stage = staged(stages, part)
    # Slow enough to be seen at work, or there was no turn.
    model.expect(say("Half of it.", match="Write the parser", pace=0.5), PROOF)

    def ripe(view: View) -> bool:
        if view.status is not Status.IDLE or not model.asked or not view.tally.turns:
            return False
        for path in stage.home.path.glob(".claude/projects/*/*.jsonl"):
            path.unlink()
        return True

    runs = crash(stage, ripe, loaded)

    assert [run.origin for run in runs] == [Origin.RESUMED, Origin.FRESH]
    assert len(handed_over(model)) == 1


# -- Codex: no hooks, and a session that only its rollout names ------------------------------------


def rollouts(stage: Stage) -> list[Path]:
    """The files in which Codex writes down its sessions."""
    return list(stage.home.path.glob(".codex/sessions/**/rollout-*.jsonl"))


def test_codex_is_told_of_a_call_that_was_open(stages: Stages, model: Model) -> None:
    """Codex says `aborted`; that it may have run, nobody says but koboshi."""
    stage = stages(CODEX)
    model.expect(
        call("exec_command", cmd="tail -f /dev/null", yield_time_ms=30_000),
        say("It has not.", match="in the middle of a tool call"),
    )

    def ripe(view: View) -> bool:
        begun = any("tail -f /dev/null" in path.read_text() for path in rollouts(stage))
        return begun and bool(view.run.session)

    def answered(view: View) -> bool:
        told = [r for r in model.asked if "in the middle of a tool call" in r.told]
        return bool(told) and view.status is Status.IDLE

    runs = crash(stage, ripe, answered)

    assert [run.origin for run in runs] == [Origin.RESUMED]
    [told] = [r for r in model.asked if "in the middle of a tool call" in r.told]
    assert "exec_command tail -f /dev/null" in told.told
    assert "Write the parser." in str(told.body)


def test_a_session_that_codex_does_not_find_is_begun_anew_with_a_note(
    stages: Stages, model: Model
) -> None:
    """`no rollout found`: the next run is fresh, and has a note of what is still known."""
    stage = stages(CODEX)
    model.expect(say("Half of it.", match="Write the parser"), PROOF)

    def ripe(view: View) -> bool:
        answered = any("Half of it." in path.read_text() for path in rollouts(stage))
        if view.status is not Status.IDLE or not answered or not view.run.session:
            return False
        for path in rollouts(stage):
            path.unlink()
        return True

    runs = crash(stage, ripe, loaded)

    assert [run.origin for run in runs] == [Origin.RESUMED, Origin.FRESH]
    assert len(handed_over(model)) == 1


#: A session of each CLI that nobody has.
NOBODYS = {
    "claude": "3f0c0000-0000-4000-8000-000000000000",
    "codex": "019a0000-0000-7000-8000-000000000000",
    "gemini": "3f0c0000-0000-4000-8000-000000000000",
    "opencode": "ses_00000000ffeXXXXXXXXXXXXXXX",
}


@pytest.mark.parametrize("before", [True, False], ids=["another", "none"])
def test_each_cli_says_that_it_does_not_find_a_session(
    part: Part, stages: Stages, model: Model, *, before: bool
) -> None:
    """In its own words, whether the project has sessions or none; and it fails."""
    stage = stages(part)
    if before:
        stage.start()
        stage.say("Hello")
        stage.wait(lambda _: bool(model.asked), "a request")
        stage.wait_status(Status.IDLE)
        stage.leave()
    program = stage.home.command()
    argv = stage.adapter.resume_argv(program=program, session=NOBODYS[part.cli])
    stage.start(*argv[len(program) :], until=None)
    look = stage.ended()

    assert stage.adapter.lost_session(look.seen)
    assert look.seen.code != 0
