"""What a program lays over the corner of its screen for some seconds, and takes away again.

It covers what stands there: a row of the transcript then seems to end with words of the toast, or a
blank one to hold them. So it is cut out before anything is read. Only its frame tells it: two bars
in the same columns through several rows, blank inside the first and the last, at the right edge.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import takewhile
from operator import eq

from koboshi.adapters.text import width

_PIECE = re.compile(r"┃(?P<text>(?: {2,}[^┃]*)?)┃$")
_BAR = re.compile(r" {2,}[█▄▀]$")
_EDGE = 4  # columns that it leaves free at the right
_FIRST = 4  # rows from the top in which it begins
_LEAST_ROWS = 3


def cut_toast(rows: list[str], columns: int) -> tuple[list[str], str]:
    """The rows without a toast, and what it said; empty: there is none."""
    for first in range(min(_FIRST, len(rows))):
        place = _place(rows[first], columns)
        if place is None:
            continue
        places = (_place(row, columns) for row in rows[first:])
        held = rows[first : first + len(list(takewhile(partial(eq, place), places)))]
        texts = [_text(row) for row in held]
        if len(held) < _LEAST_ROWS or texts[0] or texts[-1] or not any(texts):
            continue
        bare = [_PIECE.sub("", row).rstrip() for row in held]
        said = " ".join(text for text in texts if text)
        return [*rows[:first], *bare, *rows[first + len(held) :]], said
    return rows, ""


def cut_scrollbar(rows: list[str], columns: int) -> list[str]:
    """The rows without the bar that shows, at the right edge, which part of the text is seen."""
    return [
        row[: found.start()]
        if width(row) >= columns - _EDGE and (found := _BAR.search(row))
        else row
        for row in rows
    ]


def _place(row: str, columns: int) -> tuple[int, int] | None:
    """The columns of the two bars that the row ends with."""
    found = _PIECE.search(row)
    if found is None or width(row) < columns - _EDGE:
        return None
    return width(row[: found.start()]), width(row)


def _text(row: str) -> str:
    found = _PIECE.search(row)
    return found["text"].strip() if found else ""
