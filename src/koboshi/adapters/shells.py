"""A shell's prompt line: whether anything has been typed behind it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from koboshi.core.observations import ScreenSeen

#: A line that is a prompt and nothing else: its sign, then at most one blank.
_BARE_PROMPT = re.compile(r"(?:^|.*[^\w\s$#%]|.*[\w\])~/] ?)[$#%❯➜›»>] ?\Z")


def line_is_empty(seen: ScreenSeen) -> bool:
    """Whether the last line shows a prompt with nothing typed behind it; in doubt, no."""
    rows = [row for row in seen.text.split("\n") if row.strip()]
    return bool(rows) and _BARE_PROMPT.match(rows[-1]) is not None
