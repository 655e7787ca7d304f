"""Health: a level with its reasons."""

from __future__ import annotations

import pytest

from koboshi.core.health import Health, Level, examine
from koboshi.core.readings import Status
from koboshi.core.view import Belief, Sight, View
from tests.core.worlds import CONTEXT, moment

TABLE = [
    (Status.WORKING, "", False, 10.0, Level.WELL, ()),
    (Status.WORKING, "", False, 121.0, Level.UNSURE, ("frozen",)),
    (Status.IDLE, "", False, 500.0, Level.WELL, ()),
    (Status.ASKING, "", False, 500.0, Level.WELL, ()),
    (Status.LIMITED, "", False, 500.0, Level.WELL, ()),
    (Status.STARTING, "", False, 500.0, Level.WELL, ()),
    (Status.FAILED, "", False, 0.0, Level.ILL, ("error_text",)),
    (Status.GONE, "process_gone", False, 0.0, Level.ILL, ("process_gone",)),
    (Status.GONE, "shell_prompt", False, 0.0, Level.ILL, ("shell_prompt",)),
    (Status.GONE, "process_gone", True, 0.0, Level.ILL, ("process_gone", "given_up")),
    (Status.UNKNOWN, "contradiction: a and b", False, 0.0, Level.UNSURE, ("contradiction",)),
    (Status.UNKNOWN, "empty_output: blank", False, 0.0, Level.UNSURE, ("empty_output",)),
    (Status.UNKNOWN, "never seen", False, 0.0, Level.UNSURE, ("unknown_screen",)),
]


@pytest.mark.parametrize(("status", "reason", "given_up", "still", "level", "reasons"), TABLE)
def test_health_has_a_level_and_reasons(
    status: Status, reason: str, still: float, level: Level, reasons: tuple[str, ...],
    *, given_up: bool,
) -> None:  # fmt: skip
    """Ill before unsure before well."""
    view = View(
        context=CONTEXT,
        belief=Belief(status=status, reason=reason),
        sight=Sight(moved_at=1000.0),
        given_up=given_up,
    )

    health = examine(view, moment(1000.0 + still))

    assert health == Health(level=level, reasons=reasons)
    assert health.healthy is (level is Level.WELL)
