"""PLN: a plan that does not hold. Who made it is asked once more, before a person is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.events import Severity
from koboshi.plans.course import Course
from koboshi.plans.moves import Advice, RevisePlan, TakeRevision
from koboshi.plans.values import PlanStatus

from .courses import plan_rule

if TYPE_CHECKING:
    from koboshi.core.events import Moment


@plan_rule("PLN014", "plan-does-not-hold", Severity.P1)
def plan_does_not_hold(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """All attempts at a step are used up, and its plan may be made anew.

    ## Why
    More of the same would end the same way; what was learned may show another way. What is done
    stays done, and the whole never has more steps than a plan may have.

    ## Example
    `koboshi loop "GOAL"` (or `--replan 1` with a plan of your own): step 2 failed three times; a
    planner is told why, and makes other steps from there on.

    ## Safety
    Safe. The planner may read; every change of the plan is in its journal.
    """
    if view.plan.status is not PlanStatus.RUNNING:
        return None
    if (step := view.revising) is not None:
        if view.task is not None and view.task.state == "absent":
            return Advice(message="the planner never began", move=RevisePlan(step=step.number))
        return None
    running, judged = view.running, view.judged
    if running is None or judged is None or judged.verified:
        return None
    if view.tried(running) < view.allowed(running) or view.spending.replans >= view.terms.replans:
        return None
    message = f"step {running.number} could not be done as planned"
    move = RevisePlan(step=running.number)
    return Advice(message=message, move=move, evidence=(judged.evidence,))


@plan_rule("PLN015", "other-steps-proposed", Severity.P2)
def other_steps_proposed(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """The planner that was asked how to go on has ended.

    ## Why
    Its steps go in the place of the one that could not be done and of all behind it; where it made
    none, a person is asked.

    ## Example
    Two other steps: written, and the first of them begins.

    ## Safety
    Safe. What is done is not touched.
    """
    step, task = view.revising, view.task
    if step is None or task is None or task.state not in ("finished", "failed") or view.limited:
        return None
    move = TakeRevision(step=step.number, task=task.task)
    return Advice(message="the planner has ended", move=move)
