"""LVL: an agent that goes round in circles. The same error again and again is ERR's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Interrupt, Send
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .asking import ask

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View


_UP = (Status.WORKING, Status.IDLE)


def _rounds(view: View) -> int:
    """How many times over the same call was made too often in a row."""
    most, loop = view.settings.calls_max, view.loop
    if loop is None or most <= 0 or view.status not in _UP or view.refresh is not None:
        return 0
    if view.retrying:
        return 0
    return loop.times // most


@rule("LVL001", "same-call-again", Severity.P1)
def same_call_again(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent makes the same tool call again and again.

    ## Why
    Each round costs tokens and changes nothing. Often a word is enough.

    ## Example
    `npm test`, 20 times in a row and nothing else: the agent is told so.

    ## Safety
    Safe. One message per row of calls; whoever waits for something on purpose may go on.
    """
    loop = view.loop
    if loop is None or _rounds(view) != 1 or view.run.open:
        return None  # what was left open is told first (RUN008)
    text = (
        f"You have made the same tool call {view.settings.calls_max} times in a row. If it cannot "
        "change anything, stop: find out why, try something else, or leave this task and say so."
    )
    at_once = view.status is Status.WORKING
    send = Send(run=view.run.number, text=text, about=f"loop{loop.nth}", at_once=at_once)
    return Proposal(message=f"the same call {loop.times} times: {loop.what}", actions=(send,))


@rule("LVL002", "circle-not-left", Severity.P1)
def circle_not_left(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent was told that it goes round in circles, and goes on.

    ## Why
    What stands in its context leads it there; a fresh run with a note has a chance.

    ## Example
    The same call 40 times: the turn is interrupted, and HNG003 refreshes.

    ## Safety
    Safe. Once per row of calls, never into a dialog or over a half-typed line.
    """
    loop = view.loop
    if loop is None or loop.broken or _rounds(view) != 2:  # noqa: PLR2004
        return None
    if view.status is not Status.WORKING:
        return None
    stop = Interrupt(run=view.run.number, about=f"loop{loop.nth}.{view.tally.interrupts}")
    actions = (stop,) if view.tally.interrupts < view.settings.tries_max else ()
    return Proposal(message=f"the same call {loop.times} times: {loop.what}", actions=actions)


@rule("LVL003", "circle-without-end", Severity.P0)
def circle_without_end(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent goes round in circles, whatever it is told.

    ## Why
    It was told and refreshed; only a person can see what is wrong.

    ## Example
    The same call 60 times, over two runs.

    ## Safety
    Safe. It tells a person, once per row of calls.
    """
    loop = view.loop
    if loop is None or _rounds(view) < 3:  # noqa: PLR2004
        return None
    text = f"{view.context.agent} made the same call {loop.times} times: {loop.what[:80]}"
    about = f"loop{loop.nth}.{view.tally.settled}"
    return Proposal(message=text, actions=(ask(about, text, "look at what it tries"),))
