"""What an error calls for, and how long it is waited out. Rules of several families ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.readings import Status

if TYPE_CHECKING:
    from koboshi.core.view import View


RETRY, SKIP, RESET, RESTART = "retry", "skip", "reset", "safe-restart"
#: Seconds that a wait the API asks for may last.
LONGEST = 3600.0
#: Failures after which the wait does not double any more; an outage may bring thousands.
_DOUBLINGS = 30


def code_of(view: View) -> str:
    """The error that the last turn ended in."""
    error = view.sight.error
    return (error.code if error else view.faults[-1].code if view.faults else "") or "error"


def cure_of(view: View) -> str:
    """What `on_error` says about it; a code that is not named there is retried."""
    said, code = dict(view.settings.on_error), code_of(view)
    return said.get(code) or said.get(f"{code[:1]}xx") or RETRY


def passing(view: View) -> bool:
    """Whether its turns fail by something that ends by itself: then it can neither save nor load.

    What is due waits for the end of that; done now, it would only use up its tries.
    """
    return view.status is Status.FAILED and view.tally.failures > 0 and cure_of(view) == RETRY


def patience(view: View) -> float:
    """Seconds before a failed turn is tried again; more where the API asks for it.

    More than an hour is a slip there, or somebody's joke.
    """
    settings, error = view.settings, view.sight.error
    doublings = min(max(0, view.tally.failures - 1), _DOUBLINGS)
    wait = min(settings.failed_max, settings.failed_base * 2.0**doublings)
    return max(wait, min(error.wait, LONGEST) if error is not None else 0.0)
