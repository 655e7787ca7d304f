"""IDL: an agent that waits for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Send
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule
from koboshi.wording import many

from .asking import ask

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View


_AT_PROMPT = (Status.IDLE, Status.FAILED, Status.LIMITED)


def _idle(view: View) -> bool:
    return view.status is Status.IDLE and not view.restarting


@rule("IDL001", "idle-too-long", Severity.P1, Status.IDLE)
def idle_too_long(view: View, now: Moment) -> Proposal | None:
    """The agent sits at its prompt and nothing has changed for a long time.

    ## Why
    Turns end early; an unattended agent then waits for a word until morning.

    ## Example
    Ten minutes at an empty box: `continue`.

    ## Safety
    Safe. Not while it works, asks or is limited, and never over a half-typed line.
    """
    settings, tally = view.settings, view.tally
    if not _idle(view) or tally.nudges >= settings.nudges_max or view.run.open:
        return None
    if min(view.age(now), view.still_for(now)) < settings.idle_after:
        return None
    send = Send(
        run=view.run.number,
        text=settings.continue_text,
        about=f"idle{tally.turns}.{tally.settled}.{tally.nudges}",
    )
    message = f"idle for {settings.idle_after:g} s or more"
    return Proposal(message=message, actions=(send,), evidence=view.belief.evidence)


@rule("IDL002", "nudge-without-effect", Severity.P1, Status.IDLE)
def nudge_without_effect(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """Messages were sent and the agent did not begin to work.

    ## Why
    More of the same would be the watchdog that pressed Enter 129 times.

    ## Example
    Five times `continue`, still idle.

    ## Safety
    Safe. It tells a person; nothing more is sent until the agent works or `acknowledge`.
    """
    tally = view.tally
    if not _idle(view) or tally.nudges < view.settings.nudges_max:
        return None
    text = f"{view.context.agent} does not react: {many(tally.nudges, 'message')}, still idle"
    about = f"{view.run.number}.deaf{tally.turns}.{tally.settled}"
    return Proposal(message=text, actions=(ask(about, text, "look at its terminal"),))


@rule("IDL003", "half-typed-line-left", Severity.P1, Status.IDLE, Status.FAILED, Status.LIMITED)
def half_typed_line_left(view: View, now: Moment) -> Proposal | None:
    """A half-typed line has stood in the box for a long time and nothing moves.

    ## Why
    koboshi never types over a person's line (law 10), so an agent with one in its box gets no
    help. Whoever left it should know.

    ## Example
    `please als` in the box for ten minutes, the agent idle.

    ## Safety
    Safe. It tells a person; the line stays as it is.
    """
    if not view.sight.draft or view.status not in _AT_PROMPT:
        return None
    if view.still_for(now) < view.settings.idle_after:
        return None
    text = f"{view.context.agent}: a half-typed line is in its box"
    about = f"{view.run.number}.line{view.tally.turns}.{view.tally.settled}"
    return Proposal(
        message=text,
        actions=(ask(about, text, "send it or clear it"),),
        evidence=(view.sight.draft,),
    )
