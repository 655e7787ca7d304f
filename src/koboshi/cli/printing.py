"""How commands print: nothing an agent wrote may move the reader's terminal (law 11).

Rule 1: text from a journal or a screen goes through `plain` (people) or `to_json` (programs).
Rule 2: colours only on a terminal, and not where NO_COLOR is set.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from koboshi.adapters.text import width

#: C0, DEL and C1; line and paragraph separators; what turns the direction of writing around.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
#: JSON may hold these as they are, a terminal obeys them.
_ESCAPED = {
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_COLOURS = {"red": 31, "green": 32, "yellow": 33, "cyan": 36, "bold": 1, "dim": 2}
#: Columns where nobody says how many there are.
COLUMNS = 80
#: Narrower than this is read as this.
_NARROWEST = 20


def plain(text: str) -> str:
    """The text with a mark in the place of each character that a terminal would obey."""
    return _UNPRINTABLE.sub("\ufffd", text)


def to_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON can say
    """One line of JSON, safe to show on a terminal."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def say(text: str) -> None:
    """A line on stdout: UTF-8 whatever the locale, lone surrogates as escapes."""
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


def complain(message: str, hint: str = "") -> None:
    """A line or two on stderr."""
    rows = [f"koboshi: {message}", hint] if hint else [f"koboshi: {message}"]
    for row in "\n".join(rows).split("\n"):
        sys.stderr.write(plain(row).encode("utf-8", "backslashreplace").decode() + "\n")
    sys.stderr.flush()


def columns() -> int | None:
    """How wide the reader's terminal is; None where there is none."""
    try:
        asked = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        asked = 0
    if asked <= 0:
        try:
            asked = os.get_terminal_size(sys.stdout.fileno()).columns
        except (OSError, ValueError):
            return None
    return max(asked, _NARROWEST)


def paint(text: str, colour: str) -> str:
    """The text in that colour, where colours can be seen and are wanted."""
    seen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if not seen or os.environ.get("NO_COLOR") or colour not in _COLOURS:
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def local(utc: float) -> datetime | None:
    """A time as clocks on this machine show it; None for one that no clock can show."""
    try:
        return datetime.fromtimestamp(utc).astimezone()
    except (OverflowError, ValueError, OSError):
        return None


def clock(utc: float) -> str:
    """The time of day."""
    moment = local(utc)
    return f"{moment:%H:%M:%S}" if moment else "??:??:??"


def day(utc: float) -> str:
    """The date."""
    moment = local(utc)
    return f"{moment:%Y-%m-%d}" if moment else "????-??-??"


def clip(text: str, room: int) -> str:
    """As much of one line as fits, with a mark where it was cut; Japanese counts double."""
    if width(text) <= room:
        return text
    kept = ""
    for char in text:
        if width(kept + char) > room - 1:
            break
        kept += char
    return kept + "…"


def wrap(text: str, room: int) -> Iterator[str]:
    """The text in rows of at most `room` columns, broken at blanks where there are any."""
    for paragraph in text.split("\n"):
        row = ""
        for word in paragraph.split(" "):
            joined = f"{row} {word}" if row else word
            if width(joined) <= room:
                row = joined
                continue
            if row:
                yield row
            *full, row = _pieces(word, room)
            yield from full
        yield row


def _pieces(word: str, room: int) -> Iterator[str]:
    """A word that may be wider than a row, cut where it must be."""
    piece, used = "", 0
    for char in word:
        size = width(char)
        if used + size > room:
            yield piece
            piece, used = "", 0
        piece, used = piece + char, used + size
    yield piece


def labelled(label: str, text: str, room: int, *, indent: int = 2, mark: str = "") -> str:
    """`label  text` with the text in a column of its own, each row of it after `mark`."""
    column = indent + 9
    rows = [mark + row for row in wrap(text, max(room - column - width(mark), 8))]
    head = f"{' ' * indent}{label}".ljust(column)
    return "\n".join([head + rows[0], *(" " * column + row for row in rows[1:])])
