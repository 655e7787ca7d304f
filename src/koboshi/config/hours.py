"""Hours of the day in which nobody wants to be woken: `22:00-07:00`, by this machine's clock."""

from __future__ import annotations

import re
from dataclasses import dataclass

DAY = 24 * 60
_HOURS = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])\s*-\s*([01]?[0-9]|2[0-3]):([0-5][0-9])")

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Hours:
    """From a minute of the day to another, over midnight if need be; both the same: never."""

    start: int = 0
    end: int = 0

    def left(self, minute: float) -> float:
        """Minutes until they are over; 0 outside of them."""
        length = (self.end - self.start) % DAY
        passed = (minute - self.start) % DAY
        return length - passed if passed < length else 0.0

    def __str__(self) -> str:
        if self.start == self.end:
            return "never"
        return "-".join(f"{each // 60:02d}:{each % 60:02d}" for each in (self.start, self.end))


def minute(text: str) -> int | None:
    """The minute of the day in `07:30`; None when it says none."""
    found = _TIME.fullmatch(text.strip())
    return int(found[1]) * 60 + int(found[2]) if found else None


def hours(text: str) -> Hours | None:
    """The hours that the text says; None when it says none."""
    if not text.strip():
        return Hours()
    found = _HOURS.fullmatch(text.strip())
    if found is None:
        return None
    one, two, three, four = map(int, found.groups())
    return Hours(one * 60 + two, three * 60 + four)
