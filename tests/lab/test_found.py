"""Screens of real CLIs that koboshi reads wrongly, kept until it reads them right.

A case here is a debt: when its mark fails because the reading is right, the case moves to
`tests/cases/screens/` and the mark goes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from koboshi.adapters.registry import adapter
from koboshi.core.observations import ScreenSeen
from koboshi.core.readings import Status

FOUND = Path(__file__).parent / "found"


def case(name: str, reason: str) -> object:
    """A case that is read wrongly."""
    return pytest.param(FOUND / name, id=name, marks=pytest.mark.xfail(reason=reason))


@pytest.mark.parametrize(
    "folder",
    [
        case("claude-auto-notice", "a notice of the program is taken for half an answer"),
        case("claude-413-2.1.197", "an error without colour is taken for an answer"),
        case("gemini-ask-user", "options whose numbers have two spaces after them are none"),
        case("opencode-retrying", "a retry that is under way has lost its time, and its error"),
    ],
)
def test_a_screen_that_was_read_wrongly(folder: Path) -> None:
    """What the screen shows."""
    facts = json.loads((folder / "seen.json").read_text(encoding="utf-8"))
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    column, row = facts["cursor"]
    seen = ScreenSeen(
        text=(folder / "screen.txt").read_text(encoding="utf-8"),
        ansi=(folder / "screen.ansi").read_text(encoding="utf-8"),
        title=facts["title"],
        command=facts["command"],
        cols=facts["cols"],
        rows=facts["rows"],
        cursor=(column, row),
        utc=facts["utc"],
    )

    reading = adapter(folder.name.partition("-")[0]).read(seen)

    assert reading.status is Status(expected["status"])
    assert bool(reading.error and reading.error.retrying) is expected.get("retrying", False)
