"""The options of a dialog: found by the mark on the selected one, put together from their rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from koboshi.adapters.text import width

if TYPE_CHECKING:
    from .frames import Frame
    from .manifests import DialogGrammar

_REACH = 60  # rows from the end in which the selected option must stand
_MOST_ROWS = 14  # of one option with its description
_EXTRA_ROWS = frozenset({"Submit", "Next"})
_ARROWS = frozenset("↑↓▲▼")  # the list goes on out of sight
_LEAST_OPTIONS = 2  # one row is no choice
_NUMBERED = re.compile(r"^\d{1,2}\. ")
_CHECKBOX = re.compile(r"^\[(?:.| )\] ?")
_NUMBER = 3  # columns of "1. ": some versions wrap an option under its number
_EDGE = 2  # columns at the right that a wrapped row may leave free


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The rows a dialog may stand in, without a drawn border; `offset` is the first one's place."""

    rows: list[str]
    offset: int
    columns: int
    bordered: bool = False
    whole: bool = True  #: False where the upper end of its border is scrolled away


@dataclass(slots=True, kw_only=True)
class _Item:
    """One option's rows while they are gathered."""

    row: int
    column: int
    text: str
    number: int = 0
    more: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A whole list of options; `selected` is None where no mark is shown."""

    first: int
    last: int
    texts: tuple[str, ...]
    keys: tuple[str, ...]
    selected: int | None
    checked: tuple[bool | None, ...] = ()  #: where there are boxes to tick


def find_options(grammar: DialogGrammar, frame: Frame, view: View) -> Listed | None:
    """The lowest list in the view that has a selected row; None when there is no whole one."""
    for row in range(len(view.rows) - 1, max(len(view.rows) - 1 - _REACH, -1), -1):
        text = view.rows[row]
        found = grammar.option.match(text)
        if found and (found["mark"] or " ") in grammar.mark:
            return _numbered(grammar, frame, view, row)
        if text.lstrip().startswith(grammar.mark[0] + " "):
            return _around(grammar, frame, view, row)
    return None


def find_unmarked(grammar: DialogGrammar, frame: Frame, view: View, end: int) -> Listed | None:
    """A numbered list right above `end` that shows no selected row (for screen readers)."""
    row = end - 1
    while row >= 0 and not (found := grammar.option.match(view.rows[row])):
        if end - row > _MOST_ROWS:
            return None
        row -= 1
    if row < 0 or found is None:
        return None
    listed = _numbered(grammar, frame, view, row)
    if listed is None:
        return None
    return replace(listed, selected=None)


def _around(grammar: DialogGrammar, frame: Frame, view: View, row: int) -> Listed | None:
    """A marked row without a number: an extra row of a numbered list, or a list without any."""
    for above in range(row - 1, max(row - 4, -1), -1):
        found = grammar.option.match(view.rows[above])
        if found and _CHECKBOX.match(found["text"]):
            return _numbered(grammar, frame, view, above, marked=row)
    return _plain(grammar, view, row)


def _plain(grammar: DialogGrammar, view: View, marked: int) -> Listed | None:
    """A list without numbers: rows that start in the marked one's column, without a gap."""
    text = view.rows[marked]
    column = text.index(grammar.mark[0]) + 1
    column += len(text[column:]) - len(text[column:].lstrip())
    first = last = marked
    while first > 0 and _starts_at(view.rows[first - 1], column):
        first -= 1
    while last + 1 < len(view.rows) and _starts_at(view.rows[last + 1], column):
        last += 1
    texts: list[str] = []
    selected = 0
    for row in range(first, last + 1):
        wrapped = row > first and row != marked and wraps(view, row - 1, row)
        if wrapped:
            texts[-1] += " " + view.rows[row].strip()
            continue
        texts.append(view.rows[row][column:].strip())
        selected = len(texts) - 1 if row == marked else selected
    if len(texts) < _LEAST_OPTIONS or any(map(_NUMBERED.match, texts)):
        return None
    return Listed(
        first=first, last=last, texts=tuple(texts), keys=("",) * len(texts), selected=selected
    )


def _starts_at(row: str, column: int) -> bool:
    return len(row) > column and not row[:column].strip() and not row[column].isspace()


def _numbered(
    grammar: DialogGrammar, frame: Frame, view: View, row: int, *, marked: int | None = None
) -> Listed | None:
    items = _upwards(grammar, view, row)
    if items is None:
        return None
    last = _downwards(grammar, view, items)
    if len(items) < _LEAST_OPTIONS or not _fits_together(grammar, view, items):
        return None
    marked = row if marked is None else marked
    boxed = [item for item in items if _CHECKBOX.match(item.text)]
    texts: list[str] = []
    keys: list[str] = []
    checked: list[bool | None] = []
    selected = None
    for item in items:
        if marked == item.row:
            selected = len(texts)
        text = _text(grammar, frame, view, item)
        texts.append(_uncovered(grammar, view, item, text) if texts else text)
        keys.append(str(item.number))
        box = _CHECKBOX.match(item.text)
        checked.append(item.text[1] != " " if box else None)
        for extra in _extras(grammar, view, item, last=item is boxed[-1]) if boxed else ():
            if marked == extra:
                selected = len(texts)
            texts.append(view.rows[extra].replace(grammar.mark[0], " ", 1).strip())
            keys.append("")
            checked.append(None)
    return Listed(
        first=items[0].row,
        last=last,
        texts=tuple(texts),
        keys=tuple(keys),
        selected=selected,
        checked=tuple(checked),
    )


def _fits_together(grammar: DialogGrammar, view: View, items: list[_Item]) -> bool:
    """Whether the rows are of one list, and not of two that a torn screen brought together."""
    boxed = [_CHECKBOX.match(item.text) is not None for item in items]
    if boxed[0] and not all(boxed[:-1]):
        return False  # only "chat about this" has no box of its own
    for item in items:
        for index in item.more:
            row = view.rows[index]
            if not row or grammar.inner_rule.match(row) or row.strip() in _ARROWS:
                continue
            listed = grammar.option.match(row)
            # Its own text may hold a list: that hangs where the text stands.
            if listed and listed.start("number") < item.column:
                return False
            hangs = item.column - (len(row) - len(row.lstrip()))
            near = hangs <= _NUMBER or index - 1 in item.more
            wrapped = _is_broken(view, index) or (near and wraps(view, index - 1, index))
            if not (hangs <= 1 or wrapped or boxed[0] or view.bordered):
                return False
    return True


def _upwards(grammar: DialogGrammar, view: View, row: int) -> list[_Item] | None:
    """The options from number 1 to the one in that row; None when one is missing."""
    found = grammar.option.match(view.rows[row])
    if found is None:
        return None
    first, number = found, int(found["number"])
    items = [_Item(row=row, column=found.start("text"), text=found["text"], number=number)]
    between: list[int] = []
    while number > 1:
        row -= 1
        if row < 0 or len(between) > _MOST_ROWS:
            return None
        found = grammar.option.match(view.rows[row])
        if found and int(found["number"]) == number - 1 and _in_line(found, first):
            number -= 1
            item = _Item(row=row, column=found.start("text"), text=found["text"], number=number)
            item.more = sorted(between)
            between = []
            items.insert(0, item)
        else:
            between.append(row)
    return items


def _in_line(found: re.Match[str], first: re.Match[str]) -> bool:
    """Whether two numbers stand one above the other: by their first digits, or by their last.

    One that is squeezed, as the selected one may be, stands a column beside.
    """
    begins = found.start("number") - first.start("number")
    return abs(begins) <= 1 or found.end("number") == first.end("number")


def _downwards(grammar: DialogGrammar, view: View, items: list[_Item]) -> int:
    """Adds the options below the last one; returns the last row that belongs to the list."""
    first = grammar.option.match(view.rows[items[-1].row])
    row = last = items[-1].row
    pending: list[int] = []
    closed = False  # a blank row ends an option's own rows
    while row + 1 < len(view.rows) and len(pending) < _MOST_ROWS:
        row += 1
        text = view.rows[row]
        found = grammar.option.match(text)
        number = items[-1].number + 1
        if first and found and int(found["number"]) == number and _in_line(found, first):
            items[-1].more += pending
            pending, closed, last = [], False, row
            items.append(
                _Item(row=row, column=found.start("text"), text=found["text"], number=number)
            )
        elif grammar.hint.search(text):
            break
        else:
            closed = closed or not text or grammar.inner_rule.match(text) is not None
            if not closed:
                items[-1].more.append(row)
                last = row
            else:
                pending.append(row)
    return last


def _extras(grammar: DialogGrammar, view: View, item: _Item, *, last: bool) -> list[int]:
    """Rows of a list of checkboxes that are options without a number ("Submit").

    Under any but its last box a row in that column may describe what can be ticked.
    """
    if grammar.buttons or not _CHECKBOX.match(item.text):
        return []  # buttons have a row of their own; under a box stands what it means
    return [
        row
        for row in item.more
        if (
            view.rows[row].strip(f"{grammar.mark} ") in _EXTRA_ROWS
            or (last and _starts_at(view.rows[row].replace(grammar.mark[0], " ", 1), item.column))
        )
        and not grammar.inner_rule.match(view.rows[row])
    ]


def _text(grammar: DialogGrammar, frame: Frame, view: View, item: _Item) -> str:
    """The option's words: its first row and those it was wrapped into, no description."""
    checkbox = _CHECKBOX.match(item.text)
    text = item.text[checkbox.end() :] if checkbox else item.text
    text, *rest = grammar.cut.split(text, maxsplit=1)
    if checkbox or rest:
        return text.strip()
    above = place = item.row
    faint = frame.is_faint(view.offset + item.row, text)
    for row in item.more:
        more = view.rows[row].strip()
        if _is_broken(view, row):
            text, place = text + more, row
            continue
        if (
            not more
            or more in _ARROWS
            or row != place + 1
            or grammar.inner_rule.match(view.rows[row])
        ):
            break
        described = frame.is_faint(view.offset + row, more) and not faint
        if described and _starts_at(view.rows[row], item.column):
            # The rest of words that were faint in the row above already is no description.
            last = view.rows[above].rpartition(" ")[2]
            described = not frame.is_faint(view.offset + above, f" {last}")
        if described or not (grammar.join_rows or wraps(view, above, row)):
            break
        text += ("" if grammar.glue.search(text) else " ") + more
        above = place = row
    return text.strip()


def _is_broken(view: View, row: int) -> bool:
    """Whether the terminal itself broke the line above: a row too long goes on at the margin."""
    text = view.rows[row]
    return bool(text) and text[0] != " " and width(view.rows[row - 1]) >= view.columns


def _uncovered(grammar: DialogGrammar, view: View, item: _Item, text: str) -> str:
    """The text without what is left of a wrapped row that it was drawn over ("Nooject").

    In a narrow terminal a list may be laid out a row too short: a refusal then stands in the row
    that ends the option above it, which had no room for a word of that length.
    """
    word = text.split(" ", 1)[0].rstrip(",.:")
    above = width(view.rows[item.row - 1]) if item.row else 0
    if above + 1 + width(word) <= view.columns - _EDGE:
        return text
    starts = (word[:end] for end in range(2, len(word)))
    return next((start for start in starts if grammar.refusal.match(start)), text)


def wraps(view: View, above: int, row: int) -> bool:
    """Whether the row's first word had no room in the one above."""
    word = view.rows[row].strip().split(" ", 1)[0]
    return width(view.rows[above]) + 1 + width(word) > view.columns - _EDGE
