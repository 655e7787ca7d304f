"""Reset times as CLIs print them ("9:58am (UTC)", "Nov 18, 9:58am (Asia/Tokyo)") as instants."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from functools import lru_cache

_TIME = re.compile(
    r"^(?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:, | at | ))?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::(?P<second>\d{2}))? ?(?P<half>[ap]m)"
    r"(?: ?\((?P<zone>[A-Za-z0-9_+/-]{1,64})\))?\.?$",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NOON = 12


def reset_instant(text: str, utc: float | None) -> float | None:
    """Epoch seconds of a printed time, nearest to the look; None when it cannot be told."""
    found = _TIME.match(text.strip())
    zone = _zone((found["zone"] if found else None) or "UTC")
    if found is None or utc is None or zone is None:
        return None
    hour, minute, second = int(found["hour"]), int(found["minute"] or 0), int(found["second"] or 0)
    if not 1 <= hour <= _NOON:
        return None
    hour = hour % _NOON + (_NOON if found["half"].lower() == "pm" else 0)
    try:
        look = dt.datetime.fromtimestamp(utc, zone)
        clock = dt.time(hour, minute, second, tzinfo=zone)
        days = (
            _dated(found, look)
            if found["month"]
            else [look.date() + dt.timedelta(days=d) for d in (-1, 0, 1)]
        )
        moments = [dt.datetime.combine(day, clock).timestamp() for day in days]
    except (ValueError, OverflowError, OSError):
        return None
    # The line stays on the screen after the reset:
    # "9:58am" seen at 9:59 is a minute ago, not tomorrow.
    return min(moments, key=lambda moment: abs(moment - utc), default=None)


def _dated(found: re.Match[str], look: dt.datetime) -> list[dt.date]:
    month = found["month"].lower()
    if month not in _MONTHS:
        return []
    number, day = _MONTHS.index(month) + 1, int(found["day"])
    days = []
    for year in (look.year - 1, look.year, look.year + 1):
        try:
            days.append(dt.date(year, number, day))
        except ValueError:  # 29 February of another year
            continue
    return days


@lru_cache(maxsize=64)
def _zone(name: str) -> dt.tzinfo | None:
    if name.upper() in {"UTC", "GMT", "Z"}:
        return dt.UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
