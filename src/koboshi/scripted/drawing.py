"""How the scripted agent's frame is drawn: plain text, never wider than the terminal."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from functools import lru_cache

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TAB = "    "

#: Blocks kept for a redraw after a resize; more than any screen shows.
_KEPT_BLOCKS = 200


def clean(text: str) -> str:
    """The text without anything a terminal would obey; newlines stay."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", _TAB)
    return "\n".join(_CONTROL.sub("", line) for line in text.split("\n"))


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """Terminal columns the text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """As much of the text as fits into that many columns."""
    if width(text) <= columns:
        return text
    return text[: _fitting(text, columns)]


def _fitting(text: str, columns: int) -> int:
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return index
    return len(text)


def wrap(text: str, columns: int) -> list[str]:
    """The text in rows of at most that many columns, broken at spaces where there are some."""
    columns = max(columns, 2)
    rows: list[str] = []
    for line in text.split("\n"):
        rest = line
        while width(rest) > columns:
            end = max(_fitting(rest, columns), 1)
            # A row that ends before a space is never full: a reader can tell it from a cut word.
            space = rest.rfind(" ", end // 2, end)
            head, rest = (
                (rest[:end], rest[end:]) if space < 1 else (rest[:space], rest[space + 1 :])
            )
            rows.append(head)
        rows.append(rest)
    return rows


def hang(first: str, rest: str, text: str, columns: int) -> list[str]:
    """The wrapped text with one lead before its first row and another before the others."""
    rows = wrap(text, columns - width(first))
    return [(first if i == 0 else rest) + row for i, row in enumerate(rows)]


class Transcript:
    """What was printed so far, wrapped for the present width."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._blocks: deque[tuple[str, str, str, bool]] = deque(maxlen=_KEPT_BLOCKS)
        self.rows: list[str] = []

    def add(self, first: str, rest: str, text: str, *, close: bool = False) -> None:
        """Append a block; a blank row stands before it unless it goes `close` to the last."""
        block = (first, rest, clean(text), close)
        self._blocks.append(block)
        self._draw(block)

    def drop(self) -> None:
        """Take the last block back."""
        self._blocks.pop()
        self.resize(self._columns)

    def clear(self) -> None:
        """Forget everything printed."""
        self._blocks.clear()
        self.rows.clear()

    def resize(self, columns: int) -> None:
        """Wrap everything again for another width."""
        self._columns = columns
        self.rows.clear()
        for block in self._blocks:
            self._draw(block)

    def _draw(self, block: tuple[str, str, str, bool]) -> None:
        first, rest, text, close = block
        if self.rows and not close:
            self.rows.append("")
        self.rows.extend(row.rstrip() for row in hang(first, rest, text, self._columns))
        if len(self.rows) > 4 * _KEPT_BLOCKS:
            del self.rows[: 2 * _KEPT_BLOCKS]


#: Longer drafts are shown as one line, as the real ones do with big pastes.
_SHOWN_DRAFT_ROWS = 6


def box(draft: str, columns: int, before: str = "") -> list[str]:
    """The input box: two rules with the draft between them; what was typed before a paste shows."""
    rule = "─" * columns
    rows = hang("❯ ", "  ", clean(draft), columns - 1)
    if len(rows) > _SHOWN_DRAFT_ROWS:
        typed = before if draft.startswith(before) and "\n" not in before else ""
        breaks = draft.count("\n")
        pasted = f"[Pasted text #1{f' +{breaks} lines' if breaks else ''}]"
        rows = hang("❯ ", "  ", clean(typed) + pasted, columns - 1)
    return [rule, *(row.rstrip() for row in rows), rule]


def footer(left: str, right: str, columns: int) -> str:
    """The last line: a hint on the left, a notice on the right."""
    gap = columns - 2 - width(left) - width(right) - 1
    if right and gap >= 1:
        return f"  {left}{' ' * gap}{right}"
    return cut("  " + (right or left), columns)
