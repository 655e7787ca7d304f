"""The input box: found from the last row upwards, by its frame, and never by what is in it.

Three layouts cover the CLIs: `ruled` (between two rules, or in a drawn box), `caret` (a row that
begins with the caret, with nothing but indented rows below) and `panel` (rows behind a bar that a
foot ends).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koboshi.adapters.text import unwrap

if TYPE_CHECKING:
    from .frames import Frame
    from .manifests import BoxGrammar, Manifest

_MAX_DRAFT_ROWS = 60
_ROUND_TOP = re.compile(r"^╭─{10,}.*╮$")
_ROUND_FOOT = re.compile(r"^╰─{10,}.*╯$")
_BORDER = re.compile(r"^│ ?(.*?) *│$")
_BAR = re.compile(r"^ {1,200}┃(?: {2}(?P<text>.*))?$")
_FOOT = re.compile(r"^ {1,200}╹▀{10,}")
_DRAFT_ROW = re.compile(r"^ {3,19}\S")  # a footer begins further left, or stands at the right
_MARGIN = 3  # columns of caret and cursor that a draft cannot use


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """The rows an input box takes; `top` and `bottom` are its frame."""

    top: int
    bottom: int
    draft: str = ""


def find_box(manifest: Manifest, frame: Frame) -> Box | None:
    """The lowest input box on the screen; None when there is no whole one."""
    grammar = manifest.box
    if grammar.layout == "panel":
        return _panel(grammar, frame)
    if grammar.layout == "caret":
        return _after_caret(manifest, frame)
    return _ruled(grammar, frame)


def _ruled(grammar: BoxGrammar, frame: Frame) -> Box | None:
    rows = frame.rows
    for bottom in range(len(rows) - 1, max(len(rows) - 1 - grammar.most_below, 0), -1):
        if grammar.rule.match(rows[bottom]):
            top = _ruled_top(grammar, rows, bottom)
            if top is not None:
                return _made(grammar, frame, top, rows[top + 1 : bottom])
        elif _ROUND_FOOT.match(rows[bottom]):
            box = _rounded(grammar, frame, bottom)
            if box is not None:
                return box
    return None


def _ruled_top(grammar: BoxGrammar, rows: list[str], bottom: int) -> int | None:
    """The rule above the draft; None when what stands between is not a draft."""
    for index in range(bottom - 1, max(bottom - _MAX_DRAFT_ROWS, -1), -1):
        row = rows[index]
        if grammar.rule.match(row):
            framed = index + 1 < bottom and grammar.caret.match(rows[index + 1]) is not None
            return index if framed else None
        if row and not row.startswith("  ") and not grammar.caret.match(row):
            return None
    return None


def _rounded(grammar: BoxGrammar, frame: Frame, bottom: int) -> Box | None:
    """A box drawn with corners, as older versions have it."""
    inner: list[str] = []
    for index in range(bottom - 1, max(bottom - _MAX_DRAFT_ROWS, -1), -1):
        row = frame.rows[index]
        if _ROUND_TOP.match(row):
            inner.reverse()
            if inner and not grammar.caret.match(inner[0]):
                inner[0] = " " + inner[0]  # where the caret has a margin of its own
            whole = inner and grammar.caret.match(inner[0])
            return _made(grammar, frame, index, inner) if whole else None
        border = _BORDER.match(row)
        if border is None:
            return None
        inner.append(border[1])
    return None


def _after_caret(manifest: Manifest, frame: Frame) -> Box | None:
    rows, grammar = frame.rows, manifest.box
    least = max(len(rows) - 1 - _reach(manifest, rows), -1)
    for top in range(len(rows) - 1, least, -1):
        if _ROUND_FOOT.match(rows[top]):
            return _rounded(grammar, frame, top)
        if grammar.caret.match(rows[top]):
            if _is_list(manifest, rows, top):
                return None  # what is left of a dialog whose other rows are not drawn yet
            return _made(grammar, frame, top - 1, _draft_rows(grammar, rows, top))
        if rows[top] and not grammar.below.match(rows[top]):
            return None
        if rows[top] and manifest.dialog.hint.search(rows[top]):
            return None  # the caret above is a dialog's mark
    return None


def _reach(manifest: Manifest, rows: list[str]) -> int:
    """How many rows may stand below the caret: a draft is as long as its writer likes.

    Without the program's own footer or menu below it, it may be what was said before, in the
    transcript.
    """
    foot = next((n for n in range(len(rows) - 1, -1, -1) if not rows[n]), -1)
    signs = manifest.sign("painted")
    footed = any(sign.pattern.search(row) for row in rows[foot + 1 :] for sign in signs)
    footed = footed or any(map(manifest.box.menu.match, rows[foot + 1 : foot + 2]))
    most = manifest.box.most_below
    return max(most, _MAX_DRAFT_ROWS) if footed else most


def _is_list(manifest: Manifest, rows: list[str], top: int) -> bool:
    """Whether the caret marks the first of two numbered rows."""
    option = manifest.dialog.option
    below = rows[top + 1].strip() if top + 1 < len(rows) else ""
    return option.match(rows[top]) is not None and below.startswith("2. ")


def _draft_rows(grammar: BoxGrammar, rows: list[str], top: int) -> list[str]:
    """The caret's row and what belongs to it: the footer stands behind a blank row, or a rule."""
    ruled = next((n for n in range(top + 1, len(rows)) if grammar.rule.match(rows[n])), None)
    if ruled is not None:
        return rows[top:ruled]
    blanks = [index for index in range(top + 1, len(rows)) if not rows[index]]
    if grammar.first_gap:
        # A draft may have blank rows of its own; what follows them is indented as it is.
        blanks = [index for index in blanks if not _goes_on(rows, index)][:1]
    return rows[top : blanks[-1] if blanks else len(rows)]


def _goes_on(rows: list[str], blank: int) -> bool:
    """Whether the next row that shows something is one of a draft."""
    below = next((row for row in rows[blank:] if row), "")
    return _DRAFT_ROW.match(below) is not None


def _made(grammar: BoxGrammar, frame: Frame, top: int, inner: list[str]) -> Box:
    found = grammar.caret.match(inner[0]) if inner else None
    if found is None:
        return Box(top=top, bottom=top + len(inner) + 1)
    first = found["text"] or ""
    rest = [row[2:] if row.startswith("  ") else row.lstrip() for row in inner[1:]]
    while rest and not rest[-1]:
        rest.pop()
    draft = unwrap([first.lstrip(), *rest], frame.columns - _MARGIN, newline="\n")
    if not rest and _is_placeholder(grammar, frame, top + 1, first):
        draft = ""
    mode = found.groupdict().get("mode") or ""
    return Box(top=top, bottom=top + len(inner) + 1, draft=mode + draft)


def _is_placeholder(grammar: BoxGrammar, frame: Frame, row: int, text: str) -> bool:
    """Dim text is the program's; in another colour, or without any, only known words are."""
    shown = text.strip()
    if frame.is_faint(row, shown):
        return True
    typed = frame.is_coloured(row, shown) is False
    return not typed and grammar.placeholder.search(text) is not None


def _panel(grammar: BoxGrammar, frame: Frame) -> Box | None:
    rows = frame.rows
    for bottom in range(len(rows) - 1, max(len(rows) - 1 - grammar.most_below, 0), -1):
        if not _FOOT.match(rows[bottom]):
            continue
        top = bottom
        while top > 0 and _BAR.match(rows[top - 1]):
            top -= 1
        texts = [
            (n, found["text"] or "") for n in range(top, bottom) if (found := _BAR.match(rows[n]))
        ]
        # The last row names agent and model; what stands above it is the draft.
        written = [(n, text.rstrip()) for n, text in texts[:-1] if text.strip()]
        faint = [frame.is_faint(n, text.strip()) is not False for n, text in written[1:]]
        if written and all(faint) and _is_placeholder(grammar, frame, *written[0]):
            written = []  # it wraps in a narrow terminal
        draft = (
            unwrap([text for _, text in written], frame.columns - 8, newline="\n")
            if written
            else ""
        )
        return Box(top=top - 1, bottom=bottom, draft=draft)
    return None
