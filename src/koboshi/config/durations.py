"""Times as people write them: `45s`, `10m`, `1h30m`, or a number of seconds."""

from __future__ import annotations

import re
from decimal import Decimal

#: More seconds than any of the waits can mean: some thirty years.
MOST = 1_000_000_000.0

_NUMBER = r"[0-9]{1,20}(?:\.[0-9]{1,400})?"
_TIME = re.compile(rf"(?:({_NUMBER})d)?(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s?)?")
_UNITS = (86400, 3600, 60, 1)


def seconds(text: str) -> float | None:
    """The time that the text says; None when it says none."""
    found = _TIME.fullmatch(text.strip().lower())
    if found is None or not any(found.groups()):
        return None
    # Decimal: 0.1 h are 360 s exactly.
    parts = zip(found.groups(), _UNITS, strict=True)
    whole = float(sum(Decimal(part) * unit for part, unit in parts if part))
    return whole if whole <= MOST else None


def shown(time: float) -> str:
    """The time as a person would write it; `seconds` gives the very same number back."""
    if not time.is_integer():
        return f"{Decimal(repr(time)):f}s"
    rest, text = int(time), ""
    for unit, letter in zip(_UNITS, "dhms", strict=True):
        count, rest = divmod(rest, unit)
        if count:
            text += f"{count}{letter}"
    return text or "0s"
