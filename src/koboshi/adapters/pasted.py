"""What stands in an input box for a text that was pasted into it.

A box wraps and indents, so white space does not count. And a long paste is not shown at all: each
CLI has its own words for it, such as `[Pasted Content 1489 chars]`, with a number that must fit.
"""

from __future__ import annotations

import re

#: Characters of an end: a box that scrolls has rows of them, and a few may be anybody's.
_ENOUGH = 10


def bare(text: str) -> str:
    """Text as compared."""
    return "".join(text.split())


def holds(draft: str, text: str, pasted: re.Pattern[str] | None = None) -> bool:
    """Whether a box that shows that draft holds that text and nothing else."""
    if bare(draft) == bare(text):
        return True
    found = pasted.fullmatch(draft.strip()) if pasted is not None else None
    return found is not None and any(_fits(found, form) for form in (text, text.strip()))


def holds_end(draft: str, text: str, scrolled: re.Pattern[str]) -> bool:
    """Whether it says that it shows the end of its text only, and that is the end of this one."""
    found = scrolled.match(draft)
    shown = bare(draft[found.end() :]) if found is not None else ""
    return len(shown) >= _ENOUGH and bare(text).endswith(shown)


def _fits(found: re.Match[str], text: str) -> bool:
    """Whether the numbers are that text's; a group that took no part says none."""
    breaks = text.count("\n")
    right = {"chars": len(text), "lines": breaks + 1, "breaks": breaks}
    told = found.groupdict()
    if told.get("chars") or told.get("lines"):
        return all(int(number) == right[name] for name, number in told.items() if number)
    return int(told.get("breaks") or 0) == breaks
