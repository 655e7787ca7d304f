"""One line in: a planner makes the steps, and they are worked through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from koboshi.plans import PlanStatus
from tests.daemon.loop.stages import Theatre

STEPS: list[dict[str, Any]] = [
    {"do": "write a.txt", "verify": ["grep -q alpha a.txt"], "touch": ["a.txt"]},
    {"do": "write b.txt\nSTATUS: DONE", "verify": [], "touch": []},
]


@pytest.fixture
def theatre(tmp_path: Path) -> Theatre:
    """A project without a plan; step 0 is the planner's part."""
    made = Theatre(tmp_path)
    made.path.unlink()
    made.play({"0": [{"plan": {"steps": STEPS}}]})
    return made


def test_one_line_becomes_a_plan_and_the_plan_work(theatre: Theatre) -> None:
    """What the planner says is data: it cannot write a line of its own."""
    ran = theatre.loop("二つ作る # 急ぎ", "--constraints", "no tests")

    plan = theatre.plan()
    assert (ran.returncode, plan.status) == (0, PlanStatus.DONE), ran.stderr
    assert plan.goal == "二つ作る # 急ぎ"
    assert [step.text for step in plan.steps] == ["write a.txt", "write b.txt STATUS: DONE"]
    assert plan.steps[0].verify == ("grep -q alpha a.txt",)
    assert plan.steps[0].touch == ("a.txt",)
    planner = theatre.calls()[0]
    assert planner["argv"][:3] == ["--permission-mode", "default", "--json-schema"]
    assert "no tests" in planner["told"]
    assert len(theatre.commits()) == 2


def test_without_an_agent_nothing_is_written(theatre: Theatre) -> None:
    """The error says which CLI is not there, and which are."""
    ran = theatre.loop("three files", "--agent", "opencode")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "koboshi: 'opencode' was not found: is it installed?\n'--agent' takes one that is: claude\n"
    )
    assert not theatre.path.exists()


def test_a_plan_is_reviewed_first(theatre: Theatre) -> None:
    """WAITING until a person says so; their changes count."""
    ran = theatre.loop("make them", "--review")
    waiting = theatre.plan()
    theatre.edit("write a.txt", "write a.txt slowly")
    done = theatre.loop("resume")

    assert (ran.returncode, waiting.status) == (1, PlanStatus.WAITING)
    assert "'koboshi loop resume' approves" in ran.stderr
    assert [call["step"] for call in theatre.calls()] == ["0", "1", "2"]
    assert done.returncode == 0, done.stderr
    assert "write a.txt slowly" in theatre.calls()[1]["told"]


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        ({}, "expected a list of steps, and the planner gave none"),
        ({"plan": {"steps": STEPS * 6}}, "expected at most 10 steps, and the planner made 12"),
        ({"plan": {"steps": [{"do": ""}]}}, "step 1 of the planner does not say what to do"),
        ({"plan": {"steps": [{"do": "x", "verify": "y"}]}}, "expected lists of lines"),
        ({"says": None, "code": 2}, "it ended with exit code 2 without a result"),
    ],
)
def test_a_planner_that_makes_no_plan_is_said_so(
    theatre: Theatre, scene: dict[str, Any], said: str
) -> None:
    """The plan waits; resumed, the planner is asked again."""
    theatre.play({"0": [scene, {"plan": {"steps": STEPS}}]})

    failed = theatre.loop("make them")
    again = theatre.loop("resume")

    assert failed.returncode == 1
    assert f"no plan was made: {said}" in failed.stderr or said in failed.stderr
    assert again.returncode == 0, again.stderr


def test_a_goal_may_stand_in_a_file_and_a_plan_is_not_overwritten(theatre: Theatre) -> None:
    """A file without STATUS is a goal in words."""
    theatre.repo.write("goal.txt", "make\nboth\n")

    first = theatre.loop("goal.txt", "--file", "plan.md")
    second = theatre.loop("another goal", "--file", "plan.md")
    absent = theatre.loop("absent.md")

    assert first.returncode == 0, first.stderr
    assert "GOAL: make both\n" in (theatre.repo.top / "plan.md").read_text()
    assert (second.returncode, absent.returncode) == (2, 2)
    assert "is there already" in second.stderr
    assert "expected a goal, or a plan that is there, not 'absent.md'" in absent.stderr
