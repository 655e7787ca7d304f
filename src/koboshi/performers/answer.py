"""Answer: through the hook that waits for it, or by the key of the option that was chosen.

Rule 1: one of the two, and once. Where a hook waits no key is pressed, whatever the screen shows.
Rule 2: an option is chosen by its meaning or its words, and seen to be selected before Enter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from koboshi.adapters.asking import decision
from koboshi.core.readings import Meaning, Status, ran_between

from .filling import fill, fills
from .hands import Skipped, done, failed, readable, skipped

if TYPE_CHECKING:
    from koboshi.core.actions import Answer
    from koboshi.core.events import Outcome
    from koboshi.core.readings import Prompt

    from .hands import Glance, Hands

#: Seconds for a dialog to close after its key.
CLOSES = 5.0
#: Seconds in which it mostly does, and between two looks meanwhile: the next dialog may have the
#: same words, and then the moment between the two is all that tells them apart.
SOON, BLINK = 1.0, 0.03
#: Seconds for the selection to move.
MOVES = 2.0
#: Seconds that a dialog stands before it is answered. Claude Code draws its first one twice and
#: takes no key in the first moments of any: a key that is lost there cannot be told from one that
#: arrived, and the question would be left to a person.
STANDS = 0.4
#: A meaning that nobody asks for.
_NOT = Meaning.WAIT


def _asked(glance: Glance, action: Answer) -> Prompt | None:
    """The question that was decided about, if it is what the screen shows."""
    reading = glance.reading
    if not glance.seen.alive or reading.status is not Status.ASKING or reading.prompt is None:
        return None
    return reading.prompt if reading.prompt.fingerprint == action.fingerprint else None


def _chosen(prompt: Prompt, action: Answer) -> Prompt:
    """The question, with nothing but the wanted option meaning what is wanted."""
    if not action.text:
        return prompt
    wanted = action.text.strip().casefold()
    options = tuple(
        replace(each, meaning=Meaning.OTHER if each.text.strip().casefold() == wanted else _NOT)
        for each in prompt.options
    )
    return replace(prompt, options=options)


async def _through_hook(action: Answer, hands: Hands) -> Outcome:
    """Give the answer to the hook that waits for it; not taken is not given: it is looked again."""
    line = hands.held(action.ticket)
    if line is None:
        raise Skipped("nobody waits for it any more")
    words = decision(line.payload, action.choice, text=action.text, reason=action.reason)
    if words is None:
        raise Skipped("that cannot be said through the hook")
    hands.touch(action.key)
    if await line.say(words):
        return done("answered through the hook")
    raise Skipped("the hook did not take the answer")


async def answer(action: Answer, hands: Hands) -> Outcome:
    """Look, press, look."""
    hands.at_place(action.run)
    if action.ticket:
        return await _through_hook(action, hands)
    hands.touch(action.key)
    before = await _settled(action, hands)
    prompt = _asked(before, action)
    if prompt is None:
        raise Skipped("the question is not there any more")
    if hands.view().held:
        raise Skipped("a hook waits for the answer")
    if fills(prompt, action):
        return await fill(action, hands, prompt)
    keys = hands.adapter.keys_for(_chosen(prompt, action), action.choice)
    if keys is None:
        wanted = action.text or action.choice.value
        return failed(f"no option means {wanted!r}")
    if len(keys) > 1 and not await _move(action, hands, keys[:-1]):
        return failed("the selection did not move to the option")
    await hands.keys(keys[-1:])
    above = before.reading.lines

    def closed(glance: Glance) -> bool:
        lines = glance.reading.lines
        return _asked(glance, action) is None or ran_between(above, lines, prompt.subject)

    gone = await hands.until(closed, SOON, every=BLINK) or await hands.until(closed, CLOSES)
    if gone is None:
        return failed("the question is still there after the key")
    if _asked(gone, action) is not None:
        return done("answered; a question with the same words followed")
    return done("answered, and seen to be gone")


async def _settled(action: Answer, hands: Hands) -> Glance:
    """The last look before the key, at a dialog that has stood for a moment."""
    first = await hands.fresh_look()
    if _asked(first, action) is None:
        return first
    question = hands.view().question
    stood = hands.now().at - question.since if question is not None else 0.0
    if stood < STANDS:
        await hands.sleep(STANDS - max(0.0, stood))
    return await hands.fresh_look()


async def _move(action: Answer, hands: Hands, moves: tuple[str, ...]) -> bool:
    """Move the selection and verify it; Enter takes whatever is selected."""
    await hands.keys(moves)

    def there(glance: Glance) -> bool:
        prompt = _asked(glance, action)
        if prompt is None:
            return False
        return prompt.selected == _chosen(prompt, action).index_of(action.choice)

    # Enter takes whatever is selected: the last look before it must be a fresh one.
    return await hands.until(there, MOVES) is not None and there(await hands.patient_look())


async def settle_answer(action: Answer, hands: Hands) -> Outcome:
    """The key may have been pressed: never press it again; the same words may be a new question."""
    if action.ticket:
        # No key was pressed, and the line died with who held it: what stands there is looked at.
        raise Skipped("in doubt; its line is gone")
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
