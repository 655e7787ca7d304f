"""Recorded screens as looks, for every test that reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from koboshi.adapters.registry import names
from koboshi.observations import ScreenSeen

CASES = Path(__file__).parents[1] / "cases" / "screens"
FOUND = sorted(path.parent for path in CASES.glob("*/*/screen.txt") if path.parts[-3] in names())


def look_of(case: Path) -> ScreenSeen:
    """`screen.txt` (and `screen.ansi`), looked at as `seen.json` says."""
    how, styled = case / "seen.json", case / "screen.ansi"
    more: dict[str, Any] = json.loads(how.read_text("utf-8")) if how.exists() else {}
    if more.get("cursor"):
        more["cursor"] = tuple(more["cursor"])
    if styled.exists():
        more["ansi"] = styled.read_text("utf-8")
    return ScreenSeen(text=(case / "screen.txt").read_text("utf-8"), **more)


def looks(agent: str) -> list[ScreenSeen]:
    """Every recorded look at that agent."""
    return [look_of(case) for case in FOUND if case.parent.name == agent]
