"""Fired runs of real agent CLIs under the owner's policy: nobody sits there to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.plans import Plan, PlanStatus, parse
from tests.conftest import AgentCli
from tests.lab.conftest import furnished
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, say
from tests.lab.parts import CLAUDE, CODEX, OPENCODE, Part
from tests.lab.test_fire import Bench

pytestmark = [pytest.mark.lab, pytest.mark.stage]

PLAN = """\
STATUS: IDLE
GOAL: leave a mark

PLAN:
  TOTAL_STEPS: 1
  CURRENT_STEP: 0
  STEPS:
    1: [PENDING] make the mark → mark.txt
      VERIFY: test -e mark.txt
"""
ALLOW = '[[answers.rule]]\ndo = "allow"\ncommand = "./mark.sh"\n'
DENY = '[[answers.rule]]\ndo = "deny"\ncommand = "mark.sh"\nreason = "marks are made by hand"\n'


@pytest.fixture(params=(*CLAUDE, CODEX, OPENCODE), ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Part:
    """Those that ask before each call."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


@pytest.fixture
def bench(part: Part, model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Bench]:
    """A repository with a plan of one step."""
    freely = {"settings": {"permission": {"bash": "allow", "edit": "allow"}}}
    room = freely if part.cli == "opencode" else {}
    home = furnished(part, room, model, agent_cli, tmp_path)
    (home.cwd / "mark.sh").write_text("#!/bin/sh\ntouch mark.txt\n")
    (home.cwd / "mark.sh").chmod(0o755)
    home.commit()
    (home.cwd / "M1.md").write_text(PLAN)
    yield Bench(home, tmp_path / "state")
    model.release()


def mark(part: Part) -> Turn:
    """A turn that makes the mark by a command."""
    if part.cli == "codex":  # within its sandbox, where Codex asks nobody
        return call("exec_command", cmd="./mark.sh")
    return part.shell("./mark.sh")


def ran(bench: Bench, part: Part, rules: str, *words: str) -> Plan:
    """The plan after `koboshi loop`, with these rules of the owner's."""
    config = bench.home.path / ".config" / "koboshi" / "koboshi.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(rules, encoding="utf-8")
    stop = str(bench.state.parent / "stop")
    bench.run("loop", "M1.md", "--agent", part.cli, "--stop-file", stop, *words)
    return parse((bench.home.cwd / "M1.md").read_text(encoding="utf-8"))


def test_what_the_policy_allows_is_done(bench: Bench, part: Part, model: Model) -> None:
    """Claude Code would have asked; nobody is there, and the policy answers."""
    model.expect(mark(part), say("Marked."))

    plan = ran(bench, part, ALLOW)

    assert plan.status is PlanStatus.DONE, (plan.last_action, plan.next_action)
    assert plan.results[1].attempts == 1


def test_what_the_policy_denies_is_no_success(bench: Bench, part: Part, model: Model) -> None:
    """It is not done; the run says that all is well; the next attempt is told what and why."""
    model.expect(*[turn for _ in range(2) for turn in (mark(part), say("All done!"))])

    plan = ran(bench, part, DENY, "--attempts", "2")

    assert plan.status is PlanStatus.FAILED
    assert plan.results[1].verified is False
    assert "marks are made by hand" in plan.results[1].evidence
    told = [request.told for request in model.asked]
    assert any("was not accepted" in each and "marks are made by hand" in each for each in told)
    assert not (bench.home.cwd / "mark.txt").exists()
    assert any("marks are made by hand" in each for each in told[:2])  # by its own CLI, at once


def test_what_no_rule_speaks_of_is_told(bench: Bench, part: Part, model: Model) -> None:
    """Claude Code denies it by itself; Codex has its sandbox, OpenCode its own permissions."""
    model.expect(mark(part), say("All done!"))

    plan = ran(bench, part, "", "--attempts", "1")

    if part.cli != "claude":
        assert plan.status is PlanStatus.DONE
        return
    assert plan.status is PlanStatus.FAILED
    assert "./mark.sh`: no rule speaks of it" in plan.results[1].evidence
