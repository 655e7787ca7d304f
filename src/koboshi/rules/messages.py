"""MSG: what a person wants to be typed, and what an agent wants to know of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Send
from koboshi.core.events import Order, OrderGiven, Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .asking import ask

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View

#: A failed turn leaves an empty prompt behind; what mends it (a login) may be this very message.
_AT_PROMPT = (Status.IDLE, Status.FAILED)


@rule("MSG001", "message-waiting", Severity.P2, *_AT_PROMPT, Status.WORKING)
def message_waiting(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A person's message has not been typed yet.

    ## Why
    Text typed into an open dialog approves it, in every CLI. So a message waits until the agent is
    at its prompt; then it is typed once, seen in the box, submitted and seen to have left.

    ## Example
    `koboshi send NAME "run the tests"` while a turn runs: typed when the turn has ended. With
    `--now` it goes in at once, and the CLI queues it.

    ## Safety
    Safe. The words are a person's own; a half-typed line in the box holds them up.
    """
    if not view.outbox or view.restarting or view.run.exit is not None:
        return None
    message = view.outbox[0]
    queued = message.at_once and view.status is Status.WORKING
    if view.status not in _AT_PROMPT and not queued:
        return None
    send = Send(
        run=view.run.number,
        text=message.text,
        about=f"message{message.nth}",
        ordered=True,
        at_once=message.at_once,
    )
    return Proposal(message="a person's message waits", actions=(send,))


@rule("MSG002", "person-asked-for", Severity.P1)
def person_asked_for(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent asks a person something, by its tool `ask_human`, and has no answer yet.

    ## Why
    Its tool call waits, and an agent that waits at night gets nothing done.

    ## Example
    The agent calls `ask_human("Which of the two schemas?")`: a person is told, once, and answers
    with `koboshi answer NAME:ask1 "the second"`.

    ## Safety
    Safe. It tells a person, and types nothing.
    """
    for event in reversed(view.rare):
        body = event.body
        if not isinstance(body, OrderGiven) or body.order not in (Order.ASK, Order.REPLY):
            continue
        turned = view.status is Status.IDLE and view.belief.since > event.now.at
        if turned or event.now.at < view.run.since:
            return None  # the turn or the run has ended, and with it the call that waits
        if body.order is Order.REPLY:
            return None
        agent = view.context.agent
        about, needed = f"{view.run.number}.ask{event.seq}", "'koboshi questions' lists it"
        escalate = ask(about, f"{agent} asks you: {body.text}", needed)
        return Proposal(message=f"asks a person: {body.text}", actions=(escalate,))
    return None
