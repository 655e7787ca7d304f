"""The lines a scripted agent shows about time: spinner, retries, resets."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .acts import Retry

_VERBS = ("Brewing", "Pondering", "Simmering", "Knitting")
_CAUSES = {"429": "Too many requests", "529": "Overloaded"}
_DATED_RESET = 11 * 3600.0  # seconds; a reset further away than this is shown with its date
_NOON = 12


def cause(code: str) -> str:
    """An API error in words."""
    return f"{code} {_CAUSES.get(code, 'Internal server error')}"


def spinner_line(turn: int, seconds: int, queued: int) -> str:
    """The line above the box while a turn runs."""
    more = f" · {queued} queued" if queued else ""
    return f"✻ {_VERBS[turn % len(_VERBS)]}… ({seconds}s · esc to interrupt{more})"


def compacting_line(seconds: int) -> str:
    """The line above the box while the conversation is compacted."""
    return f"✽ Compacting conversation… ({seconds}s)"


def retry_line(act: Retry, elapsed: float) -> str:
    """The line above the box between two attempts; only the last one names the cause."""
    attempts = max(act.attempts, 1)
    each = act.seconds / attempts
    attempt = min(int(elapsed / each) + 1, attempts) if each else attempts
    left = max(math.ceil(each * attempt - elapsed), 0)
    what = cause(act.code) if attempt == attempts else "API error"
    return f"✻ {what} · Retrying in {left}s · attempt {attempt}/{attempts}"


def limit_line(until: float, utc: float) -> str:
    """What is printed at a limit; with seconds, so that nights can be short."""
    moment = dt.datetime.fromtimestamp(until, dt.UTC)
    clock = f"{moment.hour % _NOON or _NOON}:{moment:%M:%S}{'am' if moment.hour < _NOON else 'pm'}"
    day = f"{moment:%b} {moment.day}, " if until - utc > _DATED_RESET else ""
    return f"You've hit your session limit · resets {day}{clock} (UTC)"
