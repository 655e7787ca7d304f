"""A plan in the engine: one pair of hands, a gate, and the very same world where nothing is new."""

from __future__ import annotations

from typing import Any, cast

from koboshi.core.engine import Decision, World, happen, step
from koboshi.core.events import Ending, Moment, Outcome, Ticked
from koboshi.core.gate import Word
from koboshi.core.view import evolve
from koboshi.plans import parse
from koboshi.plans.course import Course, PlanRead, StopSeen, TaskSeen, Terms
from koboshi.plans.crafts import PLAN, MoveFinished
from koboshi.plans.spending import Spending
from koboshi.rules.plans import PLANS

NOW = Moment(at=10.0, utc=1000.0)
TEXT = "STATUS: RUNNING\nGOAL: g\n\nPLAN:\n  STEPS:\n    1: [PENDING] one\n"


def world(text: str = TEXT, *, cost: float = 0.0, spent: float = 0.0) -> World:
    """What a keeper knows that has just read the file."""
    terms, spending = Terms(cost=cost), Spending(costs={"task_0": spent})
    course = Course(plan=parse(text), name="M1.md", terms=terms, spending=spending)
    return World(view=cast("Any", course), rules=PLANS, craft=PLAN)


def after(known: World, body: object) -> tuple[World, tuple[Decision, ...]]:
    """One more fact."""
    return step(known, happen(known, cast("Any", body), NOW))


def finished(decision: Decision, ending: Ending, *facts: PlanRead) -> MoveFinished:
    """What came of it."""
    action = decision.action
    return MoveFinished(key=action.key, action=action, outcome=Outcome(ending=ending), facts=facts)


def test_a_move_is_decided_once_while_it_is_under_way() -> None:
    """The next look changes nothing, and gives back the very same world."""
    known, [decision] = after(world(), Ticked())

    assert (decision.finding.code, decision.verdict.word) == ("PLN008", Word.ADMITTED)
    assert (decision.action.kind, decision.action.key) == ("start-step", "1.1.start")
    assert after(known, Ticked()) == (known, ())
    assert after(known, Ticked())[0] is known


def test_a_stop_waits_for_the_hands_and_comes_next() -> None:
    """Told as held once, and admitted with the outcome of what was under way."""
    known, [first] = after(world(), Ticked())
    known, held = after(known, StopSeen(why="a person"))
    known, then = after(known, finished(first, Ending.SKIPPED))

    assert [each.verdict.word for each in held] == [Word.BUSY]
    assert [(each.finding.code, each.verdict.word) for each in then][:1] == [
        ("PLN001", Word.ADMITTED)
    ]


def test_what_a_move_found_is_known_before_any_rule_looks() -> None:
    """Between the outcome and the file that it wrote nothing is decided."""
    known, [first] = after(world(), Ticked())
    running = parse(TEXT.replace("PENDING", "RUNNING") + "CURRENT:\n  TASK_ID: task_1\n")
    known, then = after(known, finished(first, Ending.DONE, PlanRead(plan=running)))

    assert then == ()
    assert known.ledger.in_flight() == ()


def test_the_same_look_twice_is_one_event() -> None:
    """A run that goes on is not written down five times a second."""
    text = TEXT.replace("PENDING", "RUNNING") + "CURRENT:\n  TASK_ID: task_1\n"
    seen = TaskSeen(task="task_1", state="running", told="one")
    known, _ = after(world(text), seen)

    assert after(known, seen)[0] is known


def test_nothing_is_begun_with_the_money_spent() -> None:
    """The gate says so too, whatever the rules say."""
    bare = world(cost=1.0, spent=1.0)
    known = evolve(bare, rules=tuple(each for each in PLANS if each.code == "PLN008"))
    _, [decision] = after(known, Ticked())

    assert decision.verdict.word is Word.SPENT


def test_a_rule_that_observes_only_says_what_it_would_have_done() -> None:
    """Once, not at every look."""
    bare = world()
    known = evolve(bare, rules=tuple(evolve(each, observes=True) for each in PLANS))
    known, [decision] = after(known, Ticked())

    assert decision.verdict.word is Word.WOULD
    assert after(known, Ticked()) == (known, ())
