"""Rows of a terminal as text: how wide they are, and how wrapped rows are put together again."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDE = 2  # columns of a Japanese character


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return _WIDE if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """Terminal columns the text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def indent(row: str) -> int:
    """Blanks before the row's first word."""
    return len(row) - len(row.lstrip())


def rows_of(screen: str) -> list[str]:
    """The rows without trailing blanks, the last one not empty; only a newline ends a row."""
    rows = list(map(str.rstrip, screen.rstrip().split("\n")))
    return rows if rows != [""] else []


def unwrap(rows: Sequence[str], columns: int, *, newline: str = " ", words: bool = False) -> str:
    """One text from rows wrapped at `columns`; `newline` stands where no wrap was needed.

    `words`: only a word that fits into no row is broken.
    """
    if len(rows) == 1:
        return rows[0]
    text = ""
    for above, row in zip(("", *rows), rows, strict=False):
        text += _joint(above, row, columns, newline, words=words) + row if text else row
    return text


def _joint(above: str, row: str, columns: int, newline: str, *, words: bool) -> str:
    room = columns - width(above)
    if room <= 0 or (room == 1 and row and _columns(row[0]) == _WIDE):
        parts = above.rpartition(" ")[2], row.partition(" ")[0]
        apart = words and all(parts) and sum(map(width, parts)) <= columns
        return " " if apart else ""  # broken inside a word
    return " " if room < 1 + width(row.split(" ", 1)[0]) else newline
