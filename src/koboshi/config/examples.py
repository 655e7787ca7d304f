"""Examples of a rule, run when it is loaded: a line, or a table of what is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from koboshi.adapters.hearing import found
from koboshi.core.events import Context, Moment
from koboshi.core.readings import Status
from koboshi.core.view import Belief, Exit, Run, View

from .facts import LOG, NAMES, Facts

if TYPE_CHECKING:
    from .conditions import Condition

Example = str | dict[str, Any]
_NOW = Moment(at=1_000_000.0, utc=1_793_000_000.0)
_BLANK = View(context=Context(agent="example"))


class _Given(Facts):
    """What an example says; what it does not say is as it is when nothing was seen."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(_BLANK, _NOW)
        self._lines = values.get(LOG, ())
        self.update({name: value for name, value in values.items() if name in NAMES})

    def _count(self, kind: str, pattern: str, window: float) -> int:  # noqa: ARG002
        return sum(1 for line in self._lines if found(pattern, line)) if kind == LOG else 0


def outcome(condition: Condition, example: Example, *, wanted: bool) -> str:
    """What was expected of the example, when it comes out otherwise; else nothing."""
    if isinstance(example, str):
        if not condition.patterns:
            return "a table such as {status = 'idle'}: 'when' has no pattern for a line"
        holds = any(found(pattern, example) for pattern in condition.patterns)
        return "" if holds is wanted else _said("a line that is", wanted=wanted)
    unknown = [name for name in example if name != LOG and name not in NAMES]
    if unknown:
        return f"only names that are known, not {unknown[0]!r}"
    if not isinstance(example.get(LOG, []), list) or not all(
        isinstance(line, str) for line in example.get(LOG, [])
    ):
        return "a list of lines as 'log'"
    holds = condition.holds(_Given(example))
    return "" if holds is wanted else _said("something for which 'when' is", wanted=wanted)


def _said(start: str, *, wanted: bool) -> str:
    words = ("found", "not found") if "line" in start else ("true", "false")
    return f"{start} {words[0] if wanted else words[1]}"


def probes(condition: Condition) -> Iterator[str]:
    """What goes wrong with the condition at any of some views."""
    for view in _views():
        try:
            came = condition.asked(Facts(view, _NOW))
        except (TypeError, ValueError, RuntimeError, ArithmeticError) as error:
            yield str(error).split(". ")[0][:160]
            continue
        if not isinstance(came, bool):
            yield f"one that is {came!r}"[:80]


def _views() -> Iterator[View]:
    yield _BLANK
    for status in (Status.IDLE, Status.WORKING, Status.GONE):
        run = Run(number=3, exit=Exit(code=1) if status is Status.GONE else None)
        context = Context(agent="example", agent_type="claude", run=3, lines=("one", "two"))
        yield View(context=context, run=run, belief=Belief(status=status))
