"""The tasks file: Markdown that people and agents tick off. What it says, and nothing else.

`- [x] done`, `- [ ] open`, `progress: 100%`. Fenced code is not a list of tasks.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_BOX = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\](?:\s|$)")
_PROGRESS = re.compile(r"^[\s>*_#-]*progress[\s*_]*:[\s*_]*(\d{1,3})\s*%", re.IGNORECASE)
_ALL = 100


def count_tasks(text: str) -> tuple[int, int]:
    """How many tasks are done and how many are left; a progress line counts as one."""
    done = left = 0
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
            continue
        if fence:
            continue
        box, progress = _BOX.match(line), _PROGRESS.match(line)
        if box or progress:
            ticked = box[1] != " " if box else int(progress[1]) >= _ALL if progress else False
            done, left = done + ticked, left + (not ticked)
    return done, left
