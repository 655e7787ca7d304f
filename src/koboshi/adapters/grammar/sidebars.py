"""What a program shows beside its transcript where the terminal is wide: a column of its own.

Nothing a program prints in the transcript reaches into it, and a gutter without a single character
parts the two. So it is cut off before anything is read, and kept: it tells of the context.
"""

from __future__ import annotations

from koboshi.adapters.text import width

_LEAST_COLUMNS = 121  # in a narrower terminal there is none
SIDEBAR = 42  # columns of it
_GUTTER = (
    SIDEBAR + 2,
    SIDEBAR - 2,
)  # from the right edge: where it begins, and where its text does
_LEAST_ROWS = 3


def cut_sidebar(rows: list[str], columns: int) -> tuple[list[str], list[str]]:
    """The rows without a sidebar, and what that said, row by row; nothing: there is none."""
    if columns < _LEAST_COLUMNS:
        return rows, []
    first, text = columns - _GUTTER[0], columns - _GUTTER[1]
    begins = [_place(row, first) for row in rows]
    starts = [_place(row, text) for row in rows]
    pairs = list(zip(rows, begins, starts, strict=True))
    if any(row[begin:start].strip() for row, begin, start in pairs):
        return rows, []
    said = [row[start:].rstrip() for row, _, start in pairs]
    if sum(1 for words in said if words[:1].strip()) < _LEAST_ROWS:
        return rows, []
    return [row[:begin].rstrip() for row, begin, _ in pairs], said


def _place(row: str, column: int) -> int:
    """Where in the row that column of the terminal is."""
    if width(row) == len(row):
        return column
    at = 0
    while at < len(row) and width(row[:at]) < column:
        at += 1
    return at
