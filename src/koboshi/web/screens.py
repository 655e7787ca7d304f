"""A terminal's screen as rows of styled pieces. Text stays text: no escape sequence gets through.

A piece is `[text, style]`. A style is a word: letters (`b` bold, `d` dim, `i` italic, `u`
underlined, `r` reversed, `s` struck, `h` hidden, `w` two columns wide), then `f` and `g` with the
colour of the text and of the ground: a number of the palette or `#rrggbb`; blanks between.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from koboshi.adapters.text import width

Piece = tuple[str, str]

#: Sequences a capture can hold: the first is kept, the others are dropped.
_TOKEN = re.compile(
    r"\x1b\[(?P<sgr>[0-9;:]*)m"
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[()*+][0-9A-Za-z]|\x1b.?"
)
#: What a browser would obey, or what turns the direction of writing around.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ON = {1: "b", 2: "d", 3: "i", 4: "u", 7: "r", 8: "h", 9: "s", 21: "u"}
_OFF = {22: "bd", 23: "i", 24: "u", 27: "r", 28: "h", 29: "s"}
_TEXT, _GROUND = 38, 48
_WIDE = 2
#: Rows and characters of a row that are shown at most.
ROWS, CHARS = 300, 1000


@dataclass(frozen=True, slots=True)
class Style:
    """How the next characters look."""

    letters: str = ""
    text: str = ""
    ground: str = ""

    def word(self, *, wide: bool = False) -> str:
        """As it is told."""
        parts = [self.letters + ("w" if wide else "")]
        parts += [f"f{self.text}"] if self.text else []
        parts += [f"g{self.ground}"] if self.ground else []
        return " ".join(filter(None, parts))


def rows_of(ansi: str) -> list[list[Piece]]:
    """The rows of a capture with styles; a style goes on into the next row."""
    rows, style = [], Style()
    for line in ansi.split("\n")[:ROWS]:
        row, style = _row(line, style)
        rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _row(line: str, style: Style) -> tuple[list[Piece], Style]:
    row: list[Piece] = []
    at = 0
    for found in _TOKEN.finditer(line):
        _add(row, line[at : found.start()], style)
        at = found.end()
        if found["sgr"] is not None:
            style = styled(style, found["sgr"])
    _add(row, line[at:], style)
    while row and not row[-1][0].strip() and not _visible(row[-1][1]):
        row.pop()
    return row, style


def _visible(style: str) -> bool:
    """Whether a blank can be seen in that style."""
    letters = "".join(part for part in style.split() if part[0] not in "fg")
    return " g" in f" {style}" or any(letter in letters for letter in "rus")


def _add(row: list[Piece], text: str, style: Style) -> None:
    text = _UNPRINTABLE.sub("\ufffd", text[:CHARS])
    if not text:
        return
    if text.isascii():
        _put(row, text, style.word())
        return
    for char in text:
        # Each in a box of its own: fonts of a browser do not agree on how wide they are.
        wide = width(char) == _WIDE
        _put(row, char, style.word(wide=wide), alone=wide)


def _put(row: list[Piece], text: str, style: str, *, alone: bool = False) -> None:
    if row and not alone and row[-1][1] == style:
        row[-1] = (row[-1][0] + text, style)
    else:
        row.append((text, style))


def styled(style: Style, codes: str) -> Style:
    """The style after one SGR sequence; what is not known changes nothing."""
    numbers = [int(part[:4] or 0) for part in codes.replace(":", ";").split(";")]
    at = 0
    while at < len(numbers):
        code = numbers[at]
        if code in (_TEXT, _GROUND):
            colour, used = _colour(numbers[at + 1 :])
            at += used
            if colour:
                style = replace(style, **{"text" if code == _TEXT else "ground": colour})
        else:
            style = _simple(style, code)
        at += 1
    return style


def _simple(style: Style, code: int) -> Style:
    if code == 0:
        return Style()
    if code in _ON:
        letters = "".join(sorted({*style.letters, _ON[code]}))
        return replace(style, letters=letters)
    if code in _OFF:
        return replace(style, letters="".join(c for c in style.letters if c not in _OFF[code]))
    for first, name, bright in (
        (30, "text", 0),
        (90, "text", 8),
        (40, "ground", 0),
        (100, "ground", 8),
    ):
        if first <= code < first + 8:
            return replace(style, **{name: str(code - first + bright)})
    if code in (39, 49):
        return replace(style, **{"text" if code == 39 else "ground": ""})  # noqa: PLR2004
    return style


def _colour(rest: list[int]) -> tuple[str, int]:
    """A colour of the palette or a mixed one, and how many numbers it took."""
    if rest[:1] == [5] and len(rest) > 1:
        return (str(rest[1]) if rest[1] < 256 else ""), 2  # noqa: PLR2004
    if rest[:1] == [2] and len(rest) > 3:  # noqa: PLR2004
        red, green, blue = (min(255, each) for each in rest[1:4])
        return f"#{red:02x}{green:02x}{blue:02x}", 4
    return "", len(rest)
