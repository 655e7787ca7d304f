"""Reset times as CLIs print them, as instants.

`9:58am (UTC)`, `Nov 18, 9:58am (Asia/Tokyo)`, `Nov 18th, 2026 7:34 AM`, `15:30`, `Monday at 3am`,
`in 2 hours`.
A time without a zone is the agent's local time: agents run on the machine koboshi runs on.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from functools import lru_cache

_TIME = re.compile(
    r"^(?:at )?(?:(?P<weekday>(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?),? "
    r"(?:at )?)?"
    r"(?:(?P<month>[A-Z][a-z]{2})[a-z]{0,6} (?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r"(?:,? (?P<year>\d{4}))?(?:, | at | ))?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::(?P<second>\d{2}))? ?(?P<half>[ap]\.?m\b\.?)?"
    r"(?: ?\(?(?P<zone>(?:[A-Z][A-Za-z_]{2,32}/[A-Za-z0-9_+/-]{1,32})"
    r"|(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d{2})?)?|Z|[ECMP][SD]T)\)?)?\.?$",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"^(?:in:? )?(?:(?P<days>\d{1,3}) ?d(?:ays?)?,? ?)?"
    r"(?:(?P<hours>\d{1,3}) ?h(?:(?:ou)?rs?)?,? ?)?"
    r"(?:(?P<minutes>\d{1,4}) ?m(?:in(?:ute)?s?)?,? ?)?"
    r"(?:(?P<seconds>\d{1,6}) ?s(?:ec(?:ond)?s?)?)?\.?$",
    re.IGNORECASE,
)
#: `try again in 1m30s`, `retry after 20 seconds`, `retry-after: 20`.
_AGAIN = re.compile(
    r"\b(?:try again|retry)[ -](?:in|after):? "
    r"(?P<span>(?:\d{1,6}(?:\.\d{1,6})? ?(?:ms|[dhms][a-z]{0,6})? ?){1,4})",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(?P<count>[\d.]+) ?(?P<unit>ms|[dhms]?)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NOON, _WEEK = 12, 7
_OFFSET = re.compile(r"^(?:UTC|GMT)(?P<sign>[+-])(?P<hours>\d{1,2})(?::(?P<minutes>\d{2}))?$")
_AMERICAN = {"E": -5, "C": -6, "M": -7, "P": -8}  # hours of EST, CST, MST, PST; one more in summer
_LATE = 3600.0  # seconds that what tells of a time to come may still stand there after it
#: Seconds that a clock's time may be over; before that it is the one of the day that comes.
_LEFT_STANDING = 6 * 3600.0


def reset_instant(text: str, utc: float | None, *, ahead: bool = False) -> float | None:
    """Epoch seconds of a printed time, by the moment of the look; None when it cannot be told.

    `ahead`: it is known to come, within a day.
    """
    text = text.strip()
    if utc is None or not text:
        return None
    span = _SPAN.match(text)
    if span is not None and any(span.groups()):
        parts = {unit: int(value) for unit, value in span.groupdict().items() if value}
        return utc + dt.timedelta(**parts).total_seconds()
    found = _TIME.match(text)
    clock = _clock(found) if found else None
    if found is None or clock is None:
        return None
    zone = _zone(found["zone"]) if found["zone"] else None
    if found["zone"] and zone is None:
        return None
    try:
        look = dt.datetime.fromtimestamp(utc, zone)
        # Without a zone the moment is naive: `timestamp` then goes by the machine's own zone.
        # In the hour that clocks go back over, a time comes twice (`fold`).
        moments = [
            dt.datetime.combine(day, clock.replace(tzinfo=zone, fold=fold)).timestamp()
            for day in _days(found, look)
            for fold in (0, 1)
        ]
    except (ValueError, OverflowError, OSError):
        return None
    # The line stays on the screen after the reset:
    # "9:58am" seen at 9:59 is a minute ago, not tomorrow. But it stands for a day before it.
    coming = [moment for moment in moments if moment > utc - _LATE]
    if ahead and coming:
        return min(coming)
    if not (found["month"] or found["weekday"]):
        moments = [moment for moment in moments if moment > utc - _LEFT_STANDING]
    return min(moments, key=lambda moment: abs(moment - utc), default=None)


def asked_wait(text: str) -> float:
    """Seconds that an error asks to wait before the next try; 0 when it says nothing of that."""
    found = _AGAIN.search(text)
    pieces = _PIECE.finditer(found["span"]) if found else ()
    return sum(float(piece["count"]) * _SECONDS[piece["unit"].lower()] for piece in pieces)


def _clock(found: re.Match[str]) -> dt.time | None:
    hour, minute, second = int(found["hour"]), int(found["minute"] or 0), int(found["second"] or 0)
    half = found["half"]
    if half is None and found["minute"] is None:
        return None  # a bare number is not a time
    if half is not None:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if half.lower().startswith("p") else 0)
    try:
        return dt.time(hour, minute, second)
    except ValueError:
        return None


def _days(found: re.Match[str], look: dt.datetime) -> list[dt.date]:
    """The days that may be meant."""
    if found["month"]:
        return _dated(found, look)
    if found["weekday"]:
        wanted = _WEEKDAYS.index(found["weekday"].lower()[:3])
        # The weekday that comes: a weekly limit is told of up to seven days before.
        ahead = (wanted - look.weekday()) % _WEEK
        return [look.date() + dt.timedelta(days=ahead)]
    return [look.date() + dt.timedelta(days=d) for d in (-1, 0, 1)]


def _dated(found: re.Match[str], look: dt.datetime) -> list[dt.date]:
    month = found["month"].lower()
    if month not in _MONTHS:
        return []
    number, day = _MONTHS.index(month) + 1, int(found["day"])
    years = (look.year - 1, look.year, look.year + 1)
    days = []
    for year in (int(found["year"]),) if found["year"] else years:
        try:
            days.append(dt.date(year, number, day))
        except ValueError:  # 29 February of another year
            continue
    return days


@lru_cache(maxsize=64)
def _zone(name: str) -> dt.tzinfo | None:
    if name.upper() in {"UTC", "GMT", "Z"}:
        return dt.UTC
    if name.upper()[1:] in {"ST", "DT"}:
        hours = _AMERICAN[name[0].upper()] + (name[1].upper() == "D")
        return dt.timezone(dt.timedelta(hours=hours))
    if found := _OFFSET.match(name.upper()):
        east = dt.timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
        near = east < dt.timedelta(days=1)
        return dt.timezone(east if found["sign"] == "+" else -east) if near else None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
