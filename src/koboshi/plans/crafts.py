"""A plan in the engine: its course is the view, its moves are the actions, its gate is here.

Rule 1: one pair of hands: while one move is under way, no other is admitted.
Rule 2: a move that came out may be admitted again. The file is the memory: where it does not show
what was done, it is done again and comes out the same (a run and a commit have their task's name).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from koboshi.core.engine import Craft
from koboshi.core.events import ActionFinished
from koboshi.core.gate import Verdict, Word

from .course import Course, Fact, PlanRead, PlanRevised, StepJudged, StopSeen, TaskSeen
from .course import fold as fold_fact
from .moves import Act, MakePlan, RevisePlan, StartStep

if TYPE_CHECKING:
    from koboshi.core.events import Event, Moment
    from koboshi.core.gate import Ledger
    from koboshi.core.rules import Rule

_FACTS = (PlanRead, TaskSeen, StepJudged, PlanRevised, StopSeen)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveFinished(ActionFinished):
    """A move came out, with what is known since: one event, so that no rule looks in between."""

    facts: tuple[Fact, ...] = ()


def fold(course: Course, event: Event) -> Course:
    """What is known after that event; the very same course where it says nothing new."""
    body: Any = event.body
    facts = body.facts if isinstance(body, MoveFinished) else (body,)
    after = course
    for fact in facts:
        if isinstance(fact, _FACTS):
            after = fold_fact(after, fact, event.now)
    return course if after == course else after


def judge(act: Act, course: Course, ledger: Ledger, now: Moment, rule: Rule) -> Verdict:  # noqa: ARG001
    """May this move be made now?"""
    flying = ledger.in_flight()
    if any(each.key == act.key for each in flying):
        return Verdict(word=Word.DUPLICATE, why="under way")
    if flying:
        return Verdict(word=Word.BUSY, why=f"{flying[0].kind} is under way")
    if rule.observes:
        return Verdict(word=Word.WOULD, why=f"{rule.code} is set to observe")
    terms = course.terms
    if (
        isinstance(act.move, StartStep | MakePlan | RevisePlan)
        and terms.cost
        and course.spending.cost >= terms.cost
    ):
        return Verdict(word=Word.SPENT, why=f"${course.spending.cost:.2f} of ${terms.cost:.2f}")
    return Verdict(word=Word.ADMITTED)


PLAN = Craft(fold=fold, judge=judge)
