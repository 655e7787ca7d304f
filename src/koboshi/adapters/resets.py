"""Usage limits of headless runs: whether one ended at a limit, and when that resets. Pure.

- Claude Code tells the instant in a `rate_limit_event`, and calls the limit by many names
  ("session limit" in 2.1.197 is "5-hour limit" in 2.1.325); its own status for it is a plain 429.
- Codex prints a local time: "try again at Nov 16th, 2026 12:31 AM."
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .clocks import asked_wait, reset_instant
from .headless import things

_LIMIT = re.compile(
    r"(?:usage|session|weekly|5-hour|opus|sonnet|daily) limit|quota exceeded|insufficient_quota"
    r"|resource_exhausted|usage_limit",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"(?:try again at|resets?(?: at)?|will reset at) (?P<when>[^·\n]{1,60}?)(?:\.?\s*$|\.\s| ·)",
    re.IGNORECASE,
)


#: Seconds: a time that is printed without them may be over only at the end of its minute.
MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """A usage limit that a run ended at."""

    at: float | None = None  #: UTC: when it is over; None: nobody says


def reset_of(printed: str, agent: str, words: str, utc: float) -> Reset | None:
    """The limit that a failed run ended at; None: it was something else. `words` are its last."""
    told = _claude(printed) if agent == "claude" else None
    if told is not None:
        return told
    if not _LIMIT.search(words):
        return None
    found = _WHEN.search(words)
    at = reset_instant(found["when"], utc) if found else None
    if at is not None:
        return Reset(at=at + MINUTE)
    wait = asked_wait(words)
    return Reset(at=utc + wait if wait else None)


def _claude(printed: str) -> Reset | None:
    """What the last word about limits was, if that was a no."""
    events = [thing for thing in things(printed) if thing.get("type") == "rate_limit_event"]
    said = events[-1].get("rate_limit_info") if events else None
    if not isinstance(said, dict) or said.get("status") != "rejected":
        return None
    at = said.get("resetsAt")
    return Reset(at=float(at) if isinstance(at, int | float) else None)
