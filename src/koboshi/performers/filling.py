"""Fill in the form of an agent's own question: tick, type, hand in, and see each before the next.

Rule 1: a digit ticks a box, but goes into the text where the row to type into is selected: what is
selected is looked at before every key.
Rule 2: what is ticked or typed already is a person's, unless it is what is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.forms import form_of
from koboshi.core.readings import Meaning, PromptKind, Status, picked

from .hands import Skipped, done, failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.adapters.forms import Form
    from koboshi.core.actions import Answer
    from koboshi.core.events import Outcome
    from koboshi.core.readings import Prompt

    from .hands import Glance, Hands

#: Seconds for a tick, a move or a text to show, and for the form to close.
SHOWS, CLOSES, BLINK = 2.0, 5.0, 0.05
#: Characters of a long text that a row must show, and a review.
_ENOUGH, _SHOWN = 30, 60
_REVIEW, _HAND_IN = "Ready to submit your answers?", "Submit answers"


class _Lost(Exception):
    """It does not show what it should: nothing more is pressed."""


def fills(prompt: Prompt, action: Answer) -> bool:
    """Whether that answer takes more than one key on an option."""
    form = form_of(prompt)
    if form is None or action.choice is not Meaning.OTHER or not action.text:
        return False
    named = picked(action.text, tuple(option.text for option in prompt.options))
    if not set(named) <= set(form.labels):
        return False  # one of its own rows
    return form.on is not None or not named


async def fill(action: Answer, hands: Hands, prompt: Prompt) -> Outcome:
    """Give that answer; the form was just looked at."""
    form = form_of(prompt)
    chosen = picked(action.text, form.labels) if form else ()
    ticked = [option.text for option in prompt.options if option.checked]
    if form is None or form.typed or not set(ticked) <= set(chosen):
        raise Skipped("somebody is filling it in")
    filling = _Filling(hands, form)
    words = " ".join(action.text.split())
    try:
        if chosen:
            await filling.tick(prompt, chosen)
        else:
            await filling.write(words)
        await filling.hand_in(", ".join(chosen) or words)
    except _Lost as lost:
        return failed(f"in doubt: {lost}")
    return done("answered, and seen to be gone")


class _Filling:
    """One form, until it is gone."""

    def __init__(self, hands: Hands, form: Form) -> None:
        self._hands, self._form = hands, form

    async def tick(self, prompt: Prompt, chosen: tuple[str, ...]) -> None:
        """Tick these boxes, one after the other."""
        for index, label in enumerate(self._form.labels):
            if label not in chosen or prompt.options[index].checked:
                continue
            if prompt.selected == self._form.free:
                prompt = await self._move(index)
            await self._hands.keys((prompt.options[index].key,))
            prompt = await self._until(
                lambda now, index=index: now.options[index].checked is True,  # type: ignore[misc]
                f"{label!r} is not ticked after its key",
            )

    async def write(self, words: str) -> None:
        """Type them into their row."""
        await self._move(self._form.free)
        await self._hands.paste(words)

        def typed(now: Prompt) -> bool:
            form = form_of(now)
            shown = _bare(form.typed) if form else ""
            whole = shown == _bare(words) or (
                len(shown) > _ENOUGH and _bare(words).startswith(shown)
            )
            return whole and now.selected == self._form.free

        await self._until(typed, "its row does not show what was typed")

    async def hand_in(self, answer: str) -> None:
        """Send it off, and see it go; some forms show once more what they were told."""
        if self._form.on is not None:
            await self._move(self._form.on)
        await self._hands.keys(("Enter",))
        after = await self._hands.until(self._moved_on, CLOSES, every=BLINK)
        if after is None:
            raise _Lost("the question is still there after the key")
        review = _review(after)
        if review is None:
            return
        wanted = _unquoted(f"→ {answer}")[:_SHOWN]

        def right(now: Glance) -> bool:
            return _review(now) is not None and wanted in _unquoted(now.seen.text)

        # It is drawn in more than one piece.
        await self._hands.until(right, SHOWS, every=BLINK)
        if not right(await self._hands.patient_look()):
            raise _Lost("what it shows for review is another answer")
        await self._hands.keys((review,))
        if await self._hands.until(lambda now: _review(now) is None, CLOSES, every=BLINK) is None:
            raise _Lost("its review is still there after the key")

    async def _move(self, index: int) -> Prompt:
        """Select that row, and see it selected."""
        prompt = await self._until(lambda now: now.selected is not None, "no row of it is selected")
        while prompt.selected != index:
            # One at a time: of several at once some are lost.
            was = prompt.selected or 0
            await self._hands.keys(("Down" if index > was else "Up",))
            prompt = await self._until(
                lambda now, was=was: now.selected not in (was, None),  # type: ignore[misc]
                "the selection did not move",
            )
        return prompt

    async def _until(self, shows: Callable[[Prompt], bool], why: str) -> Prompt:
        """The form as a fresh look shows it, once that is so."""

        def so(glance: Glance) -> bool:
            prompt = self._prompt(glance)
            return prompt is not None and shows(prompt)

        await self._hands.until(so, SHOWS, every=BLINK)
        prompt = self._prompt(await self._hands.patient_look())
        if prompt is None or not shows(prompt):
            raise _Lost(why)
        return prompt

    def _prompt(self, glance: Glance) -> Prompt | None:
        prompt = glance.reading.prompt
        return prompt if glance.seen.alive and self._form.same(form_of(prompt)) else None

    def _moved_on(self, glance: Glance) -> bool:
        veiled = glance.reading.status in (Status.UNKNOWN, Status.STARTING)
        return not veiled and self._prompt(glance) is None


def _review(glance: Glance) -> str | None:
    """The key that hands the answers in, where they are shown once more."""
    prompt = glance.reading.prompt
    if prompt is None or prompt.kind is not PromptKind.QUESTION or prompt.question != _REVIEW:
        return None
    return next((each.key for each in prompt.options if each.text == _HAND_IN and each.key), None)


def _bare(text: str) -> str:
    return "".join(text.split())


def _unquoted(text: str) -> str:
    """Newer ones put words with a comma into quotes."""
    return _bare(text.replace('"', ""))
