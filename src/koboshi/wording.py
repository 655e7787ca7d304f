"""Words that depend on a number: what people read says "1 restart", not "1 restarts"."""

from __future__ import annotations


def many(number: int, word: str) -> str:
    """`1 restart`, `2 restarts`, `0 restarts`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"


def in_a_row(number: int) -> str:
    """`once`, `3 times in a row`."""
    return "once" if number == 1 else f"{number} times in a row"
