"""Colours and attributes of a screen's cells, from SGR sequences, for the few rows that need them.

`tmux capture-pane -e` carries attributes over from row to row, so a row cannot be read alone:
the state at its start is folded from the last full reset before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

_ESCAPE = re.compile(
    r"\x1b(?:\[([0-9;:]*)m|\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)"
)
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_RESETS = ("\x1b[0m", "\x1b[m")
_FAINT = frozenset({"8", *map(str, range(236, 252))})  # greys of the 256 colours, black to light
_PLAIN = frozenset({"", "7", "15", *map(str, range(252, 256))})
_EXTENDED = {38: "fg", 48: "bg"}
_GREY_SPREAD, _GREY_LOW, _GREY_HIGH = 12, 60, 200  # a direct colour whose parts are alike
_BASIC, _BRIGHT = range(30, 38), range(90, 98)
_BG_BASIC, _BG_BRIGHT = range(40, 48), range(100, 108)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a run of cells is drawn; an empty colour is the terminal's own."""

    fg: str = ""
    bg: str = ""
    dim: bool = False
    inverse: bool = False

    @property
    def faint(self) -> bool:
        """Dim or grey: placeholders, descriptions, hints."""
        return self.dim or self.fg in _FAINT or _is_grey(self.fg)

    @property
    def coloured(self) -> bool:
        """Neither the text's usual colour nor a grey."""
        return not self.faint and self.fg not in _PLAIN


_DEFAULT = Style()


def _is_grey(colour: str) -> bool:
    parts = colour.split(",")
    if len(parts) != 3:  # noqa: PLR2004 - red, green, blue
        return False
    levels = [int(part or 0) for part in parts]
    return max(levels) - min(levels) <= _GREY_SPREAD and _GREY_LOW < levels[0] < _GREY_HIGH


class StyledRows:
    """The rows of one screen with attributes; asks are cheap, the whole is never parsed."""

    __slots__ = ("_known", "_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._known = (0, _DEFAULT)  # the last place whose style was asked for
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def spans(self, index: int) -> list[tuple[str, Style]]:
        """Runs of equal style in that row; empty when there is no such row."""
        if not 0 <= index < len(self._starts):
            return []
        start = self._starts[index]
        end = self._starts[index + 1] - 1 if index + 1 < len(self._starts) else len(self._text)
        style, runs, at = self._style_at(start), [], start
        for found in _ESCAPE.finditer(self._text, start, end):
            if found.start() > at:
                runs.append((self._text[at : found.start()], style))
            at = found.end()
            if found[1] is not None:
                style = _applied(style, found[1])
        if end > at:
            runs.append((self._text[at:end], style))
        return runs

    def styles(self, index: int, text: str) -> set[Style]:
        """The styles of the visible characters that make up `text` in that row."""
        runs = self.spans(index)
        whole = "".join(run for run, _ in runs)
        at = whole.find(text)
        if at < 0:
            return set()
        styles, here = set(), 0
        for run, style in runs:
            shown = run[max(at - here, 0) : max(at + len(text) - here, 0)]
            if shown.strip():
                styles.add(style)
            here += len(run)
        return styles

    def _style_at(self, offset: int) -> Style:
        known, style = self._known if self._known[0] <= offset else (0, _DEFAULT)
        reset = max(self._text.rfind(mark, known, offset) for mark in _RESETS)
        for found in _SGR.finditer(self._text, max(reset, known), offset):
            style = _applied(style, found[1])
        self._known = (offset, style)
        return style


@lru_cache(maxsize=4096)
def _applied(style: Style, codes: str) -> Style:
    """The style after one SGR sequence; unknown codes change nothing."""
    numbers = [int(code) if code else 0 for code in re.split("[;:]", codes)]
    at = 0
    while at < len(numbers):
        number = numbers[at]
        if number in _EXTENDED and at + 1 < len(numbers):
            colour, used = _extended(numbers[at + 1 :])
            style = replace(style, fg=colour) if number == 38 else replace(style, bg=colour)  # noqa: PLR2004
            at += used + 1
            continue
        style = _DEFAULT if number == 0 else _changed(style, number)
        at += 1
    return style


def _extended(rest: list[int]) -> tuple[str, int]:
    if rest[0] == 5 and len(rest) > 1:  # noqa: PLR2004 - 38;5;n
        return str(rest[1]), 2
    if rest[0] == 2 and len(rest) > 3:  # noqa: PLR2004 - 38;2;r;g;b
        return ",".join(map(str, rest[1:4])), 4
    return "", len(rest)


def _changed(style: Style, number: int) -> Style:
    if number in _BASIC or number == 39:  # noqa: PLR2004 - default foreground
        return replace(style, fg=str(number - 30) if number in _BASIC else "")
    if number in _BRIGHT:
        return replace(style, fg=str(number - 82))
    if number in _BG_BASIC or number == 49:  # noqa: PLR2004 - default background
        return replace(style, bg=str(number - 40) if number in _BG_BASIC else "")
    if number in _BG_BRIGHT:
        return replace(style, bg=str(number - 92))
    match number:
        case 2:
            return replace(style, dim=True)
        case 22:
            return replace(style, dim=False)
        case 7:
            return replace(style, inverse=True)
        case 27:
            return replace(style, inverse=False)
        case _:
            return style
