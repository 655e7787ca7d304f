"""`koboshi ls`: what a line says, and in how many columns."""

from __future__ import annotations

from typing import Any

import pytest

from koboshi.cli.ls import _row, _table

ASKS: dict[str, Any] = {
    "agent": "api",
    "type": "claude",
    "watched": True,
    "trouble": "",
    "status": "asking",
    "reason": "permission_dialog",
    "run": {"number": 3, "exit": None},
    "question": {"question": "Do you want to proceed?", "subject": "npm test"},
}
STOPPED: dict[str, Any] = {
    **ASKS,
    "agent": "docs",
    "status": "gone",
    "reason": "process_gone",
    "run": {"number": 1, "exit": {"code": 0, "signal": None, "meant": True}},
    "question": None,
}


def printed(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, columns: int
) -> list[str]:
    """The table in so many columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    _table([_row(ASKS), _row(STOPPED)], ["asking", "gone"])
    return capfdbinary.readouterr().out.decode().splitlines()


def test_whoever_was_stopped_needs_no_explanation(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wrong with it."""
    head, asks, stopped = printed(capfdbinary, monkeypatch, 100)

    assert head.split() == ["NAME", "TYPE", "STATUS", "RUN"]
    assert asks.endswith("asks: Do you want to proceed? npm test")
    assert stopped.split() == ["docs", "claude", "stopped", "1"]


def test_a_narrow_terminal_shows_what_matters(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks what comes before which run of what type it is."""
    head, asks, _ = printed(capfdbinary, monkeypatch, 40)

    assert head.split() == ["NAME", "STATUS"]
    assert asks == "api   asking   asks: Do you want to pro…"
