"""ERR: turns that end in an error.

A number in ordinary text is no error: what counts is a turn that ended in one, once, however long
it stays on the screen. A CLI that retries by itself is `working` and is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Escalate, Notify, Send
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .context import refresh_for

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Moment
    from koboshi.core.view import View


RETRY, SKIP, RESET, RESTART = "retry", "skip", "reset", "safe-restart"
_LOGIN = ("401", "login")
#: Seconds that a wait the API asks for may last.
LONGEST = 3600.0


def _failed(view: View) -> bool:
    return view.status is Status.FAILED and not view.restarting


def _code(view: View) -> str:
    error = view.sight.error
    return (error.code if error else view.faults[-1].code if view.faults else "") or "error"


def _asked(view: View) -> float:
    """Seconds that the API asks to wait; more than an hour is a slip, or somebody's joke."""
    error = view.sight.error
    return min(error.wait, LONGEST) if error is not None else 0.0


def _wanted(view: View, now: Moment) -> str:
    """What is to be done about it: few errors are retried, whatever they are."""
    fresh = view.tally.turns == 0  # the error of the run before, which is tried again
    if fresh or view.errors_in_window(now) < view.settings.errors_max:
        return RETRY
    said, code = dict(view.settings.on_error), _code(view)
    return said.get(code) or said.get(f"{code[:1]}xx") or RETRY


def _cures(view: View, now: Moment) -> tuple[Action, ...]:
    """The restart that the error calls for."""
    wanted = _wanted(view, now)
    if wanted not in (RESET, RESTART):
        return ()
    return refresh_for(view, f"error {_code(view)}", back=wanted == RESTART, cure=True)


@rule("ERR001", "turn-failed", Severity.P1, Status.FAILED)
def turn_failed(view: View, now: Moment) -> Proposal | None:
    """The turn ended in an API error and the agent sits at its prompt.

    ## Why
    After its own retries a CLI gives up quietly; nobody retries for it.

    ## Example
    `API Error: Repeated 529 Overloaded errors`: after 30 s `continue`, then 60 s, 120 s …; later
    where the error says so (`try again in 5 minutes`).

    ## Safety
    Safe. A CLI that is still retrying is `working` and is left alone.
    """
    settings, failures = view.settings, view.tally.failures
    if not _failed(view) or failures > settings.nudges_max or _wanted(view, now) != RETRY:
        return None
    wait = min(settings.failed_max, settings.failed_base * 2.0 ** max(0, failures - 1))
    wait = max(wait, _asked(view))
    if view.age(now) < wait or view.tally.nudges >= settings.nudges_max:
        return None
    tally = view.tally
    send = Send(
        run=view.run.number,
        text=settings.retry_text or settings.continue_text,
        about=f"failed{tally.turns}.{tally.settled}.{tally.nudges}",
    )
    message = f"the turn failed ({_code(view)}), {wait:g} s ago or more"
    return Proposal(message=message, actions=(send,), evidence=view.belief.evidence)


@rule("ERR002", "failing-again-and-again", Severity.P0, Status.FAILED)
def failing_again_and_again(view: View, now: Moment) -> Proposal | None:
    """Turn after turn ends in an error, and what koboshi can do about it was done.

    ## Why
    A wrong key or an empty account does not heal by trying.

    ## Example
    Six turns in a row ended in `529`; or `401` again after the one restart that it gets.

    ## Safety
    Safe. It tells a person; nothing more is sent until `acknowledge`.
    """
    most, tally = view.settings.nudges_max, view.tally
    if not _failed(view):
        return None
    helpless = _wanted(view, now) in (RESET, RESTART) and not _cures(view, now)
    cured = tally.cures > 0 and _wanted(view, now) != RETRY
    if tally.failures <= most and tally.nudges < most and not helpless and not cured:
        return None
    text = f"{view.context.agent} failed {tally.failures} times in a row ({_code(view)})"
    about = f"{view.run.number}.failing{tally.turns}.{tally.settled}"
    return Proposal(
        message=text,
        actions=(Escalate(about=about, text=text),),
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
        f"The API has refused this again and again (error {_code(view)}). Leave this task: write "
        f"the cause, and how to reproduce it, into {file}, and go on with the next task."
    )
    about = f"skip{view.tally.turns}.{view.tally.settled}"
    send = Send(run=view.run.number, text=text, about=about)
    count = view.errors_in_window(now)
    message = f"refused {count} times ({_code(view)})"
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
    message = f"{view.errors_in_window(now)} errors ({_code(view)})"
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
    if not _failed(view) or _code(view) not in _LOGIN:
        return None
    text = f"{view.context.agent}: its login was refused ({_code(view)}); log in again"
    about = f"{view.run.number}.login{view.tally.settled}"
    note = Notify(about=about, text=text, severity=Severity.P0)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)
