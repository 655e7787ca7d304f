"""A column beside the transcript."""

from __future__ import annotations

from koboshi.adapters.grammar.sidebars import SIDEBAR, cut_sidebar

COLUMNS = 140
TEXT = COLUMNS - SIDEBAR + 2  # where its text begins
SAID = ("Context", "1,220 tokens", "1% used", "")
ROWS = [f"  ┃  line {n}".ljust(TEXT) + said for n, said in enumerate(SAID)]


def test_it_is_cut_off_and_kept() -> None:
    """The transcript keeps its rows, and what stood beside them is told apart."""
    rows, said = cut_sidebar(ROWS, COLUMNS)

    assert rows == [f"  ┃  line {n}" for n in range(len(SAID))]
    assert said == list(SAID)


def test_a_wide_character_takes_two_columns() -> None:
    """A row in Japanese has fewer characters than columns."""
    row = "  ┃  起き上がり"
    wide = row + " " * (TEXT - len(row) - 5) + "LSP"
    rows, said = cut_sidebar([*ROWS, wide], COLUMNS)

    assert (rows[-1], said[-1]) == (row, "LSP")


def test_what_reaches_into_the_gutter_is_no_sidebar() -> None:
    """Somebody's text is as wide as the terminal: nothing is cut off it."""
    rows = [*ROWS, "word " * (COLUMNS // 5)]

    assert cut_sidebar(rows, COLUMNS) == (rows, [])


def test_a_narrow_terminal_has_none() -> None:
    """Neither has one in which a single row stands at the right."""
    assert cut_sidebar(ROWS, 120) == (ROWS, [])
    assert cut_sidebar(ROWS[:1], COLUMNS) == (ROWS[:1], [])
