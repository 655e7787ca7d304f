"""Times as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.config.durations import MOST, seconds, shown


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("45s", 45.0),
        ("10m", 600.0),
        ("1h30m", 5400.0),
        ("1h30", 3630.0),
        ("2d", 172800.0),
        ("0.1h", 360.0),
        (" 10M ", 600.0),
        ("300", 300.0),
        ("0", 0.0),
    ],
)
def test_a_time_is_read(text: str, time: float) -> None:
    """Units from the largest to the smallest, or seconds."""
    assert seconds(text) == time


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "m",
        "10 minutes",
        "30m1h",
        "-5",
        "1e3",
        "inf",
        "٤٥s",
        "9" * 30,
        "10d" * 9,
        "99999999d",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    """Nothing is guessed."""
    assert seconds(text) is None


@given(st.floats(min_value=0, max_value=MOST))
def test_a_time_survives_being_shown(time: float) -> None:
    """The very same number."""
    assert seconds(shown(time)) == time


@given(st.text(max_size=40))
def test_any_text_is_a_time_within_reason_or_none(text: str) -> None:
    """Never an error."""
    time = seconds(text)
    assert time is None or 0 <= time <= MOST


def test_whole_times_are_shown_in_units() -> None:
    """As a person would write them."""
    assert [shown(t) for t in (0.0, 45.0, 600.0, 5400.0, 90061.0, 2.5)] == [
        "0s",
        "45s",
        "10m",
        "1h30m",
        "1d1h1m1s",
        "2.5s",
    ]
