"""A report in a few lines: what fits into a message to a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .phrases import lasting, tokens
from .values import Doing

if TYPE_CHECKING:
    from .values import Account, Report

#: What is said of an agent's time, in this order.
_SAID = (Doing.WORKING, Doing.ASKING, Doing.LIMITED, Doing.DOWN, Doing.UNSEEN)


def summary(report: Report) -> list[str]:
    """A line for each agent, who needs a person first; what they need is in it."""
    return [_line(account) for account in report.agents]


def _line(account: Account) -> str:
    parts = [*_times(account), *_counts(account), *_plan(account), *_spent(account)]
    said = f"{account.agent}: {', '.join(parts) or account.status}"
    return (
        " ".join(f"{said}; needs you: {'; '.join(account.needs)}".split())
        if account.needs
        else said
    )


def _times(account: Account) -> Iterator[str]:
    for doing in _SAID:
        time = account.totals.get(doing, 0.0)
        if time >= 60:  # noqa: PLR2004 - less than a minute is not worth a word
            yield f"{doing.value} {lasting(time)}"


def _counts(account: Account) -> Iterator[str]:
    for many, word in (
        (len(account.restarts), "restart"),
        (len(account.refreshes), "refresh"),
        (len(account.errors), "error"),
        (len(account.commits), "commit"),
    ):
        if many:
            ending = "es" if word.endswith("sh") else "s"
            yield f"{many} {word}{ending if many > 1 else ''}"


def _plan(account: Account) -> Iterator[str]:
    """How far it has come: `plan 3 of 7 steps done`."""
    steps = account.plan[1:]  # the first row is the goal
    if steps:
        done = sum(row.split(":")[0].endswith(" done") for row in steps)
        yield f"plan {done} of {len(steps)} steps done"


def _spent(account: Account) -> Iterator[str]:
    if account.spent:
        yield f"tokens {tokens(account.spent)}"
