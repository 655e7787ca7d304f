"""Printed reset times as instants."""

from __future__ import annotations

import datetime as dt
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.clocks import reset_instant


def at(text: str) -> float:
    """An ISO moment as epoch seconds."""
    return dt.datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("text", "look", "expected"),
    [
        ("9:58am (UTC)", "2025-11-15T08:00+00:00", "2025-11-15T09:58+00:00"),
        ("9:58:20am (UTC)", "2025-11-15T08:00+00:00", "2025-11-15T09:58:20+00:00"),
        ("9am (UTC)", "2025-11-15T08:00+00:00", "2025-11-15T09:00+00:00"),
        ("12:05am (UTC)", "2025-11-15T23:00+00:00", "2025-11-16T00:05+00:00"),
        ("12:05pm (UTC)", "2025-11-15T11:00+00:00", "2025-11-15T12:05+00:00"),
        ("11:50pm (UTC)", "2025-11-16T00:10+00:00", "2025-11-15T23:50+00:00"),
        ("9:58am (UTC)", "2025-11-15T09:59+00:00", "2025-11-15T09:58+00:00"),
        ("9:58am (Asia/Tokyo)", "2025-11-15T00:00+00:00", "2025-11-15T09:58+09:00"),
        ("Nov 18, 9:58am (UTC)", "2025-11-15T08:00+00:00", "2025-11-18T09:58+00:00"),
        ("Jan 2, 1:00pm (UTC)", "2025-12-30T08:00+00:00", "2026-01-02T13:00+00:00"),
        ("Dec 30, 1:00pm (UTC)", "2026-01-01T08:00+00:00", "2025-12-30T13:00+00:00"),
        ("Feb 29, 1:00pm (UTC)", "2028-02-27T08:00+00:00", "2028-02-29T13:00+00:00"),
        ("Nov 18th, 2026 7:34 AM (UTC)", "2026-11-15T08:00+00:00", "2026-11-18T07:34+00:00"),
        ("November 18 at 2pm (UTC)", "2026-11-15T08:00+00:00", "2026-11-18T14:00+00:00"),
        ("15:30 (Asia/Kolkata)", "2025-11-15T08:00+00:00", "2025-11-15T15:30+05:30"),
        ("in 2 hours", "2025-11-15T08:00+00:00", "2025-11-15T10:00+00:00"),
        ("3 days 4 hours 9 minutes.", "2025-11-15T08:00+00:00", "2025-11-18T12:09+00:00"),
        # The night clocks go forward, and the night they go back, in Berlin.
        ("6:00am (Europe/Berlin)", "2025-03-30T00:30+00:00", "2025-03-30T04:00+00:00"),
        ("6:00am (Europe/Berlin)", "2025-10-26T00:30+00:00", "2025-10-26T05:00+00:00"),
    ],
)
def test_time_is_the_instant_nearest_to_the_look(text: str, look: str, expected: str) -> None:
    """Today or tomorrow, this year or next, summer or winter."""
    assert at(expected) == reset_instant(text, at(look))


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", "2025-11-15T09:58+00:00"),
        ("Asia/Tokyo", "2025-11-15T09:58+09:00"),
        ("America/New_York", "2025-11-15T09:58-05:00"),
    ],
)
def test_a_time_without_a_zone_is_local(
    zone: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent runs on this machine and prints what its clock shows."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()

    assert at(expected) == reset_instant("9:58 AM.", at("2025-11-15T06:00+00:00"))

    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9",
        "in",
        "soon",
        "25:00am (UTC)",
        "13am",
        "9:99am",
        "9:58am (Mars/Olympus)",
        "Foo 3, 9am",
        "Feb 30, 9am",
    ],
)
def test_what_is_no_time_has_no_instant(text: str) -> None:
    """Never a guess."""
    assert reset_instant(text, 1_763_200_000.0) is None


def test_without_the_moment_of_the_look_there_is_no_instant() -> None:
    """A clock face alone names no day."""
    assert reset_instant("9:58am (UTC)", None) is None


@given(text=st.text() | st.from_regex(r"\w{3} \d+, \d+:\d\d[ap]m \(\w+/\w+\)"), utc=st.floats())
def test_no_text_and_no_moment_raises(text: str, utc: float) -> None:
    """Also not at the ends of the calendar."""
    reset_instant(text, utc)
