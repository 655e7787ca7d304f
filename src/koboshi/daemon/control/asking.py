"""Questions that wait for a person, and the answer one gives: for `questions` and `answer`.

An answer is an order: it goes to the agent's supervisor as an event, and what becomes of it is
watched there. The first one wins; who comes late is told what became of the question.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from koboshi.adapters.forms import form_of
from koboshi.core.actions import Answer
from koboshi.core.events import ActionFinished, Order, OrderGiven
from koboshi.core.readings import Meaning, PromptKind, Status, picked
from koboshi.errors import InputError, KoboshiError
from koboshi.rules.questions import WORDS, meant_by

from .following import watched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from koboshi.core.engine import World
    from koboshi.core.events import Event, Moment
    from koboshi.core.view import Question, View
    from koboshi.daemon.wards import Ward

_ID = re.compile(r"(?P<agent>[^:]+):(?P<question>[0-9]{1,9}\.[0-9]{1,9})", re.ASCII)
#: Rows that are shown of what a question is about.
ROWS = 40


def open_in(view: View) -> tuple[Question, ...]:
    """What is asked now; what a hook waits with stands on the screen, too."""
    if view.held:
        return view.held
    shown = view.question
    return (shown,) if shown is not None and view.status is Status.ASKING else ()


def facts_of(view: View, question: Question, now: Moment) -> dict[str, Any]:
    """One line of `questions`, but for what the agent shows of it."""
    prompt, advice = question.prompt, question.advice
    said = advice and {"verdict": advice.stance.value, "rule": advice.rule, "why": advice.why}
    return {
        "id": f"{view.context.agent}:{view.run.number}.{question.nth}",
        "agent": view.context.agent,
        "kind": prompt.kind.value,
        "question": prompt.question,
        "subject": prompt.subject,
        "tool": prompt.tool,
        "options": [{"text": o.text, "meaning": o.meaning.value} for o in prompt.options],
        "since": round(now.utc - max(0.0, now.at - question.since), 3),
        "through": "hook" if question.ticket else "keys",
        "policy": said,
        "left_to_person": question.left_to_person,
        "ordered": question.order,
    }


def shown_by_hook(payload: Mapping[str, Any]) -> list[str]:
    """What the call would do, in rows: a command, a change, or all that it was given."""
    given = payload.get("tool_input")
    if not isinstance(given, dict):
        return []
    return list(_rows(given))[:ROWS]


def _rows(given: dict[str, Any]) -> Iterator[str]:
    command, path = given.get("command"), given.get("file_path")
    if isinstance(command, str):
        yield from command.splitlines()
    elif isinstance(path, str):
        yield path
        for mark, key in (("-", "old_string"), ("+", "new_string"), ("+", "content")):
            text = given.get(key)
            if isinstance(text, str):
                yield from (f"{mark} {row}" for row in text.splitlines())
    else:
        yield from json.dumps(given, ensure_ascii=False, indent=1).splitlines()


def parsed(name: str) -> tuple[str, str]:
    """The agent and the number of its question in that id."""
    found = _ID.fullmatch(name.strip())
    if found is None:
        hint = "'koboshi questions' lists what waits"
        raise InputError(f"expected an id such as 'a1:3.2', not {name!r}", hint=hint)
    return found["agent"], found["question"]


async def answered(ward: Ward, world: World, number: str, text: str, wait: float) -> dict[str, Any]:
    """Have the question answered so, and see what comes of it."""
    view = world.view
    question = next((q for q in open_in(view) if f"{view.run.number}.{q.nth}" == number), None)
    if question is None:
        raise KoboshiError(
            f"{ward.entry.agent}:{number} is not open any more{_fate(world, number)}"
        )
    if question.order:
        raise KoboshiError(f"{ward.entry.agent}:{number} was answered already: {question.order!r}")
    word = _word(question, text)
    order = OrderGiven(order=Order.ANSWER, by="person", text=word, question=number)
    nth = question.nth

    def over(event: Event) -> str | None:
        body = event.body
        if not (isinstance(body, ActionFinished) and isinstance(body.action, Answer)):
            return None
        return body.outcome.ending.value if body.action.nth == nth else None

    return await watched(ward, order, over, wait)


def _word(question: Question, text: str) -> str:
    """The answer, if the question takes it."""
    said, prompt = text.strip(), question.prompt
    if prompt.kind is PromptKind.PICKER:
        raise InputError("that is a menu which somebody opened; koboshi does not answer it")
    meaning = WORDS.get(said.casefold())
    refusal, _, why = meant_by(said)
    if why and refusal is Meaning.NO and (question.ticket or prompt.takes(refusal)):
        return f"no: {why}"
    # To a question with choices of its own a yes says nothing.
    plain = prompt.kind is not PromptKind.QUESTION or meaning is Meaning.NO
    if meaning and plain and (question.ticket or prompt.takes(meaning)):
        return said.casefold()
    free = prompt.kind is PromptKind.QUESTION and (question.ticket or form_of(prompt))
    if said and (free or picked(said, tuple(option.text for option in prompt.options))):
        return said
    offered = ", ".join(repr(each.text) for each in prompt.options)
    raise InputError(f"expected one of its options, not {said!r}", hint=f"it offers: {offered}")


def _fate(world: World, number: str) -> str:
    """What became of a question, if koboshi did something about it."""
    run, _, nth = number.partition(".")
    key = f"{run}.question{nth}"
    for claim in reversed(list(world.ledger.claims.values())):
        action = claim.action
        if isinstance(action, Answer) and action.key.partition(".order")[0] == key:
            by = "a person" if action.order else "the policy"
            how = claim.outcome.ending.value if claim.outcome else "under way"
            return f": {by} answered {action.text or action.choice.value!r} ({how})"
    return ""
