"""A report as rows for a terminal; what agents and people wrote is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from koboshi.adapters.text import width
from koboshi.cli.ls import STATUS_COLOURS
from koboshi.cli.printing import clip, day, paint, plain, wrap
from koboshi.reports.phrases import MARKS, clock, counted, in_rows, lasting, reply, restart, tokens
from koboshi.reports.values import Doing

if TYPE_CHECKING:
    from koboshi.reports.values import Account, Report

#: Rows of a list that are shown; the page has them all.
_SHOWN = 8
_COLOURS = {
    Doing.WORKING: "green",
    Doing.IDLE: "cyan",
    Doing.ASKING: "yellow",
    Doing.LIMITED: "yellow",
    Doing.DOWN: "red",
}


def rows(report: Report, room: int) -> Iterator[str]:
    """All of it."""
    hours = lasting(report.until - report.since)
    head = f"{_minute(report.since)} → {_minute(report.until)}  ({hours})"
    yield from (paint(row, "bold") for row in wrap(head, room))
    if not report.agents:
        yield "no agent did anything then"
        return
    yield from _needs(report, room)
    for account in report.agents:
        yield ""
        yield from _account(account, report, room)


def _minute(utc: float) -> str:
    return f"{day(utc)} {clock(utc)}"


def _needs(report: Report, room: int) -> Iterator[str]:
    wanting = [each for each in report.agents if each.needs]
    if not wanting:
        yield "Nobody needs you."
        return
    yield paint("Needs you:", "yellow")
    for account in wanting:
        for need in account.needs:
            yield from _hanging(f"  {account.agent}  ", need, room)


def _hanging(head: str, text: str, room: int) -> Iterator[str]:
    """The text beside its head, or below it where the page is narrow."""
    indent = width(head) if width(head) <= room // 3 else 4
    lines = list(wrap(plain(text), max(8, room - indent)))
    if indent < width(head):
        yield clip(plain(head).rstrip(), room)
        lines = ["", *lines]
    else:
        yield plain(head) + lines[0]
    yield from (" " * indent + line for line in lines[1:])


def _account(account: Account, report: Report, room: int) -> Iterator[str]:
    head = "  ".join(filter(None, (account.agent, account.type, account.folder)))
    word = clip(plain(account.status), room // 2)
    name = clip(plain(head), room - 2 - width(word))
    yield f"{paint(name, 'bold')}  {paint(word, STATUS_COLOURS.get(word, ''))}"
    if account.stretches:
        yield "  " + _bar(account, report, room - 4)
        yield from ("  " + row for row in wrap(_legend(account), room - 4))
    for label, lines in _lists(account):
        yield from _list(label, lines, room)


def _bar(account: Account, report: Report, cells: int) -> str:
    """Time from left to right; a cell shows what it was doing for most of it."""
    step = (report.until - report.since) / cells
    shown = [_most(account, report.since + n * step, step) for n in range(cells)]
    bar, start = "", 0
    for n in range(1, cells + 1):
        if n == cells or shown[n] is not shown[start]:
            doing = shown[start]
            marks = (MARKS[doing] if doing else " ") * (n - start)
            bar += paint(marks, _COLOURS.get(doing, "dim") if doing else "")
            start = n
    return f"[{bar}]" if cells > 0 else ""


def _most(account: Account, start: float, step: float) -> Doing | None:
    shares: dict[Doing, float] = {}
    for each in account.stretches:
        shared = min(each.end, start + step) - max(each.start, start)
        if shared > 0:
            shares[each.doing] = shares.get(each.doing, 0.0) + shared
    return max(shares, key=lambda doing: shares[doing]) if shares else None


def _legend(account: Account) -> str:
    parts = [f"{MARKS[d]} {d.value} {lasting(time)}" for d, time in account.totals.items()]
    return "   ".join(part.strip() for part in parts)


def _lists(account: Account) -> Iterator[tuple[str, list[str]]]:
    restarts = [f"{clock(e.at)} {restart(e)}" for e in account.restarts]
    refreshes = [
        f"{clock(e.at)} {e.why}: {e.ending}{f' ({e.note})' if e.note else ''}"
        for e in account.refreshes
    ]
    yield "restarts", restarts
    yield "refreshes", refreshes
    yield "answers", in_rows((e.at, reply(e)) for e in account.replies)
    yield "called you", in_rows((e.at, e.what) for e in account.calls)
    yield "would have", in_rows((e.at, e.what) for e in account.would)
    yield "said", in_rows((e.at, e.what) for e in account.progress)
    yield "errors", [counted(account.errors)] if account.errors else []
    yield "limits", [counted(account.limits)] if account.limits else []
    yield "plan", list(account.plan)
    yield "commits", [f"{clock(e.at)} {e.id} {e.subject}" for e in account.commits]
    yield "tokens", [tokens(account.spent)] if account.spent else []
    yield "trouble", list(account.troubles)


def _list(label: str, lines: list[str], room: int) -> Iterator[str]:
    """The newest of them; how many there are."""
    if not lines:
        return
    many = len(lines) > 1 or label in ("restarts", "refreshes", "answers", "commits")
    left = len(lines) - _SHOWN
    shown = ([f"… {left} before"] if left > 0 else []) + lines[-_SHOWN:]
    head = f"{label} {len(lines)}" if many else label
    if room < 60:  # noqa: PLR2004 - no room for two columns
        yield f"  {head}"
        for line in shown:
            yield from _hanging("    ", line, room)
        return
    for n, line in enumerate(shown):
        yield from _hanging(f"  {head if n == 0 else '':<14}", line, room)
