"""What an error calls for, and how long it is waited out. Rules of several families ask for it."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from koboshi.core.events import Source
from koboshi.core.readings import Status

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.settings import Settings
    from koboshi.core.view import View


RETRY, SKIP, RESET, RESTART = "retry", "skip", "reset", "safe-restart"
#: Seconds that a wait the API asks for may last.
LONGEST = 3600.0
#: What an account says that has nothing left.
_EMPTY = ("credit", "quota")
#: Failures after which the wait does not double any more; an outage may bring thousands.
_DOUBLINGS = 30


def code_of(view: View) -> str:
    """The error that the last turn ended in."""
    error = view.sight.error
    return (error.code if error else view.faults[-1].code if view.faults else "") or "error"


def cure_of(view: View) -> str:
    """What `on_error` says about it; a code that is not named there is retried."""
    return cure_for(view.settings, code_of(view))


def cure_for(settings: Settings, code: str) -> str:
    """What is to be done about an error of that code."""
    said = dict(settings.on_error)
    return said.get(code) or said.get(f"{code[:1]}xx") or RETRY


def errors_alike(view: View, now: Moment) -> int:
    """Turns that ended in an error of that kind: within the window, or in a row if that is more.

    After an outage of hours one refused request is the first of its kind.
    """
    wanted, start = cure_of(view), now.at - view.settings.errors_window
    alike = [cure_for(view.settings, fault.code or "error") == wanted for fault in view.faults]
    recent = sum(same and fault.at > start for same, fault in zip(alike, view.faults, strict=True))
    row = len(list(takewhile(bool, reversed(alike))))
    return max(recent, min(row, view.tally.failures))


def is_empty(view: View) -> bool:
    """Whether the account has nothing left: no wait mends that, but a person may."""
    return code_of(view) in _EMPTY


def passing(view: View) -> bool:
    """Whether its turns fail by something that ends by itself: then it can neither save nor load.

    What is due waits for the end of that; done now, it would only use up its tries.
    """
    return view.status is Status.FAILED and view.tally.failures > 0 and cure_of(view) == RETRY


def patience(view: View) -> float:
    """Seconds before a failed turn is tried again; more where the API asks for it.

    More than an hour is a slip there, or somebody's joke.
    """
    settings, error, told = view.settings, view.sight.error, view.clue(Source.TRANSCRIPT)
    doublings = min(max(0, view.tally.failures - 1), _DOUBLINGS)
    wait = min(settings.failed_max, settings.failed_base * 2.0**doublings)
    if is_empty(view):
        wait = max(wait, settings.limit_blind)
    asked = (error.wait if error is not None else 0.0, told.wait if told is not None else 0.0)
    return max(wait, min(LONGEST, max(asked)))
