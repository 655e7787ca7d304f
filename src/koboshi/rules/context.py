"""CTX: the context window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Refresh
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Moment
    from koboshi.core.view import View


def refresh_for(view: View, why: str) -> tuple[Action, ...]:
    """The refresh to propose, unless one is under way or saving has failed too often."""
    blocked = view.restarting or view.tally.unsaved >= view.settings.tries_max
    if blocked or view.status is Status.GONE:
        return ()
    return (Refresh(run=view.run.number, nth=view.tally.refreshes + 1, why=why),)


@rule("CTX001", "context-nearly-full", Severity.P1)
def context_nearly_full(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The context window is nearly full.

    ## Why
    A full context is compacted or refused: the agent forgets what it was told.

    ## Example
    The footer says `82% context used` and `context_max` is 70.

    ## Safety
    Safe. It begins a refresh, which saves first, at a turn boundary, within the restart budget.
    """
    use, limit = view.sight.context, view.settings.context_max
    if use is None or limit <= 0 or use.used < limit:
        return None
    actions = refresh_for(view, f"context {use.used:g}% used")
    if not actions:
        return None
    return Proposal(
        message=f"context {use.used:g}% used, refresh at {limit:g}%",
        actions=actions,
        evidence=(f"{use.source}: {use.used:g}% used",),
    )
