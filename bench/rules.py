"""What it costs to let every built-in rule look at a view."""

from __future__ import annotations

from koboshi.core.rules import evaluate
from koboshi.rules import BUILTIN

from .figures import Figure, best_seconds, count
from .load import Happening, happenings

NIGHTS = 40


def measure_rules(scale: float) -> tuple[Figure, ...]:
    """Views as they come up in a night."""
    told = happenings(count(NIGHTS, scale))
    micros = best_seconds(lambda: _evaluate_all(told)) / len(told) * 1e6
    return (
        Figure(key="rules", value=len(BUILTIN), unit=""),
        Figure(key="evaluate", value=micros, unit="µs"),
        Figure(key="per_rule", value=micros / len(BUILTIN), unit="µs"),
    )


def _evaluate_all(told: list[Happening]) -> None:
    for each in told:
        for _ in evaluate(BUILTIN, each.after.view, each.event.now):
            pass
