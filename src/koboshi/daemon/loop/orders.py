"""What a person may say about a plan: go on, an answer, another text. The file is written, no more.

Whoever keeps the plan, or begins to, finds it there: there is no other way in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.errors import InputError, KoboshiError
from koboshi.plans import Plan, PlanStatus, parse

from .facts import ASKING
from .keeper import answered, resumed

if TYPE_CHECKING:
    from koboshi.store.planfile import PlanFile

#: What a plan says that waits for no more than this word.
RESUME = "koboshi loop resume"


def may_go_on(file: PlanFile) -> Plan:
    """The plan, if it is a person's to say that it goes on; else an error says what is so."""
    plan, name = file.sound(), file.path.name
    if plan.status is PlanStatus.DONE:
        raise KoboshiError(f"{name} is DONE already", hint=plan.last_action)
    if plan.status is PlanStatus.FAILED:
        hint = plan.next_action or "'koboshi loop answer' goes on"
        raise KoboshiError(f"{name} is FAILED: {plan.last_action}", hint=hint)
    if not plan.goal:
        message = f"{name} has nothing to do: expected a GOAL"
        raise InputError(message, hint="'koboshi loop show' tells what it says")
    return plan


def may_resume(file: PlanFile) -> Plan:
    """The plan, unless it waits for more than that somebody goes on: then its question again."""
    plan = may_go_on(file)
    asks = bool(plan.next_action) and RESUME not in plan.next_action
    if plan.status is PlanStatus.WAITING and asks:
        message = f"{file.path.name} is WAITING: {plan.last_action or plan.next_action}"
        told = "koboshi loop" in plan.next_action
        how = "" if told else "; 'koboshi loop answer' goes on"
        raise KoboshiError(message, hint=f"{plan.next_action}{how}")
    return plan


def go_on(file: PlanFile) -> Plan:
    """Set the plan RUNNING."""
    plan = may_go_on(file)
    if plan.status is PlanStatus.RUNNING:
        return plan
    return file.save(plan, resumed(plan)).plan


def answer(file: PlanFile, text: str) -> Plan:
    """Answer what the plan asked; it goes on."""
    if not text.strip():
        raise InputError("expected an answer, and it is empty")
    plan = file.sound()
    if plan.status not in ASKING:
        raise InputError(f"{file.path.name} is {plan.status.value}: it asks nothing")
    return file.save(plan, answered(plan, text)).plan


def edit(file: PlanFile, base: str, text: str) -> Plan:
    """Make a person's changes from `base` to `text`; nothing is written where they conflict."""
    ours = parse(text)
    if ours.faults:
        wrong = "; ".join(str(fault) for fault in ours.faults)
        raise InputError(f"this would be no plan: {wrong}", hint="nothing was saved")
    merged = file.save(parse(base), ours, waits=False)
    if merged.clashes:
        both = "; ".join(
            f"{'.'.join(each.path)}: you wrote {each.ours or 'nothing'!r}, "
            f"the file says {each.theirs or 'nothing'!r}"
            for each in merged.clashes
        )
        raise KoboshiError(
            f"the file was changed meanwhile: {both}",
            hint="nothing was saved; your words are still here, the file's are shown above",
        )
    return merged.plan
