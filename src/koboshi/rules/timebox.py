"""TBX: how long a run may last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.events import Severity
from koboshi.core.rules import Proposal, rule

from .context import refresh_for
from .outages import passing

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View


@rule("TBX001", "run-too-old", Severity.P2)
def run_too_old(view: View, now: Moment) -> Proposal | None:
    """The run has lasted longer than its time box.

    ## Why
    A long run grows dull: old errors and dead ends crowd out the task.

    ## Example
    45 minutes in run 3: saved, restarted, loaded.

    ## Safety
    Safe. It begins a refresh, which saves first, at a turn boundary, within the restart budget.
    """
    limit, age = view.settings.run_max, now.at - view.run.since
    if limit <= 0 or view.run.number == 0 or age < limit or passing(view):
        return None
    actions = refresh_for(view, f"run is older than {limit:g} s")
    if not actions:
        return None
    return Proposal(message=f"run {view.run.number} is older than {limit:g} s", actions=actions)
