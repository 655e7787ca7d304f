"""ERR: turns that end in an error.

A number in ordinary text is no error: what counts is a turn that ended in one, once, however long
it stays on the screen. A CLI that retries by itself is `working` and is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Notify, Send
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule
from koboshi.wording import in_a_row, times

from .asking import ask
from .context import refresh_for
from .outages import (
    RESET,
    RESTART,
    RETRY,
    SKIP,
    code_of,
    cure_of,
    errors_alike,
    is_empty,
    patience,
)

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Moment
    from koboshi.core.view import View


_LOGIN = ("401", "login")


def _failed(view: View) -> bool:
    return view.status is Status.FAILED and not view.restarting and not view.retrying


def _wanted(view: View, now: Moment) -> str:
    """What is to be done about it: few errors are retried, whatever they are."""
    fresh = view.tally.turns == 0  # the error of the run before, which is tried again
    few = errors_alike(view, now) < view.settings.errors_max
    return RETRY if fresh or few else cure_of(view)


def _cures(view: View, now: Moment) -> tuple[Action, ...]:
    """The restart that the error calls for."""
    wanted = _wanted(view, now)
    if wanted not in (RESET, RESTART):
        return ()
    return refresh_for(view, f"error {code_of(view)}", back=wanted == RESTART, cure=True)


@rule("ERR001", "turn-failed", Severity.P1, Status.FAILED)
def turn_failed(view: View, now: Moment) -> Proposal | None:
    """The turn ended in an API error and the agent sits at its prompt.

    ## Why
    After its own retries a CLI gives up quietly; nobody retries for it.

    ## Example
    `API Error: Repeated 529 Overloaded errors`: after 30 s `continue`, then 60 s, 120 s …, at last
    every ten minutes for as long as it takes; later where the error says so (`try again in 5
    minutes`).

    ## Safety
    Safe. A CLI that is still retrying is `working` and is left alone.
    """
    settings, tally = view.settings, view.tally
    if not _failed(view) or _wanted(view, now) != RETRY or view.run.open:
        return None
    wait = patience(view)
    if view.age(now) < wait or tally.nudges >= settings.nudges_max:
        return None
    if is_empty(view) and tally.failures > settings.nudges_max:
        return None  # ERR007 has told a person, who may fill it up and acknowledge
    send = Send(
        run=view.run.number,
        text=settings.retry_text or settings.continue_text,
        about=f"failed{tally.turns}.{tally.settled}.{tally.nudges}",
    )
    message = f"the turn failed ({code_of(view)}), {wait:g} s ago or more"
    return Proposal(message=message, actions=(send,), evidence=view.belief.evidence)


@rule("ERR002", "failing-again-and-again", Severity.P0, Status.FAILED)
def failing_again_and_again(view: View, now: Moment) -> Proposal | None:
    """Turn after turn ends in an error that trying again cannot mend, and its cure was tried.

    ## Why
    A wrong key or a request that is refused as such does not heal by trying.

    ## Example
    `401` again after the one restart that it gets; or five messages that could not be typed.

    ## Safety
    Safe. It tells a person; nothing more is sent until `acknowledge`.
    """
    most, tally = view.settings.nudges_max, view.tally
    if not _failed(view):
        return None
    helpless = _wanted(view, now) in (RESET, RESTART) and not _cures(view, now)
    cured = tally.cures > 0 and _wanted(view, now) != RETRY
    if tally.nudges < most and not helpless and not cured:
        return None
    text = f"{view.context.agent} failed {in_a_row(tally.failures)} ({code_of(view)})"
    about = f"{view.run.number}.failing{tally.turns}.{tally.settled}"
    return Proposal(
        message=text,
        actions=(ask(about, text, f"mend the cause, then 'koboshi ack {view.context.agent}'"),),
        evidence=view.belief.evidence,
    )


@rule("ERR003", "request-refused", Severity.P1, Status.FAILED)
def request_refused(view: View, now: Moment) -> Proposal | None:
    """The API refuses what this task asks of it, again and again.

    ## Why
    What is refused as such (400, 403, 404) is refused the next time, too. One task is given up
    rather than the night.

    ## Example
    Three `API Error: 400` in five minutes: the agent is told to leave the task, to write cause and
    reproduction into the tasks file, and to go on with the next one.

    ## Safety
    Safe. One message until a turn ends well; then a person is asked.
    """
    if not _failed(view) or _wanted(view, now) != SKIP or view.tally.cures:
        return None
    file = view.settings.tasks or "the tasks file"
    text = (
        f"The API has refused this again and again (error {code_of(view)}). Leave this task: write "
        f"the cause, and how to reproduce it, into {file}, and go on with the next task."
    )
    about = f"skip{view.tally.turns}.{view.tally.settled}"
    send = Send(run=view.run.number, text=text, about=about)
    count = errors_alike(view, now)
    message = f"refused {times(count)} ({code_of(view)})"
    return Proposal(message=message, actions=(send,), evidence=view.belief.evidence)


@rule("ERR004", "run-broken-by-errors", Severity.P1, Status.FAILED)
def run_broken_by_errors(view: View, now: Moment) -> Proposal | None:
    """This run cannot go on: its login is refused, or its context does not fit any more.

    ## Why
    A new process reads its login anew; a fresh one has room. More of the same has neither.

    ## Example
    Three `401`: noted down, ended, and the same session resumed in a new process. `Context limit
    reached`: noted down, ended, and a fresh run gets the note.

    ## Safety
    Safe. Once until a turn ends well, within the restart budget; then a person is asked.
    """
    if not _failed(view) or view.tally.cures:
        return None
    actions = _cures(view, now)
    if not actions:
        return None
    message = f"{errors_alike(view, now)} errors ({code_of(view)})"
    return Proposal(message=message, actions=actions, evidence=view.belief.evidence)


@rule("ERR005", "login-refused", Severity.P0, Status.FAILED)
def login_refused(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The API does not accept the agent's login.

    ## Why
    Most often only a person can mend it, and the sooner the better.

    ## Example
    `Invalid API key`: `a1: its login was refused (401); log in again`.

    ## Safety
    Safe. It tells a person, once per run.
    """
    if not _failed(view) or code_of(view) not in _LOGIN:
        return None
    text = f"{view.context.agent}: its login was refused ({code_of(view)}); log in again"
    about = f"{view.run.number}.login{view.tally.settled}"
    note = Notify(about=about, text=text, severity=Severity.P0)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)


@rule("ERR006", "outage-goes-on", Severity.P1, Status.FAILED)
def outage_goes_on(view: View, now: Moment) -> Proposal | None:
    """Turn after turn ends in an error that passes by itself, for a long time already.

    ## Why
    An outage is nobody's fault and nobody's task; but whoever looks at the clock in the morning
    wants to know where the night went.

    ## Example
    Six turns in a row ended in `529`: `a1: 6 turns in a row have failed (529)`. It is tried again
    every ten minutes until a turn gets an answer.

    ## Safety
    Safe. It tells a person, once until a turn ends well; nobody has to acknowledge it.
    """
    tally = view.tally
    if not _failed(view) or tally.failures <= view.settings.nudges_max:
        return None
    if _wanted(view, now) != RETRY or is_empty(view):
        return None
    count, code = tally.failures, code_of(view)
    turns = "a turn has" if count == 1 else f"{count} turns in a row have"
    text = f"{view.context.agent}: {turns} failed ({code}); "
    text += "it is tried again until one does not"
    about = f"outage{tally.rows}.{tally.settled}"
    note = Notify(about=about, text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)


@rule("ERR007", "account-empty", Severity.P0, Status.FAILED)
def account_empty(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The account has no credit or quota left.

    ## Why
    It does not fill up by itself, or only with the next month: trying again all night is noise.

    ## Example
    `Credit balance too low`: `a1: its account has nothing left (credit)`. It is tried again once
    an hour (`limit_blind`), five times (`nudges_max`), and then after `acknowledge`.

    ## Safety
    Safe. It tells a person, once until a turn ends well.
    """
    if not _failed(view) or not is_empty(view):
        return None
    text = f"{view.context.agent}: its account has nothing left ({code_of(view)})"
    about = f"{view.run.number}.empty{view.tally.rows}.{view.tally.settled}"
    escalate = ask(about, text, "fill it up")
    return Proposal(message=text, actions=(escalate,), evidence=view.belief.evidence)
