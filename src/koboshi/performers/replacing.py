"""Replacing: a program of the owner's does what koboshi would have done.

Its exit code says what came of it. A start is not believed but seen (law 9): in a pane that the
user had before, the agent has to be up in it afterwards. In a terminal of koboshi's own nobody else
can start a run, so the program says whether, and koboshi opens the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Send, Start
from koboshi.core.events import Ending

from . import lifecycle
from .hands import failed

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Outcome

    from .hands import Hands

#: Seconds that an agent has to be seen in, once the program that started it has ended.
RISES = 30.0


async def by_program(action: Action, hands: Hands) -> Outcome:
    """What the program did; void where the action itself would be."""
    if isinstance(action, Start):
        return await _started(action, hands)
    if isinstance(action, Send):
        hands.at_place(action.run)
    return await hands.instead(action)


async def _started(action: Start, hands: Hands) -> Outcome:
    place = hands.place
    if place is None or place.own:
        for each in await hands.host.find(hands.agent):
            if each.run < action.run:
                await lifecycle.check_ended(hands, each, badly=False)
        came = await hands.instead(action)
        return await lifecycle.start(action, hands) if came.ending is Ending.DONE else came
    if (await hands.fresh_look()).reading.status in lifecycle.AT_WORK:
        return await lifecycle.start(action, hands)  # a person was quicker
    came = await hands.instead(action)
    if came.ending is not Ending.DONE:
        return came
    glance = await hands.until(lambda g: g.reading.status in lifecycle.AT_WORK, RISES)
    if glance is None:
        return failed(f"{came.why}; the agent is not up in its pane after {RISES:g} s")
    return lifecycle.risen(action, hands, place, glance, came.why)
