"""Values out of JSON that somebody else wrote: of the expected type, or nothing."""

from __future__ import annotations

import json
from typing import Any

#: An id or a name; the real ones have under 64 characters.
MAX_WORD = 256
#: More tokens than any context holds; more is a mistake or a joke.
MAX_TOKENS = 1_000_000_000
#: The same for money.
MAX_DOLLARS = 1_000_000


def object_in(line: bytes) -> dict[str, Any]:
    """The JSON object on that line; empty when there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def member(value: object, key: str) -> dict[str, Any]:
    """The object under that key; empty when there is none."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def members(value: object, key: str) -> list[dict[str, Any]]:
    """The objects in the list under that key."""
    inner = value.get(key) if isinstance(value, dict) else None
    return [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []


def word(value: object, key: str) -> str:
    """The short text under that key; empty when there is none. No half surrogate pairs."""
    text = value.get(key) if isinstance(value, dict) else None
    if not isinstance(text, str) or len(text) > MAX_WORD:
        return ""
    return text.encode(errors="replace").decode()


def tokens(value: object, *keys: str) -> int:
    """The sum of the counts under these keys."""
    counts = [value.get(key) for key in keys] if isinstance(value, dict) else []
    return sum(c for c in counts if type(c) is int and 0 <= c <= MAX_TOKENS)


def percent(value: object, key: str) -> float | None:
    """The share under that key, in percent."""
    share = value.get(key) if isinstance(value, dict) else None
    if isinstance(share, bool) or not isinstance(share, int | float):
        return None
    return float(share) if 0 <= share <= 100 else None  # noqa: PLR2004 - percent


def money(value: object, key: str) -> float:
    """The US dollars under that key; 0 when nobody tells."""
    cost = value.get(key) if isinstance(value, dict) else None
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return 0.0
    return round(float(cost), 6) if 0 <= cost <= MAX_DOLLARS else 0.0
