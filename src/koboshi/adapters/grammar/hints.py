"""The row that names a dialog's keys; a narrow terminal wraps it into more than one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.text import indent, width

if TYPE_CHECKING:
    from .manifests import DialogGrammar
    from .options import View

#: Columns at the right that a wrapped row may leave free.
PROSE_EDGE = 6
_PARTED = " | "  # what stands between the parts of a hint


def hint_row(grammar: DialogGrammar, view: View) -> int | None:
    """The row that names the keys: the last one but for blanks and what may stand below it."""
    for row in range(len(view.rows) - 1, -1, -1):
        text = view.rows[row]
        first = _hint_start(grammar, view, row)
        if text and (first < row or grammar.hint.search(text)):
            return first
        if text and row and grammar.hint.search(hint_text(view, row - 1)):
            return row - 1
        if text and not grammar.after.match(text):
            return None
    return None


def _hint_start(grammar: DialogGrammar, view: View, last: int) -> int:
    """The first row of a hint that ends in that one: parts without room go into the next row."""
    rows, first = view.rows, last
    if not grammar.hint_end.search(rows[last]):
        return last
    while first > 0 and grammar.hint.search(rows[first - 1]):
        part = rows[first].strip().partition(_PARTED)[0]
        if width(rows[first - 1] + _PARTED + part) <= view.columns - PROSE_EDGE:
            break
        first -= 1
    return first


def hint_text(view: View, hint: int) -> str:
    """The row that names the keys, with the one that a narrow terminal wrapped it into."""
    text, below = view.rows[hint], hint + 1
    more = view.rows[below] if text and below < len(view.rows) else ""
    room = view.columns - PROSE_EDGE - width(text) - 1
    if not more or indent(text) != indent(more) or width(more.split()[0]) <= room:
        return text.strip()
    return f"{text.strip()} {more.strip()}"
