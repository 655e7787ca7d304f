"""What people read agrees with its number."""

from __future__ import annotations

from koboshi.wording import in_a_row, many, times


def test_one_is_one() -> None:
    """And none are none."""
    assert [many(number, "restart") for number in (0, 1, 2)] == [
        "0 restarts",
        "1 restart",
        "2 restarts",
    ]
    assert [times(number) for number in (0, 1, 2)] == ["0 times", "once", "2 times"]
    assert [in_a_row(number) for number in (1, 2)] == ["once", "2 times in a row"]
