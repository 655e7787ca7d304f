"""`koboshi check`: how a fired task is doing, or what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.store.firings import Report, Touched

_EPILOG = """\b
Examples:
  koboshi check task_1a2b3c4d
  koboshi check task_1a2b3c4d --wait
  koboshi check task_1a2b3c4d --json | jq -r .summary

\b
Exit codes: 0 it did what it was asked to · 1 it failed
2 no such task · 5 it still runs
"""
#: Not yet: there is nothing to judge.
RUNNING = 5


@click.command(epilog=_EPILOG)
@click.argument("task", metavar="TASK_ID")
@click.option("--wait", is_flag=True, help="Wait for its end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(*, task: str, wait: bool, as_json: bool) -> None:
    """Tell whether the task runs, finished (with exit, summary, cost, diff) or failed, and why.

    An exit code of 0 is no success: a denied permission ends with it, too. What counts is what the
    agent itself reported.
    """
    import asyncio
    from dataclasses import asdict

    from koboshi.performers.loop import checking
    from koboshi.store.paths import state_dir

    from .printing import say, to_json

    look = checking.settled if wait else checking.check
    report = asyncio.run(look(state_dir(), task))
    if as_json:
        say(to_json(asdict(report)))
    else:
        _tell(report)
    if report.state != "finished":
        raise SystemExit(RUNNING if report.state == "running" else 1)


def _tell(report: Report) -> None:
    from koboshi.config.durations import shown

    from .printing import columns, labelled, paint, plain, say

    colour = {"finished": "green", "failed": "red"}.get(report.state, "cyan")
    time = "" if report.seconds is None else f" after {shown(float(round(report.seconds)))}"
    verb = " for " if report.state == "running" else " after "
    head = paint(report.state, colour) + time.replace(" after ", verb)
    exit_code = "" if report.exit is None else f", exit {report.exit}"
    cost = "" if report.cost is None else f", ${report.cost:.4f}"
    say(head + exit_code + cost)
    room = columns() or 100
    for label, text in (("why", report.why), ("said", report.summary)):
        if text and not (label == "said" and text in report.why):
            say(labelled(label, "\n".join(map(plain, text.split("\n"))), room))
    if report.state != "running" and report.diff is None:
        say(labelled("diff", "not known: no git worktree", room))
    for change in report.diff or ():
        say(labelled("diff", plain(_row(change)), room))


def _row(change: Touched) -> str:
    if change.added is None or change.deleted is None:
        return f"{change.kind} {change.path}"
    return f"{change.kind} {change.path} +{change.added} -{change.deleted}"
