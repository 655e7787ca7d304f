"""LIM: usage limits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from koboshi.core.actions import Answer, Notify, Send
from koboshi.core.events import Severity
from koboshi.core.readings import Meaning, PromptKind, Status
from koboshi.core.rules import Proposal, rule
from koboshi.wording import many, times

from .asking import ask

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View, Window


def _open(view: View) -> Window | None:
    """The limit in force, unless a refresh has the floor."""
    return view.window if view.status is Status.LIMITED and not view.restarting else None


def _spent(view: View) -> bool:
    """Whether it was told to go on as often as its owner wants."""
    return 0 < view.settings.limits_max <= view.tally.continues


@rule("LIM001", "limit-reached", Severity.P0, Status.LIMITED)
def limit_reached(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A usage limit ended the turn.

    ## Why
    It is not a crash, not idleness and not an error: nothing helps but waiting.

    ## Example
    `You've hit your session limit · resets 9:58am (UTC)`.

    ## Safety
    Safe. It tells a person, once per limit.
    """
    window = _open(view)
    if window is None:
        return None
    until = "an unknown time"
    if window.limit.resets_at is not None:
        until = datetime.fromtimestamp(window.limit.resets_at, tz=UTC).strftime("%H:%M:%S UTC")
    text = f"{view.context.agent} hit its {window.limit.kind} limit; waits until {until}"
    note = Notify(about=f"limit{window.nth}", text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)


@rule("LIM002", "limit-has-reset", Severity.P1, Status.LIMITED)
def limit_has_reset(view: View, now: Moment) -> Proposal | None:
    """The usage limit has reset and the agent still waits.

    ## Why
    Hardly any CLI goes on by itself: the night ends at the limit unless somebody types "continue".
    Claude Code 2.1.325 does after some limits, a minute late; who is first keeps the other quiet.

    ## Example
    Limit hit at 02:10, resets 05:00: a few seconds later `continue` goes in, once. Agents in
    koboshi's care that share a login do not all begin in the same second: each has its own moment
    in `limit_spread`.

    ## Safety
    Safe. One message per reset; a message that had no effect is repeated at most three times, and
    over all limits there are at most `limits_max`. `koboshi pause NAME` calls it off.
    """
    window = _open(view)
    if window is None or window.tries >= view.settings.tries_max or not view.limit_over(now):
        return None
    if view.run.open or _spent(view):
        return None  # it is told of that first, and goes on then; or a person is asked
    send = Send(
        run=view.run.number,
        text=view.settings.continue_text,
        about=f"limit{window.nth}.{view.tally.settled}.{window.tries}",
    )
    return Proposal(message="the limit has reset", actions=(send,), evidence=view.belief.evidence)


@rule("LIM004", "limit-menu-open", Severity.P1)
def limit_menu_open(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The CLI has opened a menu about the limit, and waits for an answer.

    ## Why
    While it stands there nothing can be typed: the night ends at the menu, reset or not.

    ## Example
    `What do you want to do?  1. Stop and wait for limit to reset  2. Upgrade your plan`.

    ## Safety
    Safe. Only the option that means "wait" is ever chosen, by its meaning, after a second look.
    """
    question = view.question
    if question is None or question.prompt.kind is not PromptKind.LIMIT or question.left_to_person:
        return None
    if question.looks < 2 or question.prompt.index_of(Meaning.WAIT) is None:  # noqa: PLR2004
        return None
    answer = Answer(
        run=view.run.number,
        nth=question.nth,
        fingerprint=question.prompt.fingerprint,
        choice=Meaning.WAIT,
    )
    return Proposal(
        message="the limit's own menu is open", actions=(answer,), evidence=view.belief.evidence
    )


@rule("LIM003", "limit-outlived", Severity.P1, Status.LIMITED)
def limit_outlived(view: View, now: Moment) -> Proposal | None:
    """The usage limit should be over and the agent does not go on.

    ## Why
    Something else holds it; sending more would be noise.

    ## Example
    Three messages after the reset, and the screen still says limited; or the hundredth message
    after a limit since somebody last looked (`limits_max`).

    ## Safety
    Safe. It tells a person.
    """
    window, settings = _open(view), view.settings
    if window is None or not view.limit_over(now):
        return None
    if window.tries < settings.tries_max and not _spent(view):
        return None
    text = f"{view.context.agent} is still limited after {many(window.tries, 'message')}"
    if _spent(view):
        text = f"{view.context.agent} went on {times(view.tally.continues)} after limits: enough"
    about = f"limit{window.nth}.outlived{view.tally.settled}"
    needed = f"see what holds it up, then 'koboshi ack {view.context.agent}'"
    return Proposal(message=text, actions=(ask(about, text, needed),))
