"""Many clues with ages → one status with its evidence, and an honest `unknown`.

Order of trust: a process that ended has ended, whatever else is said. Then the screen, because it
proves presence, against the agent's own registry, which is a level as well. Hooks and the
transcript are edges: they add identity, name contradictions, and never revive anything.

| screen ↓ registry → | busy | idle | waiting |
|---|---|---|---|
| working | working | working; nothing moves: contradiction | contradiction |
| idle, failed | working while it moves, else contradiction | idle, failed | contradiction |
| asking (not a picker) | contradiction | contradiction | asking |
| limited, picker | what the screen says | what the screen says | what the screen says |
| at its box, end not seen | working | unknown while it moves, then idle | unknown |
| unknown | working | unknown | unknown |
| blank | starting, then unknown | starting, then unknown | starting, then unknown |

Rule 1: a contradiction is `unknown`, after a grace time in which the screen is believed.
Rule 2: only a screen that can be read makes `asking` or `idle`: those lead to keys.
Rule 3: edges are asked where the registry does not agree with the screen. A turn that ended under a
spinner that stands still is a contradiction; an error that ended it under a quiet prompt, `failed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .events import Source
from .readings import PromptKind, Status

if TYPE_CHECKING:
    from .events import Moment
    from .view import Clue, View

#: (status, reason, evidence)
Ruling = tuple[Status, str, tuple[str, ...]]

_AT_REST = (Status.IDLE, Status.FAILED)


def resolve(view: View, now: Moment) -> Ruling:
    """The status that the clues add up to at that time."""
    clues = {clue.source: clue for clue in view.clues}
    process, screen = clues.get(Source.PROCESS), clues.get(Source.SCREEN)
    if process is not None and process.status is Status.GONE:
        return Status.GONE, process.reason, process.evidence
    if screen is None:
        return _not_seen(view, now)
    if screen.status is Status.STARTING:
        return _blank(view, screen, now)
    registry = clues.get(Source.REGISTRY)
    if registry is not None:
        ruling = _against_registry(view, screen, registry, now)
        if ruling is not None:
            return ruling
    agreed = registry is not None and registry.status is screen.status
    for edge in (clues.get(Source.HOOK), clues.get(Source.TRANSCRIPT)):
        if edge is not None and not agreed and _frozen_after_end(view, screen, edge, now):
            return _contradiction(screen, edge, "said the turn ended")
    written = clues.get(Source.TRANSCRIPT)
    if written and written.status is Status.FAILED and screen.status is Status.IDLE:
        return Status.FAILED, written.reason, (*screen.evidence, *written.evidence)
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


def _against_registry(view: View, screen: Clue, registry: Clue, now: Moment) -> Ruling | None:
    """What the two levels say together; None: the screen's word stands."""
    shown, told = screen.status, registry.status
    both = (*screen.evidence, registry.reason, *registry.evidence)
    if shown is Status.UNKNOWN:
        status = Status.WORKING if told is Status.WORKING else Status.UNKNOWN
        still = now.at - max(view.sight.moved_at, registry.since) > view.settings.grace
        if told is Status.IDLE and view.sight.unended and still:
            status = Status.IDLE
        return status, f"{screen.reason or 'unreadable'}; {registry.reason}", both
    picker = view.question is not None and view.question.prompt.kind is PromptKind.PICKER
    rests = shown in _AT_REST and told in _AT_REST
    if shown is told or rests or shown in (Status.LIMITED, Status.GONE) or picker:
        return None
    moves = now.at - view.sight.moved_at <= view.settings.grace
    if moves and shown in _AT_REST and told is Status.WORKING:
        return Status.WORKING, f"the screen moves; {registry.reason}", both
    if moves and shown is Status.WORKING and told is Status.IDLE:
        return None
    if now.at - max(screen.since, registry.since) <= view.settings.grace:
        return None
    return _contradiction(screen, registry, f"says {told.value}")


def _contradiction(screen: Clue, other: Clue, told: str) -> Ruling:
    reason = f"contradiction: the screen says {screen.status}, the {other.source} {told}"
    return Status.UNKNOWN, reason, (*screen.evidence, other.reason, *other.evidence)


def _frozen_after_end(view: View, screen: Clue, edge: Clue, now: Moment) -> bool:
    """A spinner that stopped moving before an edge reported the end of the turn."""
    if screen.status is not Status.WORKING or edge.status is Status.WORKING:
        return False
    frozen = edge.at >= view.sight.moved_at
    return frozen and now.at - max(edge.at, view.sight.moved_at) > view.settings.grace
