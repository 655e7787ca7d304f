"""RFR, too: a refresh whose turn boundary does not come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Refresh
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .context import refresh_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koboshi.core.events import Moment
    from koboshi.core.view import View


def _due(view: View) -> Iterator[tuple[float, str]]:
    """Since when a refresh has been due, and why."""
    settings, use, run = view.settings, view.sight.context, view.run
    if use is not None and 0 < settings.context_max <= use.used:
        yield view.sight.full_at, f"context {use.used:g}% used"
    if settings.run_max > 0 and run.number:
        yield run.since + settings.run_max, f"run is older than {settings.run_max:g} s"


@rule("RFR007", "turn-without-boundary", Severity.P1, Status.WORKING)
def turn_without_boundary(view: View, now: Moment) -> Proposal | None:
    """A refresh is due, and the turn that it waits for does not end.

    ## Why
    An agent that works through a night in one turn never comes to the boundary at which it could
    be refreshed, and its context runs out in the middle of something.

    ## Example
    `refresh_wait = "30m"`: half an hour after the context reached 70 % the turn still runs. It is
    interrupted, saved and handed over; `why` says that this was forced.

    ## Safety
    Safe. Only where `refresh_wait` is set, and never into a dialog or over a half-typed line. The
    interrupted turn is part of what is saved.
    """
    wait = view.settings.refresh_wait
    if wait <= 0 or view.status is not Status.WORKING or view.question is not None:
        return None
    for since, why in _due(view):
        # Where the turn began later, it is this one that is waited for.
        if now.at - max(since, view.belief.since) < wait:
            continue
        forced = f"{why}; forced: no turn boundary for {wait:g} s"
        actions = tuple(
            Refresh(run=each.run, nth=each.nth, why=forced, forced=True)
            for each in refresh_for(view, why)
            if isinstance(each, Refresh)
        )
        return Proposal(message=forced, actions=actions) if actions else None
    return None
