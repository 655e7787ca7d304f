"""Many clues with ages → one status with its evidence, and an honest `unknown`.

Order of trust: a process that ended has ended, whatever the screen still shows; then the screen,
because it proves presence; hooks add identity and name contradictions, and never revive anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .readings import Status
from .view import Source

if TYPE_CHECKING:
    from .events import Moment
    from .view import Clue, View

#: (status, reason, evidence)
Ruling = tuple[Status, str, tuple[str, ...]]


def resolve(view: View, now: Moment) -> Ruling:
    """The status that the clues add up to at that time."""
    process = screen = hook = None
    for clue in view.clues:
        if clue.source is Source.SCREEN:
            screen = clue
        elif clue.source is Source.HOOK:
            hook = clue
        else:
            process = clue
    if process is not None and process.status is Status.GONE:
        return Status.GONE, process.reason, process.evidence
    if screen is None:
        return _not_seen(view, now)
    if screen.status is Status.STARTING:
        return _blank(view, screen, now)
    if _frozen_after_end(view, screen, hook, now):
        return (
            Status.UNKNOWN,
            "contradiction: the screen says working, a hook said the turn ended",
            (*screen.evidence, hook.reason if hook else ""),
        )
    return screen.status, screen.reason, screen.evidence


def _not_seen(view: View, now: Moment) -> Ruling:
    if view.run.number == 0:
        return Status.UNKNOWN, "no run yet", ()
    if now.at - view.run.since <= view.settings.starting_max:
        return Status.STARTING, "just started", ()
    return Status.UNKNOWN, "its screen was never seen", ()


def _blank(view: View, screen: Clue, now: Moment) -> Ruling:
    if now.at - view.run.since <= view.settings.starting_max:
        return Status.STARTING, screen.reason, screen.evidence
    return Status.UNKNOWN, "empty_output: the screen stays blank", screen.evidence


def _frozen_after_end(view: View, screen: Clue, hook: Clue | None, now: Moment) -> bool:
    """A spinner that stopped moving before a hook reported the end of the turn."""
    if hook is None or screen.status is not Status.WORKING or hook.status is Status.WORKING:
        return False
    frozen = hook.at >= view.sight.moved_at
    return frozen and now.at - max(hook.at, view.sight.moved_at) > view.settings.grace
