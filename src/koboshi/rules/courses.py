"""How a rule about a plan is made: its view is a course; form, codes and pages are an agent's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from koboshi.core.rules import Rule, rule

if TYPE_CHECKING:
    from koboshi.core.events import Moment, Severity
    from koboshi.plans.course import Course
    from koboshi.plans.moves import Advice

Check = Callable[["Course", "Moment"], "Advice | None"]


def plan_rule(code: str, name: str, severity: Severity) -> Callable[[Check], Rule]:
    """A rule of the loop."""
    return cast("Callable[[Check], Rule]", cast("Any", rule(code, name, severity)))
