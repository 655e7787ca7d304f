"""ERR: turns that end in an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Escalate, Send
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View


def _failed(view: View) -> bool:
    return view.status is Status.FAILED and not view.restarting


@rule("ERR001", "turn-failed", Severity.P1)
def turn_failed(view: View, now: Moment) -> Proposal | None:
    """The turn ended in an API error and the agent sits at its prompt.

    ## Why
    After its own retries a CLI gives up quietly; nobody retries for it.

    ## Example
    `API Error: Repeated 529 Overloaded errors`: after 30 s `continue`, then 60 s, 120 s …

    ## Safety
    Safe. A CLI that is still retrying is `working` and is left alone.
    """
    settings, failures = view.settings, view.tally.failures
    if not _failed(view) or failures > settings.nudges_max:
        return None
    wait = min(settings.failed_max, settings.failed_base * 2.0 ** max(0, failures - 1))
    if view.age(now) < wait or view.tally.nudges >= settings.nudges_max:
        return None
    tally = view.tally
    send = Send(
        run=view.run.number,
        text=settings.continue_text,
        about=f"failed{tally.turns}.{tally.settled}.{tally.nudges}",
    )
    code = view.sight.error.code if view.sight.error else "error"
    message = f"the turn failed ({code}), {wait:g} s ago or more"
    return Proposal(message=message, actions=(send,), evidence=view.belief.evidence)


@rule("ERR002", "failing-again-and-again", Severity.P0)
def failing_again_and_again(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """Turn after turn ends in an error.

    ## Why
    A wrong key or an empty account does not heal by trying.

    ## Example
    Six turns in a row ended in `401`.

    ## Safety
    Safe. It tells a person; nothing more is sent until `acknowledge`.
    """
    most, tally = view.settings.nudges_max, view.tally
    if not _failed(view) or (tally.failures <= most and tally.nudges < most):
        return None
    text = f"{view.context.agent} failed {tally.failures} times in a row"
    about = f"{view.run.number}.failing{tally.turns}.{tally.settled}"
    return Proposal(
        message=text,
        actions=(Escalate(about=about, text=text),),
        evidence=view.belief.evidence,
    )
