"""The answer to a question for the context: one line, `CTX:<n>%`, below the question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from koboshi.adapters.pasted import bare
from koboshi.core.events import Ending, SignalRead, Source
from koboshi.core.readings import ContextUse, Status

from .hands import done, failed

if TYPE_CHECKING:
    from koboshi.core.actions import Send
    from koboshi.core.events import Outcome

    from .hands import Glance, Hands

_ANSWER = re.compile(r"CTX:(\d{1,3})%")
_OVER = (Status.GONE, Status.ASKING, Status.FAILED, Status.LIMITED)


def asks(action: Send) -> bool:
    """Whether that message is such a question."""
    return action.about.startswith("probe")


def answer_in(glance: Glance, text: str) -> float | None:
    """What the agent said below the question; an older answer stands above it."""
    _, echo, below = bare("".join(glance.reading.lines)).rpartition(bare(text))
    found = _ANSWER.search(below) if echo else None
    return min(100.0, float(found[1])) if found else None


async def answered(hands: Hands, sent: Outcome, action: Send) -> Outcome:
    """Wait for the answer, and tell of it."""
    if sent.ending is not Ending.DONE:
        return sent

    def over(glance: Glance) -> bool:
        return answer_in(glance, action.text) is not None or glance.reading.status in _OVER

    glance = await hands.until(over, hands.view().settings.probe_timeout)
    used = answer_in(glance, action.text) if glance is not None else None
    if used is None:
        return failed("no answer came in time")
    use = ContextUse(used=used, source="probe")
    hands.tell(SignalRead(run=action.run, source=Source.SCREEN, context=use))
    return done(f"the agent says: {used:g}% used")
