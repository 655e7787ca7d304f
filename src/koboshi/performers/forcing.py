"""A refresh whose turn does not end: the turn is interrupted, and the agent seen at its prompt.

Trap: the same keys refuse an open dialog, and twice on an empty prompt they open a menu. So each is
pressed on a look that shows a turn and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.readings import Status

from .hands import Skipped, done, failed
from .typing import ready, resubmit, second_opinion

if TYPE_CHECKING:
    from koboshi.core.events import Outcome

    from .hands import Glance, Hands

#: Seconds for a turn to end after its last key.
STOPS = 10.0


def _runs(glance: Glance) -> bool:
    """Whether a turn runs there, no question is open and nobody has begun to type."""
    reading = glance.reading
    return reading.status is Status.WORKING and reading.prompt is None and not reading.draft


def _stands(glance: Glance, told: Status | None) -> bool:
    """Whether it is at its prompt, or has taken its message back."""
    reading = glance.reading
    back = bool(reading.draft) and reading.prompt is None
    return not _runs(glance) and (back or ready(reading, told))


def _told(hands: Hands) -> Status | None:
    return second_opinion(hands.view(), hands.now())


async def interrupted(hands: Hands, key: str) -> Outcome:
    """Look, press, look; done when the agent is at its prompt."""
    glance, told = await hands.fresh_look(), _told(hands)
    if ready(glance.reading, told):
        return done("its turn has ended meanwhile")
    if not _runs(glance) or told is Status.ASKING:
        raise Skipped("no turn runs there, or a question is open")
    names = hands.adapter.interrupt_keys()
    if not names:
        return failed("no keys are known that end a turn")
    hands.touch(key)
    for nth, name in enumerate(names):
        if nth:
            await hands.sleep(hands.adapter.submit_pause)
        if nth and not _runs(await hands.patient_look()):
            break
        await hands.keys((name,))
    stopped = await hands.until(lambda g: _stands(g, _told(hands)), STOPS)
    if stopped is None:
        return failed("the turn goes on after the keys that end one")
    if stopped.reading.draft:
        # Before the first token a CLI takes the message back into the box, which was empty before.
        await resubmit(hands, stopped.reading.draft)
        return failed("the turn had only begun; its message came back and was sent again")
    return done("its turn was interrupted")
