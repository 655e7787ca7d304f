"""A plan as plain values: for `koboshi loop ls`, pages and programs (docs/reference/json.md)."""

from __future__ import annotations

import calendar
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koboshi.plans import PlanStatus, StepState, render

if TYPE_CHECKING:
    from koboshi.plans import Plan

    from .registry import Known

#: Statuses in which a plan waits for a person.
ASKING = (PlanStatus.WAITING, PlanStatus.FAILED)


def brief(known: Known, trouble: str = "") -> dict[str, Any]:
    """One row of `ls`."""
    plan = known.plan
    states = [step.state.value for step in plan.steps] if plan else []
    return {
        "id": known.id,
        "path": known.start.path,
        "name": Path(known.start.path).name,
        "status": known.word,
        "goal": " ".join(_clean(plan.goal).split()) if plan else "",
        "steps": len(states),
        "done": sum(state in ("DONE", "SKIPPED") for state in states),
        "step": _at_work(plan) if plan else None,
        "agent": known.start.agent,
        "cwd": known.start.cwd,
        "keeper": known.held,
        "waits": _clean(plan.next_action) if plan and known.status in ASKING else "",
        "last_action": _clean(plan.last_action) if plan else "",
        "trouble": trouble or _faults(plan),
    }


def full(known: Known, trouble: str = "") -> dict[str, Any]:
    """All of one plan, with its text."""
    told = brief(known, trouble)
    if known.plan is None:
        return {**told, "plan": None, "text": ""}
    return {**told, "plan": plan_facts(known.plan), "text": _clean(render(known.plan))}


def plan_facts(plan: Plan) -> dict[str, Any]:
    """What the file says."""
    return {
        "status": plan.status.value,
        "goal": _clean(plan.goal),
        "constraints": _clean(plan.constraints),
        "total_steps": len(plan.steps),
        "current_step": plan.current_step,
        "steps": [_cleaned({**asdict(step), "state": step.state.value}) for step in plan.steps],
        "current": _cleaned(asdict(plan.current)),
        "results": {str(n): _cleaned(asdict(result)) for n, result in plan.results.items()},
        "last_action": _clean(plan.last_action),
        "next_action": _clean(plan.next_action),
        "faults": [_cleaned(asdict(fault)) for fault in plan.faults],
    }


def _at_work(plan: Plan) -> dict[str, Any] | None:
    """The step at work: its number, words and attempt."""
    step = next((each for each in plan.steps if each.state is StepState.RUNNING), None)
    if step is None:
        return None
    result = plan.results.get(step.number)
    return {
        "number": step.number,
        "text": _clean(step.text),
        "attempt": (result.attempts or 1) if result else 1,
        "began": _epoch(plan.current.spawned),
    }


def _epoch(stamp: str) -> float | None:
    try:
        return float(calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return None


def _faults(plan: Plan | None) -> str:
    return "; ".join(_clean(str(fault)) for fault in plan.faults) if plan else ""


def _clean(text: str) -> str:
    """Bytes that are no text cannot be said in JSON; the file keeps them."""
    return text.encode("utf-8", "replace").decode()


def _cleaned(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: _clean(value) if isinstance(value, str) else value for key, value in facts.items()}
