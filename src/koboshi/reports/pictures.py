"""Pictures of a report as SVG: time from left to right. Text only, no script, nothing foreign."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from .phrases import clock, lasting, reply

if TYPE_CHECKING:
    from .values import Account, Report

#: Units of a picture; the page stretches it.
WIDE, BAR, AXIS, SPARK = 1000.0, 26.0, 16.0, 40.0
#: Hours between two marks of the axis, and how many marks there may be.
_STEPS, _MARKS = (0.25, 0.5, 1, 2, 3, 6, 12, 24, 48, 168), 9
_HOUR = 3600.0
#: Shapes above the bar: what happened in a moment.
_SHAPES = {
    "restart": "M{x},1 l5,9 h-10 z",
    "refresh": "M{x},1 l5,5 l-5,5 l-5,-5 z",
    "answer": "M{x},6 m-4,0 a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0",
    "error": "M{x},6 m-4,-4 l8,8 m0,-8 l-8,8",
    "commit": "M{x},2 m-3,0 h6 v8 h-6 z",
    "call": "M{x},1 v6 m0,2.5 v1.5",
}
_ABOVE = 14.0


def bar(account: Account, report: Report) -> str:
    """What its time went into, and above it what happened."""
    top = _ABOVE
    rows = [f'<rect class="none" x="0" y="{top}" width="{WIDE:g}" height="{BAR:g}"/>']
    for each in account.stretches:
        left, right = _x(each.start, report), _x(each.end, report)
        words = f"{each.doing.value} {lasting(each.end - each.start)}, from {clock(each.start)}"
        rows.append(
            f'<rect class="{each.doing.value}" x="{left:.2f}" y="{top}" height="{BAR:g}" '
            f'width="{max(0.6, right - left):.2f}"><title>{_t(words)}</title></rect>'
        )
    rows += [_shape(kind, at, words, report) for kind, at, words in _moments(account)]
    rows += _axis(report, top + BAR)
    return _svg(rows, top + BAR + AXIS, f"how the time of {account.agent} went")


def spark(account: Account, report: Report) -> str:
    """How full its context was; empty where nothing told."""
    if len(account.context) < 2:  # noqa: PLR2004 - a line takes two points
        return ""
    points = list[str]()
    for each in account.context:
        x = _x(each.at, report)
        if points:
            points.append(f"{x:.1f},{points[-1].partition(',')[2]}")  # it stayed so till then
        points.append(f"{x:.1f},{SPARK * (1 - each.used / 100):.1f}")
    line = f'<polyline class="spark" points="{" ".join(points)}"/>'
    top = max(account.context, key=lambda each: each.used).used
    frame = f'<path class="frame" d="M0,0 h{WIDE:g} M0,{SPARK:g} h{WIDE:g}"/>'
    return _svg([frame, line], SPARK, f"context of {account.agent}, at most {top:.0f} percent")


def _moments(account: Account) -> Iterator[tuple[str, float, str]]:
    for restart in account.restarts:
        yield "restart", restart.at, f"run {restart.run}: {restart.why}"
    for refresh in account.refreshes:
        yield "refresh", refresh.at, f"refresh: {refresh.why}"
    for each in account.replies:
        yield "answer", each.at, reply(each)
    for error in account.errors:
        yield "error", error.at, f"error {error.what}"
    for call in account.calls:
        yield "call", call.at, call.what
    for commit in account.commits:
        yield "commit", commit.at, f"{commit.id} {commit.subject}"


def _shape(kind: str, at: float, words: str, report: Report) -> str:
    path = _SHAPES[kind].format(x=f"{_x(at, report):.1f}")
    told = _t(f"{clock(at)} {words}")
    return f'<path class="mark {kind}" d="{path}"><title>{told}</title></path>'


def _axis(report: Report, top: float) -> list[str]:
    hours = (report.until - report.since) / _HOUR
    step = next((s for s in _STEPS if hours / s <= _MARKS), _STEPS[-1]) * _HOUR
    shift = _offset(report.since)
    at = (report.since + shift) // step * step + step - shift
    rows = []
    while at < report.until:
        x = _x(at, report)
        rows.append(f'<path class="frame" d="M{x:.1f},{top:g} v4"/>')
        rows.append(f'<text x="{x:.1f}" y="{top + 14:g}" text-anchor="middle">{clock(at)}</text>')
        at += step
    return rows


def _x(at: float, report: Report) -> float:
    share = (at - report.since) / max(1.0, report.until - report.since)
    return WIDE * min(1.0, max(0.0, share))


def _offset(utc: float) -> float:
    """Seconds between local time and UTC: full hours are the reader's."""
    offset = datetime.fromtimestamp(utc).astimezone().utcoffset()
    return offset.total_seconds() if offset else 0.0


def _svg(rows: list[str], height: float, label: str) -> str:
    inner = "\n".join(rows)
    return (
        f'<svg role="img" aria-label="{_t(label)}" viewBox="-6 0 {WIDE + 12:g} {height:g}">\n'
        f"{inner}\n</svg>"
    )


def _t(text: str) -> str:
    return escape(shown(text), quote=True)


def shown(text: str) -> str:
    """The text with a mark for each character that is not printed; line ends stay."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)
