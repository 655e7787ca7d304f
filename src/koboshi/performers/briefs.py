"""A note that a run has from its start, before anybody types: where its CLI can be told so.

It carries a number that stands nowhere else: whoever says it has the note. Where the run did not
take its brief, or cannot say the number, the note goes in as a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi._hook import TOLD
from koboshi.core.actions import Load
from koboshi.core.events import Origin
from koboshi.core.view import Stage

from . import commands, handover
from .equipping import waiting_brief, was_briefed
from .hands import POLL

if TYPE_CHECKING:
    from koboshi.core.actions import Start

    from .hands import Hands

#: Seconds for a run at its prompt to take its brief; one whose hooks are off never does.
TAKES = 5.0


def brief_for(action: Start, hands: Hands) -> str:
    """What that run is to know from its start; empty: nothing, or it is told in another way."""
    refresh = hands.view().refresh
    if action.origin is not Origin.FRESH or refresh is None or refresh.stage is not Stage.STARTING:
        return ""
    load = Load(run=action.run, name=refresh.note, nth=0)
    note = handover.kept(hands, refresh.note) if refresh.note else ""
    if not note or commands.text_for(load, hands):
        return ""
    headline = handover.headline(refresh.note, action.run)
    return f"{headline} The run before you has ended; this is what it left for you.\n\n{note}"


async def taken_or_withdrawn(action: Load, hands: Hands) -> None:
    """See the brief taken, or take it back: a prompt is drawn before the hooks of a start have run.

    Renamed by the shim or removed by us: one of the two finds it, so it is never told twice.
    """
    deadline = hands.now().at + TAKES
    while (path := waiting_brief(action.run, hands)) is not None:
        if hands.now().at >= deadline:
            path.with_name(path.name + TOLD).unlink(missing_ok=True)  # of a start that failed
            path.unlink(missing_ok=True)
            return
        await hands.sleep(POLL)


def was_told(action: Load, hands: Hands) -> bool:
    """Whether that run has its note already; one that could not prove it is told in words."""
    return action.nth == 0 and was_briefed(action.run, hands)


def reminder(run: int) -> str:
    """The first message to a run that has its note: it names no number that it could repeat."""
    return (
        f"You are run {run} of this work, with an empty context; the run before you has ended. Its "
        "hand-over note was given to you when this session began. Begin your answer with the "
        "number of that note between two colons, without blanks, then go on with the work at once."
    )
