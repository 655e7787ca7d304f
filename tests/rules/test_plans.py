"""The rules of the loop, one course each: what is found, and the one move it calls for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from koboshi.core.events import Moment
from koboshi.core.rules import Rule
from koboshi.plans import parse
from koboshi.plans.course import (
    Course,
    Fact,
    PlanRead,
    PlanRevised,
    StepJudged,
    StopSeen,
    TaskSeen,
    Terms,
    fold,
)
from koboshi.plans.moves import (
    Advice,
    CommitStep,
    Finish,
    GiveUp,
    Halt,
    MakePlan,
    Move,
    RevisePlan,
    StartStep,
    TakePlan,
    TakeRevision,
    VerifyStep,
)
from koboshi.plans.spending import BEGUN, RESTED, SPENT, Spending, ledger
from koboshi.rules.plans import PLANS

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


def advise(view: Course, now: Moment) -> tuple[Rule, Advice] | None:
    """The first rule that finds something, with what it found: one pair of hands."""
    for each in PLANS:
        advice = cast("Advice | None", cast("Any", each).check(view, now))
        if advice is not None:
            return each, advice
    return None


def course(
    *facts: Fact, status: str = "RUNNING", state: str = "RUNNING", tried: int = 1, **terms: object
) -> Course:
    """A plan at its second step, and what was seen since."""
    text = TEXT.format(status=status, goal="go", state=state, tried=tried)
    view = Course(plan=parse(text), terms=Terms(**terms), spending=Spending(since=1900.0))  # type: ignore[arg-type]
    assert view.plan.faults == ()
    for fact in facts:
        view = fold(view, fact, NOW)
    return view


def seen(state: str, **more: object) -> TaskSeen:
    """The run that the file names."""
    return TaskSeen(task=TASK, state=state, **more)  # type: ignore[arg-type]


BAD = StepJudged(task=TASK, verified=False, evidence="Still wrong.")
GOOD = StepJudged(task=TASK, verified=True, evidence="Fine.", changed=("a",))
LARGER = "'koboshi loop FILE' with a larger budget goes on"
DONE = CommitStep(step=2, task=TASK, changed=("a",), evidence="Fine.")
NEXT = StartStep(step=2, attempt=2, wrong="it was wrong")


@pytest.mark.parametrize(
    ("view", "code", "move"),
    [
        (course(seen("running"), StopSeen(why="x")), "PLN001", Halt(why="x")),
        (course(seen("running"), status="IDLE"), "PLN001", Halt(why="the plan says IDLE")),
        (
            course(seen("failed", cost=2.5, tokens=9), cost=2.0),
            "PLN002",
            Halt(why="$2.50 of $2.00 are spent", again=LARGER),
        ),
        (
            course(seen("failed", cost=1.0, tokens=900), tokens=800),
            "PLN002",
            Halt(why="900 of 800 tokens are used up", again=LARGER),
        ),
        (
            course(seen("failed", tokens=900), cost=2.0),
            "PLN013",
            Halt(
                why=f"nobody knows what {TASK} cost",
                again="'koboshi loop resume' goes on and takes it for nothing",
            ),
        ),
        (
            course(state="PENDING", cost=2.0, silent=("claude",)),
            "PLN013",
            Halt(
                why="claude does not tell what it costs: a budget of $2.00 cannot be kept",
                again="'koboshi loop FILE' with '--token-budget', or without '--budget', goes on",
            ),
        ),
        (
            course(seen("finished", cost=2.5), cost=2.0),
            "PLN005",
            VerifyStep(step=2, task=TASK),
        ),
        (course(seen("finished", cost=2.5), state="DONE", cost=2.0), "PLN009", Finish()),
        (
            course(seen("failed", error="usage_limit", ended=1000.0, resets=1900.0)),
            "PLN004",
            StartStep(step=2, attempt=1, wrong="it was wrong"),
        ),
        (
            course(seen("running"), seconds=60.0),
            "PLN002",
            Halt(why="100 of 60 seconds are used up", again=LARGER),
        ),
        (course(seen("absent")), "PLN003", StartStep(step=2, attempt=1, wrong="it was wrong")),
        (
            course(seen("failed", error="usage_limit"), limit_wait=0.0),
            "PLN004",
            StartStep(step=2, attempt=1, wrong="it was wrong"),
        ),
        (course(seen("finished")), "PLN005", VerifyStep(step=2, task=TASK)),
        (course(seen("failed", error="api_500")), "PLN005", VerifyStep(step=2, task=TASK)),
        (course(seen("finished"), GOOD), "PLN006", DONE),
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
        (course(seen("finished"), BAD, tried=2, replans=1), "PLN014", RevisePlan(step=2)),
        (
            course(seen("finished"), BAD, replans=1),
            "PLN007",
            StartStep(step=2, attempt=2, wrong="Still wrong."),
        ),
        (course(seen("absent"), state="FAILED"), "PLN014", RevisePlan(step=2)),
        (course(seen("finished"), state="FAILED"), "PLN015", TakeRevision(step=2, task=TASK)),
        (
            course(seen("failed", error="quota", ended=1.0), state="FAILED"),
            "PLN004",
            RevisePlan(step=2),
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
        course(seen("failed", error="usage_limit", ended=1000.0, resets=1996.0)),
        course(seen("failed", error="usage_limit", ended=1200.0)),
        course(state="FAILED", status="FAILED"),
        course(seen("running"), state="FAILED"),
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
        RevisePlan(step=2), TakeRevision(step=2, task=TASK),
    ]  # fmt: skip

    assert len({move.key for move in moves}) == len(moves)
    assert len({rule.code for rule in PLANS}) == len(PLANS) == 15


def note(kind: str, utc: float, **more: object) -> dict[str, object]:
    """A line of the journal."""
    return {"k": kind, "utc": utc, **more}


def test_what_was_used_is_found_in_the_journal() -> None:
    """A death is no rest; a person who goes on forgives what nobody told; another goal is new."""
    told = [
        note(BEGUN, 100.0, goal="a"),
        note(SPENT, 110.0, task="t1", cost=0.5, tokens=100),
        note(BEGUN, 150.0, goal="a"),  # after a death
        note(SPENT, 160.0, task="t2", cost=None, tokens=None, limited=True),
        note(SPENT, 161.0, task="t2", cost=9.0, tokens=9),
        note(RESTED, 200.0),
    ]
    rested = ledger(told)
    again = ledger([*told, note(BEGUN, 1000.0, goal="a")])

    assert (rested.cost, rested.read, rested.limited, rested.used(5000.0)) == (0.5, 100, 1, 100.0)
    assert rested.untold(rested.costs) == ("t2",)
    assert (again.untold(again.costs), again.used(1010.0)) == ((), 110.0)
    assert again.used(900.0) == 100.0
    assert ledger([*told, note(BEGUN, 1000.0, goal="b")]) == Spending(since=1000.0)


def test_a_plan_is_made_anew_only_so_often() -> None:
    """Then a person is asked."""
    revised = PlanRevised(kept=1, before=("two",), after=("other",))
    found = advise(course(seen("finished"), BAD, revised, tried=2, replans=1), NOW)

    assert found is not None
    assert found[0].code == "PLN007"
    assert ledger([note("replanned", 1.0)]).replans == 1


def test_what_a_review_used_counts() -> None:
    """It is a run like another one."""
    review = TaskSeen(task="task_0000000a00", state="finished", cost=3.0, tokens=5)
    judged = replace(BAD, review=review)
    found = advise(course(seen("finished", cost=0.5, tokens=5), judged, cost=2.0), NOW)

    assert found is not None
    assert found[1].move == Halt(why="$3.50 of $2.00 are spent", again=LARGER)


def test_limits_without_a_time_are_tried_later_and_later() -> None:
    """15 minutes, 30, then every hour; a time that is over says nothing."""
    waits = []
    for times in range(5):
        view = course(seen("failed", error="quota", ended=1000.0, resets=990.0))
        view = replace(view, spending=replace(view.spending, limited=times + 1))
        waits.append(view.limited_until - 1000.0)

    assert waits == [900.0, 1800.0, 3600.0, 3600.0, 3600.0]
