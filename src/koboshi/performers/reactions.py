"""Whether an agent has answered a message, also where its turn was over before anybody looked.

An agent that tells of its turns only by its screen may answer between two looks. Five such answers
would look like five messages without any effect.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from koboshi.adapters.pasted import bare
from koboshi.core.events import Ending, SignalRead, Source
from koboshi.core.readings import Status, added
from koboshi.errors import HostError

from .commands import UNKNOWN

if TYPE_CHECKING:
    from koboshi.core.actions import Send
    from koboshi.core.events import Outcome

    from .hands import Glance, Hands

#: Seconds in which an answer that nobody saw coming is looked for.
QUICK = 3.0
#: Who tells of a turn, however short it was.
_TELLERS = (Source.HOOK, Source.TRANSCRIPT, Source.REGISTRY)
#: Messages that add up to an agent that does not react.
_NUDGES = ("idle", "failed", "limit")
#: Statuses from which an answer may still come.
_MAY_ANSWER = (Status.IDLE, Status.WORKING)


def is_known_by_screen(hands: Hands) -> bool:
    """Whether nothing but its screen tells of the turns of this run."""
    return all(hands.view().clue(source) is None for source in _TELLERS)


def answered(before: tuple[str, ...], after: tuple[str, ...], text: str) -> bool:
    """Whether something was printed that is neither our message nor a refusal to know it."""
    said = bare(text)
    new = [bare(row) for row in added(before, after) or ()]
    rest = [row for row in new if row and row not in said and said not in row]
    return bool(rest) and not any(word in row.lower() for row in rest for word in UNKNOWN)


async def looked_for(hands: Hands, sent: Outcome, action: Send, before: tuple[str, ...]) -> Outcome:
    """See whether it answers at once, and tell of a turn that nobody else saw."""
    counts = action.about.startswith(_NUDGES) and is_known_by_screen(hands)
    if sent.ending is not Ending.DONE or not counts:
        return sent
    turns = hands.view().tally.turns

    def is_over(glance: Glance) -> bool:
        reading = glance.reading
        rests = reading.status is Status.IDLE and answered(before, reading.lines, action.text)
        return rests or reading.status not in _MAY_ANSWER

    glance = None
    with contextlib.suppress(HostError):  # the message went in, whatever becomes of the terminal
        glance = await hands.until(is_over, QUICK)
    quick = glance is not None and glance.reading.status is Status.IDLE
    if quick and hands.view().tally.turns == turns:
        # A turn has two ends: told of one only, the agent would seem to be at work until it stirs.
        for status, reason in ((Status.WORKING, "quick_answer"), (Status.IDLE, "at_prompt")):
            told = SignalRead(run=action.run, source=Source.SCREEN, status=status, reason=reason)
            hands.tell(told)
    return sent
