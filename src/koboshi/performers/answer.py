"""Answer: press the key of the option that was chosen, once, and see the question go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.readings import Status, ran_between

from .hands import Skipped, done, failed, readable, skipped

if TYPE_CHECKING:
    from koboshi.core.actions import Answer
    from koboshi.core.events import Outcome
    from koboshi.core.readings import Prompt

    from .hands import Glance, Hands

#: Seconds for a dialog to close after its key.
CLOSES = 5.0
#: Seconds for the selection to move.
MOVES = 2.0


def _asked(glance: Glance, action: Answer) -> Prompt | None:
    """The question that was decided about, if it is what the screen shows."""
    reading = glance.reading
    if not glance.seen.alive or reading.status is not Status.ASKING or reading.prompt is None:
        return None
    return reading.prompt if reading.prompt.fingerprint == action.fingerprint else None


async def answer(action: Answer, hands: Hands) -> Outcome:
    """Look, press, look."""
    hands.at_place(action.run)
    hands.touch(action.key)
    before = await hands.fresh_look()
    prompt = _asked(before, action)
    if prompt is None:
        raise Skipped("the question is not there any more")
    keys = hands.adapter.keys_for(prompt, action.choice)
    if keys is None:
        return failed(f"no option means {action.choice.value!r}")
    if len(keys) > 1 and not await _move(action, hands, keys[:-1]):
        return failed("the selection did not move to the option")
    await hands.keys(keys[-1:])
    above = before.reading.lines

    def closed(glance: Glance) -> bool:
        lines = glance.reading.lines
        return _asked(glance, action) is None or ran_between(above, lines, prompt.subject)

    gone = await hands.until(closed, CLOSES)
    if gone is None:
        return failed("the question is still there after the key")
    if _asked(gone, action) is not None:
        return done("answered; a question with the same words followed")
    return done("answered, and seen to be gone")


async def _move(action: Answer, hands: Hands, moves: tuple[str, ...]) -> bool:
    """Move the selection and verify it; Enter takes whatever is selected."""
    await hands.keys(moves)

    def there(glance: Glance) -> bool:
        prompt = _asked(glance, action)
        return prompt is not None and prompt.selected == prompt.index_of(action.choice)

    # Enter takes whatever is selected: the last look before it must be a fresh one.
    return await hands.until(there, MOVES) is not None and there(await hands.patient_look())


async def settle_answer(action: Answer, hands: Hands) -> Outcome:
    """The key may have been pressed: never press it again; the same words may be a new question."""
    if hands.place is None or hands.place.run != action.run:
        return failed("in doubt; the run is over")
    glance = await readable(hands)
    if glance is None:
        return failed("in doubt: the key may have been pressed, and the screen cannot be read")
    if _asked(glance, action) is None:
        return done("in doubt; the question is not there any more")
    return failed("in doubt: the key may have been pressed, and the question is still there")


def not_begun() -> Outcome:
    """What an action is that was never marked as touching the outside."""
    return skipped("the supervisor ended before it acted")
