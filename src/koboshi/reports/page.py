"""A report as one file of HTML: no script, nothing from elsewhere, everything escaped.

Rule 1: every text goes through `_t`. The policy in the head forbids what an escape forgot.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from .phrases import clock, counted, in_rows, lasting, reply, tokens
from .pictures import bar, shown, spark

if TYPE_CHECKING:
    from .values import Account, Report

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

#: What the shapes above a bar mean; what each was about is told where it is pointed at.
_KEY = "▲ restart  ◆ refresh  ● question  × error  ! called you  ■ commit"


def page(report: Report) -> str:
    """The whole page."""
    style = resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    hours = f"{_minute(report.since)} – {_minute(report.until)}"
    body = "\n".join(_section(each, report) for each in report.agents)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>koboshi: {_t(hours)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>koboshi <span class="hours">{_t(hours)} · {_t(lasting(report.until - report.since))}</span></h1>
{_needs(report)}
<p class="key">{_KEY}</p>
</header>
<main>
{body or "<p>No agent did anything then.</p>"}
</main>
</body>
</html>
"""


def _needs(report: Report) -> str:
    rows = [
        f"<li><b>{_t(account.agent)}</b> {_t(need)}</li>"
        for account in report.agents
        for need in account.needs
    ]
    if not rows:
        return '<p class="calm">Nobody needs you.</p>'
    return f'<div class="needs"><h2>Needs you</h2><ul>{"".join(rows)}</ul></div>'


def _section(account: Account, report: Report) -> str:
    parts = [
        f"<h2>{_t(account.agent)} {_status(account.status)}</h2>",
        f'<p class="where">{_t(" · ".join(filter(None, (account.type, account.folder))))}</p>',
        bar(account, report) if account.stretches else "",
        _legend(account),
        _context(account, report),
        _list(
            "Restarts",
            (f"{clock(e.at)} run {e.run}, {e.origin}: {e.why}" for e in account.restarts),
        ),
        _refreshes(account),
        _list("Questions", in_rows((e.at, reply(e)) for e in account.replies)),
        _list("Called you", in_rows((e.at, e.what) for e in account.calls)),
        _list("Would have", in_rows((e.at, e.what) for e in account.would)),
        _list("Said", in_rows((e.at, e.what) for e in account.progress)),
        _list("Plan", account.plan),
        _list("Commits", (f"{clock(e.at)} {e.id} {e.subject}" for e in account.commits)),
        _facts(account),
        _list("Trouble", account.troubles),
    ]
    return "<section>\n" + "\n".join(part for part in parts if part) + "\n</section>"


def _status(word: str) -> str:
    return f'<span class="status {_t(word)}">{_t(word)}</span>'


def _legend(account: Account) -> str:
    rows = [
        f'<li class="{doing.value}">{doing.value} <b>{_t(lasting(time))}</b></li>'
        for doing, time in account.totals.items()
    ]
    return f'<ul class="legend">{"".join(rows)}</ul>' if rows else ""


def _context(account: Account, report: Report) -> str:
    picture = spark(account, report)
    return f"<figure><figcaption>context</figcaption>{picture}</figure>" if picture else ""


def _refreshes(account: Account) -> str:
    rows = []
    for each in account.refreshes:
        head = _t(f"{clock(each.at)} {each.why}: {each.ending}")
        note = f"<pre>{_t(each.text)}</pre>" if each.text else ""
        rows.append(
            f"<li><details><summary>{head}</summary>{note}</details></li>"
            if note
            else f"<li>{head}</li>"
        )
    return _titled("Refreshes", rows)


def _facts(account: Account) -> str:
    rows = []
    if account.errors:
        rows.append(f"errors: {counted(account.errors)}")
    if account.limits:
        rows.append(f"limits: {counted(account.limits)}")
    if account.spent:
        rows.append(f"tokens: {tokens(account.spent)}")
    return f'<p class="facts">{_t(" · ".join(rows))}</p>' if rows else ""


def _list(title: str, lines: Iterable[str]) -> str:
    return _titled(title, [f"<li>{_t(line)}</li>" for line in lines])


def _titled(title: str, rows: list[str]) -> str:
    if not rows:
        return ""
    return f"<h3>{title} <small>{len(rows)}</small></h3>\n<ul>{''.join(rows)}</ul>"


def _minute(utc: float) -> str:
    return f"{datetime.fromtimestamp(utc).astimezone():%Y-%m-%d %H:%M}"


def _t(text: str) -> str:
    return escape(shown(text), quote=True)
