"""What an agent printed is told once, in order, and only when it stands still."""

from __future__ import annotations

import pytest

from koboshi.daemon.scribe.output import GAP, Output

Looks = list[list[str]]


def told(looks: Looks, *, run: int = 1) -> list[str]:
    """All rows that are told of these looks, and what is left at the end."""
    output, found = Output(), list[str]()
    for utc, look in enumerate(looks):
        grown = output.seen(run, float(utc), tuple(look))
        found += grown.rows[grown.lead :] if grown else ()
    rest = output.rest()
    return found + list(rest.rows[rest.lead :] if rest else ())


def lines(start: int, end: int) -> list[str]:
    """`line 1`, `line 2` …: they differ in a number only."""
    return [f"line {n}" for n in range(start, end)]


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        pytest.param([["a"], ["a", "b"], ["a", "b", "c"]], ["a", "b", "c"], id="grows"),
        pytest.param([["a", "b"]] * 5, ["a", "b"], id="stands still"),
        pytest.param(
            [lines(n, n + 10) for n in range(1, 31, 3)], lines(1, 38), id="scrolls by three"
        ),
        pytest.param(
            [["# head", *lines(n, n + 10)] for n in range(1, 31, 3)],
            ["# head", *lines(1, 38)],
            id="scrolls under a head",
        ),
        pytest.param(
            [[*lines(n, n + 10), f"✻ Baking… ({n}s)"] for n in range(1, 9)],
            [*lines(1, 11), *lines(11, 18), "✻ Baking… (8s)"],
            id="scrolls over a spinner",
        ),
        pytest.param(
            [["a", f"⠋ Baking… ({n}s · {9 * n} tokens)"] for n in range(1, 9)],
            ["a", "⠋ Baking… (8s · 72 tokens)"],
            id="a spinner that never stands still is told at the end",
        ),
        pytest.param(
            [["a", f"⠋ Baking… ({n // 2}s)"] for n in range(2, 20)],
            ["a", "⠋ Baking… (1s)"],
            id="a clock is one row",
        ),
        pytest.param(
            [["The par"], ["The parser"], ["The parser is done."], ["The parser is done."]],
            ["The parser is done."],
            id="a row that is being written",
        ),
        pytest.param(
            [["one two thr"], ["one two", "three four"], ["one two", "three four"]],
            ["one two", "three four"],
            id="a word that is wrapped",
        ),
        pytest.param(
            [["a", "b"], ["c", "d"], ["c", "d"]],
            ["a", "b", GAP, "c", "d"],
            id="nothing in common",
        ),
        pytest.param([["ok"], ["ok", "ok"], ["ok", "ok", "ok"]], ["ok"] * 3, id="repeats"),
        pytest.param(
            [["a", "b"], ["a", "b"], ["b", "c"], ["b", "c"], ["b"], ["b", "d"]],
            ["a", "b", "c", "d"],
            id="shrinks and goes on",
        ),
    ],
)
def test_every_row_is_told_once(looks: Looks, expected: list[str]) -> None:
    """In the order in which it stood on the screen."""
    assert told(looks) == expected


def test_another_run_begins_anew() -> None:
    """What is left of the run before is told, and the same words again are new."""
    output = Output()
    assert output.seen(1, 1.0, ("hello",)) is None
    left = output.seen(2, 2.0, ("hello",))
    again = output.seen(2, 3.0, ("hello",))

    assert left is not None
    assert again is not None
    assert [(left.utc, left.rows), (again.utc, again.rows)] == [
        (1.0, ("hello",)),
        (2.0, ("hello",)),
    ]


def test_new_rows_come_with_the_two_before_them() -> None:
    """A key may begin in an old row; they are marked as old."""
    output = Output()
    for look in (("a", "b", "c"), ("a", "b", "c"), ("a", "b", "c", "d")):
        output.seen(1, 1.0, look)
    grown = output.seen(1, 2.0, ("a", "b", "c", "d"))

    assert grown is not None
    assert (grown.rows, grown.lead) == (("b", "c", "d"), 2)
