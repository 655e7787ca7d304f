"""PLN: what a plan may use up. Closed: what nobody can count is not spent on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.events import Severity
from koboshi.plans.course import Course
from koboshi.plans.moves import Advice, Halt
from koboshi.plans.values import PlanStatus

from .courses import plan_rule

if TYPE_CHECKING:
    from koboshi.core.events import Moment


@plan_rule("PLN002", "budget-used-up", Severity.P1)
def budget_used_up(view: Course, now: Moment) -> Advice | None:
    """The plan has used up its time, its tokens or its money.

    ## Why
    An agent that gets nowhere must not get nowhere for ever. Closed: with the budget spent, nothing
    more is begun, and what runs is ended. What was used is in the journal, whoever dies.

    ## Example
    `--budget 5` and 5.10 dollars are told by the CLI: WAITING, with what was spent.

    ## Safety
    Safe. It only ends and waits.
    """
    if view.plan.status is not PlanStatus.RUNNING or _costs_nothing(view):
        return None
    terms, spending, seconds = view.terms, view.spending, view.spending.used(now.utc)
    if terms.cost and spending.cost >= terms.cost:
        why = f"${spending.cost:.2f} of ${terms.cost:.2f} are spent"
    elif terms.tokens and spending.read >= terms.tokens:
        why = f"{spending.read} of {terms.tokens} tokens are used up"
    elif terms.seconds and seconds >= terms.seconds:
        why = f"{seconds:.0f} of {terms.seconds:.0f} seconds are used up"
    else:
        return None
    return Advice(message=why, move=Halt(why=why, again=_LARGER))


def _costs_nothing(view: Course) -> bool:
    """What is left is to look at what was paid for already, or to say that all is done."""
    if view.plan.steps and view.next is None:
        return True
    ended = view.task is not None and view.task.state == "finished" and view.running is not None
    return ended and (view.judged is None or view.judged.verified)


_LARGER = "'koboshi loop FILE' with a larger budget goes on"


@plan_rule("PLN013", "spending-not-known", Severity.P1)
def spending_not_known(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """There is a budget, and nobody can tell what was used of it.

    ## Why
    A budget that cannot be counted is none. Codex and Gemini CLI do not tell what they cost; a run
    that was ended tells nothing at all.

    ## Example
    `--agent codex --budget 5`: WAITING before anything is begun; `--token-budget` can be kept.

    ## Safety
    Safe. It only waits; a person who goes on takes what was not told for nothing.
    """
    if view.plan.status is not PlanStatus.RUNNING or _costs_nothing(view):
        return None
    if view.task is not None and view.task.state == "running":
        return None
    terms, spending = view.terms, view.spending
    step = view.running or view.next
    agent = (step.agent if step else "") or terms.agent
    if terms.cost and agent in terms.silent:
        why = f"{agent} does not tell what it costs: a budget of ${terms.cost:.2f} cannot be kept"
        again = "'koboshi loop FILE' with '--token-budget', or without '--budget', goes on"
        return Advice(message=why, move=Halt(why=why, again=again))
    for wanted, told, what in (
        (terms.cost, spending.costs, "cost"),
        (terms.tokens, spending.tokens, "used"),
    ):
        lost = spending.untold(told) if wanted else ()
        if lost:
            why = f"nobody knows what {', '.join(lost)} {what}"
            again = "'koboshi loop resume' goes on and takes it for nothing"
            return Advice(message=why, move=Halt(why=why, again=again))
    return None
