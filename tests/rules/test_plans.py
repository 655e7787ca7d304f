"""The rules of the loop, one course each: what is found, and the one move it calls for."""

from __future__ import annotations

import pytest

from koboshi.core.events import Moment
from koboshi.plans import parse
from koboshi.plans.course import (
    CommitStep,
    Course,
    Fact,
    Finish,
    GiveUp,
    Halt,
    MakePlan,
    Move,
    PlanRead,
    StartStep,
    StepJudged,
    StopSeen,
    TakePlan,
    TaskSeen,
    Terms,
    VerifyStep,
    fold,
)
from koboshi.rules.plans import PLANS, advise

NOW = Moment(at=1000.0, utc=2000.0)
TEXT = """\
STATUS: {status}
GOAL: {goal}

PLAN:
  STEPS:
    1: [DONE] one
    2: [{state}] two
      RETRIES: 2

CURRENT:
  TASK_ID: task_0000000a

RESULTS:
  STEP_2:
    EXIT: (pending)
    VERIFIED: false
    EVIDENCE: it was wrong
    ATTEMPTS: {tried}
"""
TASK = "task_0000000a"


def course(
    *facts: Fact, status: str = "RUNNING", state: str = "RUNNING", tried: int = 1, **terms: float
) -> Course:
    """A plan at its second step, and what was seen since."""
    text = TEXT.format(status=status, goal="go", state=state, tried=tried)
    view = Course(plan=parse(text), terms=Terms(**terms), begun=900.0)  # type: ignore[arg-type]
    assert view.plan.faults == ()
    for fact in facts:
        view = fold(view, fact, NOW)
    return view


def seen(state: str, **more: object) -> TaskSeen:
    """The run that the file names."""
    return TaskSeen(task=TASK, state=state, **more)  # type: ignore[arg-type]


BAD = StepJudged(task=TASK, verified=False, evidence="Still wrong.")
GOOD = StepJudged(task=TASK, verified=True, evidence="Fine.", changed=("a",))
NEXT = StartStep(step=2, attempt=2, wrong="it was wrong")


@pytest.mark.parametrize(
    ("view", "code", "move"),
    [
        (course(seen("running"), StopSeen(why="x")), "PLN001", Halt(why="x")),
        (course(seen("running"), status="IDLE"), "PLN001", Halt(why="the plan says IDLE")),
        (
            course(seen("running", cost=2.5), cost=2.0),
            "PLN002",
            Halt(why="$2.50 of $2.00 are spent", again="a larger budget and resume go on"),
        ),
        (
            course(seen("running"), seconds=60.0),
            "PLN002",
            Halt(why="100 of 60 seconds are used up", again="a larger budget and resume go on"),
        ),
        (course(seen("absent")), "PLN003", StartStep(step=2, attempt=1, wrong="it was wrong")),
        (
            course(seen("failed", error="usage_limit"), limit_wait=0.0),
            "PLN004",
            StartStep(step=2, attempt=1, wrong="it was wrong"),
        ),
        (course(seen("finished")), "PLN005", VerifyStep(step=2, task=TASK)),
        (course(seen("failed", error="api_500")), "PLN005", VerifyStep(step=2, task=TASK)),
        (course(seen("finished"), GOOD), "PLN006", CommitStep(step=2, task=TASK, changed=("a",))),
        (
            course(seen("finished"), BAD),
            "PLN007",
            StartStep(step=2, attempt=2, wrong="Still wrong."),
        ),
        (
            course(seen("finished"), BAD, tried=2),
            "PLN007",
            GiveUp(step=2, question="Step 2 failed 2 times: Still wrong. What shall be different?"),
        ),
        (course(state="PENDING"), "PLN008", NEXT),
        (course(state="DONE"), "PLN009", Finish()),
        (course(state="SKIPPED"), "PLN009", Finish()),
    ],
)
def test_a_course_calls_for_one_move(view: Course, code: str, move: Move) -> None:
    """By the first rule that finds something."""
    found = advise(view, NOW)

    assert found is not None
    assert (found[0].code, found[1].move) == (code, move)


@pytest.mark.parametrize(
    "view",
    [
        course(seen("running")),
        course(seen("failed", error="usage_limit")),
        course(seen("running", cost=1.0), cost=2.0),
        course(state="FAILED", status="FAILED"),
        course(status="WAITING", state="PENDING"),
        course(status="DONE", state="DONE"),
        course(StopSeen(why="x"), status="WAITING", state="PENDING"),
        course(TaskSeen(task="task_0000000b", state="finished")),
    ],
)
def test_nothing_is_done_without_need(view: Course) -> None:
    """It works, it waits, or it is over; and a run of another attempt says nothing."""
    assert advise(view, NOW) is None


def test_a_step_that_was_reworded_waits_for_its_person() -> None:
    """The agent was told something else."""
    found = advise(course(seen("running", told="three")), NOW)

    assert found is not None
    assert found[0].code == "PLN010"
    assert isinstance(found[1].move, Halt)
    assert "told 'three', the file says 'two'" in found[1].move.again
    assert advise(course(seen("running", told="two")), NOW) is None


def test_a_goal_alone_is_planned_first() -> None:
    """Then the planner's steps are taken."""
    view = Course(plan=parse("STATUS: RUNNING\nGOAL: go\n"))
    asked = advise(fold(view, TaskSeen(task="", state="absent"), NOW), NOW)
    working = advise(fold(view, TaskSeen(task="", state="running"), NOW), NOW)
    ended = advise(fold(view, TaskSeen(task="", state="finished"), NOW), NOW)

    assert asked is not None
    assert (asked[0].code, asked[1].move) == ("PLN011", MakePlan())
    assert working is None
    assert ended is not None
    assert (ended[0].code, ended[1].move) == ("PLN012", TakePlan(task=""))


def test_a_judgement_does_not_outlive_its_run() -> None:
    """Another run is named: what was seen and judged is of the one before."""
    view = course(seen("finished"), GOOD)
    plan = parse(TEXT.format(status="RUNNING", goal="go", state="RUNNING", tried=2))
    other = parse(plan.sheet.text.replace(TASK, "task_0000000b"))
    after = fold(view, PlanRead(plan=other), NOW)

    assert (after.task, after.judged) == (None, None)
    assert fold(view, PlanRead(plan=plan), NOW).judged == GOOD


def test_every_move_has_a_key_of_its_own() -> None:
    """It names what was decided about."""
    moves: list[Move] = [
        NEXT, VerifyStep(step=2, task=TASK), CommitStep(step=2, task=TASK),
        GiveUp(step=2, question="?"), Halt(why="x"), Finish(), MakePlan(), TakePlan(task=TASK),
    ]  # fmt: skip

    assert len({move.key for move in moves}) == len(moves)
    assert len({rule.code for rule in PLANS}) == len(PLANS) == 12
