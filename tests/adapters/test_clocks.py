"""Printed reset times as instants."""

from __future__ import annotations

import datetime as dt
import time
import zoneinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.clocks import asked_wait, reset_instant


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
        ("2:08 AM GMT+9", "2025-11-15T15:00+00:00", "2025-11-16T02:08+09:00"),
        ("2:08 AM GMT+5:30", "2025-11-15T18:00+00:00", "2025-11-16T02:08+05:30"),
        ("2:08 AM PST", "2025-11-15T08:00+00:00", "2025-11-15T02:08-08:00"),
        ("2:08 AM EDT", "2025-07-15T03:00+00:00", "2025-07-15T02:08-04:00"),
        ("Nov 18, 9:58am (UTC)", "2025-11-15T08:00+00:00", "2025-11-18T09:58+00:00"),
        ("Jan 2, 1:00pm (UTC)", "2025-12-30T08:00+00:00", "2026-01-02T13:00+00:00"),
        ("Dec 30, 1:00pm (UTC)", "2026-01-01T08:00+00:00", "2025-12-30T13:00+00:00"),
        ("Feb 29, 1:00pm (UTC)", "2028-02-27T08:00+00:00", "2028-02-29T13:00+00:00"),
        ("Nov 18th, 2026 7:34 AM (UTC)", "2026-11-15T08:00+00:00", "2026-11-18T07:34+00:00"),
        ("November 18 at 2pm (UTC)", "2026-11-15T08:00+00:00", "2026-11-18T14:00+00:00"),
        ("15:30 (Asia/Kolkata)", "2025-11-15T08:00+00:00", "2025-11-15T15:30+05:30"),
        ("3am (America/New_York)", "2025-11-15T02:00-05:00", "2025-11-15T03:00-05:00"),
        ("at 3am (UTC)", "2025-11-15T20:00+00:00", "2025-11-16T03:00+00:00"),
        ("Feb 17 at 2pm (Asia/Seoul)", "2026-02-15T08:00+00:00", "2026-02-17T14:00+09:00"),
        ("Monday at 12:00 AM (UTC)", "2025-11-15T08:00+00:00", "2025-11-17T00:00+00:00"),
        ("Sat, 9am (UTC)", "2025-11-15T08:00+00:00", "2025-11-15T09:00+00:00"),
        ("Thu 9am (Asia/Tokyo)", "2025-11-15T08:00+00:00", "2025-11-20T09:00+09:00"),
        ("00:05 (UTC)", "2025-11-15T23:50+00:00", "2025-11-16T00:05+00:00"),
        ("23:59 (UTC)", "2025-11-15T23:50+00:00", "2025-11-15T23:59+00:00"),
        # 2:30 comes twice in Berlin that night, and not at all in the other one.
        ("2:30am (Europe/Berlin)", "2025-10-26T00:10+00:00", "2025-10-26T00:30+00:00"),
        ("2:30am (Europe/Berlin)", "2025-10-26T01:20+00:00", "2025-10-26T01:30+00:00"),
        ("3:00am (Europe/Berlin)", "2025-03-30T00:50+00:00", "2025-03-30T01:00+00:00"),
        # Half-hour zones, and one that is a day ahead.
        ("9:15am (Australia/Adelaide)", "2026-01-01T22:00+00:00", "2026-01-02T09:15+10:30"),
        ("Jan 1, 12am (Pacific/Kiritimati)", "2025-12-31T09:00+00:00", "2026-01-01T00:00+14:00"),
        # A weekly limit is told by the clock alone on its last day.
        ("9am (UTC)", "2025-11-15T18:00+00:00", "2025-11-16T09:00+00:00"),
        ("9am (UTC)", "2025-11-15T14:00+00:00", "2025-11-15T09:00+00:00"),
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


def test_what_is_known_to_come_is_not_taken_for_past() -> None:
    """A menu that is open tells of a reset up to a day ahead; a moment ago it may have come."""
    look = 1794873600.0  # 2026-11-17T00:00Z

    assert reset_instant("8:08 PM UTC", look, ahead=True) == look + 20 * 3600 + 8 * 60
    assert reset_instant("8:08 PM UTC", look) == look - 4 * 3600 + 8 * 60
    assert reset_instant("11:58 PM UTC", look, ahead=True) == look - 120


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
        "9:58am GMT+99",
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


ZONES = st.sampled_from(
    (
        "UTC",
        "Asia/Tokyo",
        "Asia/Kolkata",
        "Europe/Berlin",
        "America/New_York",
        "America/St_Johns",
        "Australia/Lord_Howe",
        "Pacific/Chatham",
        "America/Sao_Paulo",
    )
)
#: From 2024 to 2030, in whole minutes.
MOMENTS = st.integers(1_704_067_200 // 60, 1_893_456_000 // 60).map(lambda minutes: minutes * 60)


def spelled(moment: dt.datetime, form: str) -> str:
    """The moment as a CLI prints it."""
    clock = f"{moment:%I:%M}".lstrip("0") + f"{moment:%p}".lower()
    zone = getattr(moment.tzinfo, "key", "UTC")
    match form:
        case "clock":
            return f"{clock} ({zone})"
        case "24h":
            return f"{moment:%H:%M} ({zone})"
        case "date":
            return f"{moment:%b} {moment.day}, {clock} ({zone})"
        case "codex":
            ends = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
            day = f"{moment.day}{ends.get(moment.day, 'th')}"
            return f"{moment:%b} {day}, {moment.year} {clock[:-2]} {moment:%p} ({zone})"
        case _:
            raise AssertionError(form)


@given(
    reset=MOMENTS,
    zone=ZONES,
    form=st.sampled_from(("clock", "24h")),
    before=st.integers(-5 * 3600, 17 * 3600),
)
def test_a_printed_clock_gives_the_reset_back(
    reset: int, zone: str, form: str, before: int
) -> None:
    """A night before it, or left standing; an hour that comes twice may be either of the two."""
    moment = dt.datetime.fromtimestamp(reset, zoneinfo.ZoneInfo(zone))

    read = reset_instant(spelled(moment, form), float(reset - before))

    assert read is not None
    again = dt.datetime.fromtimestamp(read, zoneinfo.ZoneInfo(zone))
    assert (again.date(), again.hour, again.minute) == (moment.date(), moment.hour, moment.minute)


@given(
    reset=MOMENTS,
    zone=ZONES,
    form=st.sampled_from(("date", "codex")),
    before=st.integers(0, 90 * 86400),
)
def test_a_printed_date_gives_the_reset_back(reset: int, zone: str, form: str, before: int) -> None:
    """Also over the end of a year."""
    moment = dt.datetime.fromtimestamp(reset, zoneinfo.ZoneInfo(zone))

    read = reset_instant(spelled(moment, form), float(reset - before))

    assert read is not None
    again = dt.datetime.fromtimestamp(read, zoneinfo.ZoneInfo(zone))
    assert (again.date(), again.hour, again.minute) == (moment.date(), moment.hour, moment.minute)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("API Error: Request rejected (429) · Please try again in 6.5s.", 6.5),
        ("Rate limit reached. Try again in 20 seconds", 20.0),
        ("try again in 1m30s", 90.0),
        ("try again in 2 hours 5 min", 7500.0),
        ("try again in 250ms", 0.25),
        ("too many requests, retry-after: 37", 37.0),
        ("retry after 5 minutes", 300.0),
        ("529 Overloaded. Try again in a moment.", 0.0),
        ("API error · Retrying in 36s · attempt 4/10", 0.0),
        ("You can try again at 9:34 AM.", 0.0),
        ("", 0.0),
    ],
)
def test_a_wait_that_an_error_asks_for_is_read(text: str, seconds: float) -> None:
    """What a CLI waits out by itself is not asked of anybody."""
    assert asked_wait(text) == pytest.approx(seconds)
