"""CTX: the context window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Refresh, Send
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .outages import passing

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Moment
    from koboshi.core.view import View


_WORKING = Status.WORKING
#: Agents of which nothing is known that could be handed over: a refresh would lose everything.
MUTE = ("generic",)


def refresh_for(
    view: View, why: str, *, back: bool = False, cure: bool = False
) -> tuple[Action, ...]:
    """The refresh to propose, unless one is under way, makes no sense, or failed too often."""
    blocked = view.restarting or view.tally.unsaved >= view.settings.tries_max
    if blocked or view.status is Status.GONE or view.context.agent_type in MUTE:
        return ()
    nth, back = view.tally.refreshes + 1, back and bool(view.run.session)
    return (Refresh(run=view.run.number, nth=nth, why=why, back=back, cure=cure),)


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
    if use is None or limit <= 0 or use.used < limit or passing(view):
        return None
    actions = refresh_for(view, f"context {use.used:g}% used")
    if not actions:
        return None
    return Proposal(
        message=f"context {use.used:g}% used, refresh at {limit:g}%",
        actions=actions,
        evidence=(f"{use.source}: {use.used:g}% used",),
    )


@rule("CTX002", "context-filling-up", Severity.P2, Status.WORKING, Status.IDLE)
def context_filling_up(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The context window fills up, and a refresh is near.

    ## Why
    An agent that knows of it can bring what it is doing to a good end before it is restarted.

    ## Example
    63 % used, `warn_context` is 60 and `context_max` 70: the agent is told, once in this run.

    ## Safety
    Safe. One message per run; while a turn runs, the CLI queues it.
    """
    use, settings = view.sight.context, view.settings
    if use is None or settings.warn_context <= 0 or view.status not in (_WORKING, Status.IDLE):
        return None
    near = settings.warn_context <= use.used < settings.context_max
    # Who has a call left open is told of that first: whatever is said makes it go on.
    busy = view.refresh is not None or view.retrying or bool(view.run.open)
    if not near or busy or view.context.agent_type in MUTE:
        return None
    text = (
        f"Your context is {use.used:.0f}% full; at {settings.context_max:g}% you will be restarted "
        "with a hand-over note. Bring what you are doing to a state that can be handed over, and "
        "begin nothing large."
    )
    send = Send(run=view.run.number, text=text, about="warn", at_once=view.status is _WORKING)
    return Proposal(message=f"context {use.used:g}% used", actions=(send,))
