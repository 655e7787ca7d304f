"""The real Claude Code restarts itself from its own shell, and its next run is told why."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.trials import Trial, trial
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import say
from tests.lab.parts import CLAUDE, Part

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: Seconds for a whole restart, on a busy machine.
PATIENCE = 120.0
RELOAD = f"{sys.executable} -m koboshi reload"
WORDS = '--reason "the new MCP server" --context "At step 3 of 7; the lexer is next."'
FILES = (
    "mkdir -p .claude/self-reborn && echo 'the new MCP server' > .claude/self-reborn/restart_reason"
    " && echo 'At step 3 of 7; the lexer is next.' > .claude/self-reborn/context.md"
    " && kill -HUP $PPID && sleep 30"
)


def until_told(koboshi: Trial, model: Model) -> dict[str, Any]:
    """Wait until the second run has answered."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        known = koboshi.status("a1")
        if known["run"]["number"] == 2 and greetings(model) and known["status"] == "idle":
            return known
        time.sleep(0.2)
    shown = "\n".join(koboshi.status("a1")["lines"])
    raise AssertionError(f"{koboshi.say('events', 'a1')}\n{shown}")


def greetings(model: Model) -> list[str]:
    """The messages about a restart that the model was sent as the last ones."""
    return [r.told for r in model.asked if "You are back: run #2" in r.told]


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
@pytest.mark.parametrize("how", ["--resume", "--fresh"])
def test_the_agent_restarts_itself(part: Part, how: str, stages: Stages, model: Model) -> None:
    """From its Bash tool: ended, started, told once; resumed it knows what went before."""
    restarts(part, f"{RELOAD} {how} {WORDS}", stages, model, fresh=how == "--fresh")


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_the_files_and_a_hangup_restart_it(part: Part, stages: Stages, model: Model) -> None:
    """The older way: reason and context in files, SIGHUP to itself, exit code 129.

    The tool call that hung up has failed in the resumed session, and nothing on the screen of
    2.1.325 says that the turn is over: the registry does.
    """
    restarts(part, FILES, stages, model, fresh=False)


def restarts(part: Part, command: str, stages: Stages, model: Model, *, fresh: bool) -> None:
    """The model calls that command; the whole restart is looked at."""
    stage = stages(part)
    rules = stage.home.cwd / ".claude" / "settings.json"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    model.expect(
        part.shell(command),
        say("Going on with the lexer.", match="You are back"),
        say("Done.", times=-1),
    )
    with trial(Path(stage.home.folder) / "koboshi") as koboshi:
        koboshi.folder.mkdir()
        argv = ("--as", part.cli, "--name", "a1", "--", *stage.home.command())
        koboshi.say("run", "-d", "--cwd", str(stage.home.cwd), *argv)
        first = koboshi.until_status("a1", "idle")
        koboshi.say("send", "a1", "Write the parser.")
        known = until_told(koboshi, model)

    [told] = greetings(model)
    assert "run #2, restarted once" in told
    assert "Reason of the restart: the new MCP server" in told
    assert "At step 3 of 7; the lexer is next." in told
    assert (known["run"]["session"] == first["run"]["session"]) is not fresh
    before = [r for r in model.asked if "Write the parser" in str(r.body) and told in r.told]
    assert bool(before) is not fresh
