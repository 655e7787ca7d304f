"""`koboshi metrics`: counted from the journals, without a daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.journals import run

pytestmark = pytest.mark.usefixtures("state")


def test_a_day_in_four_rows() -> None:
    """For people."""
    ran = run("metrics", "sim")

    assert ran.code == 0
    assert ran.lines_of()[0].startswith("sim 20")
    assert ran.lines_of()[1].startswith("  time: ")


def test_all_agents_as_json() -> None:
    """For programs; a day each."""
    (day, *_) = run("metrics", "--json").json

    assert day["agent"] == "sim"
    assert sum(day["events"].values()) > 0


def test_prometheus_text() -> None:
    """For a file that is read by its node exporter."""
    ran = run("metrics", "--prometheus")

    assert "# TYPE koboshi_events_total counter" in ran.out
    assert 'agent="sim"' in ran.out


def test_an_agent_that_is_not_known(state: Path) -> None:
    """Names those that are."""
    del state
    ran = run("metrics", "nobody")

    assert ran.code == 2
    assert "sim" in ran.err
