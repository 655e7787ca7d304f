"""The plan file: a text that a person can read and edit, as a value and back, losing nothing."""

from .editing import (
    replace_steps,
    set_actions,
    set_current,
    set_current_step,
    set_result,
    set_state,
    set_status,
)
from .merging import Clash, Merged, merge, waiting
from .reading import parse, render
from .values import Current, Fault, Plan, PlanStatus, Step, StepResult, StepState

__all__ = [
    "Clash",
    "Current",
    "Fault",
    "Merged",
    "Plan",
    "PlanStatus",
    "Step",
    "StepResult",
    "StepState",
    "merge",
    "parse",
    "render",
    "replace_steps",
    "set_actions",
    "set_current",
    "set_current_step",
    "set_result",
    "set_state",
    "set_status",
    "waiting",
]
