"""End a turn by the CLI's own keys, and see the agent at its prompt.

It hangs, or goes in circles (`interrupt`), or a refresh cannot wait for its end (`interrupted`).

Trap: the same keys refuse an open dialog, and twice on an empty prompt they open a menu. So each is
pressed for itself, on a look that shows a turn and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.decode import work
from koboshi.adapters.pasted import bare
from koboshi.core.readings import Status

from .hands import Skipped, done, failed, readable, skipped
from .typing import AT_PROMPT, ready, resubmit, second_opinion

if TYPE_CHECKING:
    from koboshi.core.actions import Interrupt
    from koboshi.core.events import Outcome

    from .hands import Glance, Hands

#: Seconds for a turn to end after its last key.
STOPS = 10.0
#: What stands before a message that was sent.
_MARKS = ">❯›"


def _runs(glance: Glance) -> bool:
    """Whether a turn runs there, no question is open and nobody has begun to type."""
    reading = glance.reading
    return reading.status is Status.WORKING and reading.prompt is None and not reading.draft


def _stopped(glance: Glance) -> bool:
    return glance.reading.status in AT_PROMPT and glance.reading.prompt is None


async def interrupt(action: Interrupt, hands: Hands) -> Outcome:
    """End a turn that hangs or goes in circles; a message that comes back is sent again."""
    hands.at_place(action.run)
    still = hands.view().sight.work if action.about.startswith("hang") else None
    ended, _ = await _end_turn(hands, action.key, still=still)
    return ended


async def interrupted(hands: Hands, key: str) -> Outcome:
    """For a refresh: done when the agent is at its prompt, by our keys or before them."""
    glance = await hands.look()
    if ready(glance.reading, second_opinion(hands.view(), hands.now())):
        return done("its turn has ended meanwhile")
    ended, came_back = await _end_turn(hands, key)
    # A turn that runs again is none that can be refreshed.
    return failed(ended.why) if came_back else ended


async def _end_turn(hands: Hands, key: str, *, still: str | None = None) -> tuple[Outcome, bool]:
    """Look, press, look; and whether the message came back and runs again.

    With `still` only while the screen shows that work and no other.
    """
    names = hands.adapter.interrupt_keys()
    if not names:
        return failed("no keys are known that end a turn"), False
    hands.touch(key)
    glance = await hands.fresh_look()
    if not _runs(glance) or second_opinion(hands.view(), hands.now()) is Status.ASKING:
        raise Skipped("no turn runs there, or a question is open")
    if still is not None and work(glance.seen) != still:
        raise Skipped("it has moved")
    await hands.keys(names[:1])
    for name in names[1:]:
        await hands.sleep(hands.adapter.submit_pause)
        if not _runs(await hands.patient_look()):
            break
        await hands.keys((name,))
    return await _seen_to_stop(hands, before=glance)


async def _seen_to_stop(hands: Hands, *, before: Glance) -> tuple[Outcome, bool]:
    stopped = await hands.until(_stopped, STOPS)
    if stopped is None:
        return failed("the turn goes on after the keys that end one"), False
    draft = stopped.reading.draft
    if not draft:
        return done("interrupted, and seen at its prompt"), False
    if not _was_sent(draft, before):
        return done("interrupted; a line stands in the box that was not sent before"), False
    # Before the first token a CLI takes the message back into the box, which was empty before.
    # It would be taken for a person's line there, and the note to a next run would not have it.
    again = await resubmit(hands, draft)
    return done(f"interrupted; the message came back and was sent again: {again.why}"), True


def _was_sent(draft: str, before: Glance) -> bool:
    """Whether the screen showed that as a message; if not, a person has begun to type it."""
    shown, sent = bare(before.seen.text), bare(draft)
    return any(f"{mark}{sent}" in shown for mark in _MARKS)


async def settle_interrupt(action: Interrupt, hands: Hands) -> Outcome:
    """In doubt: it is at its prompt, or the rule looks at it anew."""
    if hands.place is None or hands.place.run != action.run:
        return done("in doubt; the run is over")
    glance = await readable(hands)
    if glance is not None and _stopped(glance) and not glance.reading.draft:
        return done("in doubt; it is at its prompt")
    return skipped("in doubt; looked at anew")
