"""A shell's prompt line: whether anything has been typed behind it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from .text import width

if TYPE_CHECKING:
    from koboshi.observations import ScreenSeen

#: A line that is a prompt and nothing else: its sign, then at most one blank.
_BARE_PROMPT = re.compile(r"(?:^|.*[^\w\s$#%]|.*[\w\])~/] ?)[$#%❯➜›»>] ?\Z")
#: What an input box is drawn with; nobody types that.
_RULE = re.compile(r"[─━═▀▄]{10,}")
#: Shells that draw their line anew, and change nothing of it, at C-l.
_REDRAWS = frozenset({"bash", "zsh", "fish", "tcsh"})
#: Rows that a command may take, and rows of a frame that may stand under a prompt.
_MOST_ROWS = 40


def line_is_empty(seen: ScreenSeen) -> bool:
    """Whether the last line shows a prompt with nothing typed behind it; in doubt, no."""
    rows = _rows(seen)
    return bool(rows) and _BARE_PROMPT.match(rows[-1]) is not None


def is_drawn_into(seen: ScreenSeen) -> bool:
    """Whether the prompt stands in the frame of a dead agent, and the shell can draw it anew."""
    name = os.path.basename(seen.command).removeprefix("-")  # noqa: PTH119 - no I/O here
    rows = seen.text.split("\n")
    if name not in _REDRAWS or seen.cursor is None or seen.cursor[1] >= len(rows):
        return False
    here, *below = rows[seen.cursor[1] :]
    before = _columns(here, seen.cursor[0])
    behind = (here.removeprefix(before), *below)
    return _BARE_PROMPT.match(before) is not None and any(map(_RULE.search, behind))


def _columns(row: str, columns: int) -> str:
    """The first columns of a row."""
    end = next((n for n in range(len(row)) if width(row[: n + 1]) > columns), len(row))
    return row[:end]


def line_holds(seen: ScreenSeen, command: str) -> bool:
    """Whether that command, and nothing else, stands behind the prompt, over as many rows."""
    line = ""
    for row in reversed(_rows(seen)[-_MOST_ROWS:]):
        line = row + line
        prompt = _before(line, command)
        if prompt is not None:
            return _BARE_PROMPT.match(prompt) is not None
    return False


def _before(line: str, command: str) -> str | None:
    """What stands before the command; blanks do not count: a row that ends in one loses it."""
    end = len(line)
    for char in reversed("".join(command.split())):
        while end and line[end - 1].isspace():
            end -= 1
        if not end or line[end - 1] != char:
            return None
        end -= 1
    return line[:end]


def _rows(seen: ScreenSeen) -> list[str]:
    return [row for row in seen.text.split("\n") if row.strip()]
