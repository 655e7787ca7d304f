"""The real Claude Code calls the tools that `koboshi init --mcp` gave it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.daemon.trials import Trial, trial
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, say
from tests.lab.notes import NUMBER, handed_over
from tests.lab.parts import CLAUDE, Part

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: Seconds for what should happen, on a busy machine.
PATIENCE = 120.0
TOOLS = ("restart_me", "hand_over", "ask_human", "report_progress", "plan_status")
NOTE = "The parser is half done; next: the lexer."
PLAN = Path(__file__).parents[1] / "cases" / "plans" / "M1.md"


def tool(name: str, /, **given: object) -> Turn:
    """A turn that calls one of our tools."""
    return call(f"mcp__koboshi__{name}", **given)


@contextmanager
def equipped(part: Part, stages: Stages, model: Model, *turns: Turn) -> Iterator[Trial]:
    """An agent in a project of `koboshi init --mcp`, at its prompt, its tools at hand."""
    program = Path(sys.executable).parent
    stage = stages(part)
    cwd = stage.home.cwd
    home = replace(
        stage.home, env={**stage.home.env, "PATH": f"{program}:{stage.home.env['PATH']}"}
    )
    model.expect(say("Not yet.", match="Ready[?]", times=-1), *turns, say("Done.", times=-1))
    with trial(Path(home.folder) / "koboshi") as koboshi:
        koboshi.folder.mkdir()
        koboshi.say("init", str(cwd), "--mcp")
        # What its user would say to the dialogs about the server and its tools.
        allowed = [f"mcp__koboshi__{name}" for name in TOOLS]
        chosen = {"enabledMcpjsonServers": ["koboshi"], "permissions": {"allow": allowed}}
        (cwd / ".claude" / "settings.local.json").write_text(json.dumps(chosen))
        argv = ("--as", part.cli, "--name", "a1", "--", *home.command())
        koboshi.say("run", "-d", "--cwd", str(cwd), *argv)
        koboshi.until_status("a1", "idle")
        until_serving(koboshi, model)
        yield koboshi


def until(true: Callable[[], object], koboshi: Trial) -> None:
    """Wait until that is so."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, koboshi.say("events", "a1")
        time.sleep(0.2)


def until_serving(koboshi: Trial, model: Model) -> None:
    """Wait until the model is told of the tools: servers come up beside the agent."""
    while not any("mcp__koboshi__ask_human" in json.dumps(r.body) for r in model.asked):
        asked = len(model.asked)
        koboshi.say("send", "a1", "Ready?")
        until(lambda asked=asked: len(model.asked) > asked, koboshi)  # type: ignore[misc]
        koboshi.until_status("a1", "idle")


def results(model: Model, words: str) -> int:
    """Requests in which the model reads that as what its last call gave back."""
    return sum(words in r.told for r in model.asked)


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_it_tells_asks_and_reads_its_plan(part: Part, stages: Stages, model: Model) -> None:
    """What the tools give back is what the model reads; a person sees the rest."""
    turns = (
        replace(tool("report_progress", text="3 of 7 parsers"), match="Tell me"),
        replace(tool("plan_status"), match="Read the plan"),
        replace(tool("ask_human", question="Which port?", options=["80", "81"]), match="Ask me"),
    )
    with equipped(part, stages, model, *turns) as koboshi:
        koboshi.say("send", "a1", "Tell me.")
        until(lambda: results(model, "Noted."), koboshi)
        assert koboshi.status("a1")["progress"]["text"] == "3 of 7 parsers"

        koboshi.until_status("a1", "idle")
        cwd = Path(koboshi.status("a1")["cwd"])
        (cwd / "M1.md").write_text(PLAN.read_text())
        koboshi.say("send", "a1", "Read the plan.")
        until(lambda: results(model, "step 2 [RUNNING]"), koboshi)

        koboshi.until_status("a1", "idle")
        koboshi.say("send", "a1", "Ask me.")
        koboshi.until("a1", lambda known: bool(known["asked"]))
        assert koboshi.status("a1")["status"] == "working"
        koboshi.say("answer", "a1:ask1", "81")
        until(lambda: results(model, "The person answered: 81"), koboshi)
        koboshi.until_status("a1", "idle")

        told = koboshi.say("report", "a1", "--since", "1h")
        assert "3 of 7 parsers" in told
        assert "81, by a person" in told


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_it_hands_over_with_a_note_of_its_own(part: Part, stages: Stages, model: Model) -> None:
    """At the end of its turn: ended, started afresh; the next run proves that it has the note."""
    turns = (
        replace(tool("hand_over", note=NOTE, reason="a good place to stop"), match="Hand over"),
        say("Ending my turn.", match="The note is kept"),
        say(":\\1: Going on with the lexer.", match=NUMBER),
    )
    with equipped(part, stages, model, *turns) as koboshi:
        before = koboshi.status("a1")["run"]["session"]
        koboshi.say("send", "a1", "Hand over.")
        until(lambda: koboshi.status("a1")["run"]["number"] == 2, koboshi)
        until(lambda: koboshi.status("a1")["refresh"] is None, koboshi)
        after = koboshi.status("a1")

        assert after["run"]["session"] != before
        [greeted] = handed_over(model)
        assert str(greeted.body).count(NOTE) == 1
        assert "Hand over." not in str(greeted.body)
        assert not any("hand-over note for your successor" in r.told for r in model.asked)
        told = koboshi.say("report", "a1", "--since", "1h")
        assert "a good place to stop: the next run has the note" in " ".join(told.split())
