"""What the monitor log says: each judgement with its reason, every keystroke, every turn of events.

Looks and signals that changed nothing are left to the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core import events as on
from koboshi.hosts.base import Key
from koboshi.store.wording import action_words, event_words, verdict_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koboshi.core.engine import Decision
    from koboshi.core.readings import Status
    from koboshi.core.view import View
    from koboshi.hosts.base import Keystroke

#: Events that are told whatever they change.
_TOLD = (
    on.ActionFinished,
    on.OrderGiven,
    on.PersonTyped,
    on.RunExited,
    on.RunStarted,
    on.SupervisorStarted,
)


def minutes(
    event: on.Event, before: Status | None, view: View, decisions: tuple[Decision, ...]
) -> Iterator[str]:
    """The lines about one event: what happened, what is believed now, what was decided."""
    if isinstance(event.body, _TOLD):
        yield f"{event.id} {event_words(event.body)}"
    if view.status is not before:
        evidence = f" ({' · '.join(view.belief.evidence)})" if view.belief.evidence else ""
        yield f"{event.id} {view.status.value}: {view.belief.reason}{evidence}"
    for decision in decisions:
        finding = decision.finding
        done = f"{action_words(decision.action)} – {verdict_words(decision.verdict)}"
        yield f"{event.id} {finding.code} {finding.message} → {done}"


def stroke_words(strokes: tuple[Keystroke, ...]) -> str:
    """What was typed, in order."""
    said = (f"key {s.name}" if isinstance(s, Key) else f"text {s.text!r}" for s in strokes)
    return f"typed: {', '.join(said)}"
