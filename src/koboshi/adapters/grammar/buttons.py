"""Options whose selection is a colour: buttons side by side, and lists without a mark.

The selected one is drawn strong, the others faint. Without attributes nobody can tell which one
Enter takes: `selected` is then None, and no key is proposed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .options import Listed, find_unmarked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .frames import Frame
    from .manifests import DialogGrammar
    from .options import View

_GAP = re.compile(r" {2,}")


def find_coloured(
    grammar: DialogGrammar, frame: Frame, view: View, hint: int | None
) -> Listed | None:
    """The buttons in the row that names the keys or above it, or the numbered list there."""
    if hint is None:
        return None
    row = view.rows[hint]
    named = grammar.hint.search(row)
    texts = tuple(_GAP.split(row[: named.start()].strip())) if named else ()
    if texts and texts[0]:
        return _buttons(frame, view, hint, texts)
    above = next((n for n in range(hint - 1, -1, -1) if view.rows[n]), 0)
    texts = tuple(_GAP.split(view.rows[above].strip()))
    if any(map(grammar.refusal.search, texts)):
        return _buttons(frame, view, above, texts)  # no room for both in one row
    listed = find_unmarked(grammar, frame, view, hint)
    if listed is None:
        return None
    numbers = [n for n in range(listed.first, hint) if grammar.option.match(view.rows[n])]
    marks = ((n, view.rows[n].strip().split(" ", 1)[0]) for n in numbers)
    return replace(listed, selected=_strong(frame, view, marks))


def _buttons(frame: Frame, view: View, row: int, texts: tuple[str, ...]) -> Listed:
    selected = _strong(frame, view, ((row, text) for text in texts))
    return Listed(first=row, last=row, texts=texts, keys=("",) * len(texts), selected=selected)


def _strong(frame: Frame, view: View, places: Iterable[tuple[int, str]]) -> int | None:
    """The only one that is not faint; None when it is not exactly one."""
    faint = [frame.is_faint(view.offset + row, text) for row, text in places]
    return faint.index(False) if faint.count(False) == 1 and None not in faint else None
