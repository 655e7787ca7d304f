"""Which question is open, whether it is real, and what stands against an answer: for the PRM rules.

Rule 1: while a hook of the agent's waits with a question, nothing is done about the screen: the
dialog is drawn there all the same, and a key would be a second answer.
Rule 2: options are chosen by what they mean, never by where they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Answer, Mode
from koboshi.core.events import Advice, Source, Stance
from koboshi.core.health import Level, examine
from koboshi.core.readings import Meaning, PromptKind, Status, picked
from koboshi.wording import in_a_row

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import Question, View

#: What a policy can say something about. Menus that a person opened are never answered, and a
#: limit's own menu is closed by waiting.
JUDGED = (PromptKind.PERMISSION, PromptKind.QUESTION, PromptKind.PLAN, PromptKind.TRUST)
#: What an agent's hooks tell of, too.
_HOOKED = (PromptKind.PERMISSION, PromptKind.QUESTION, PromptKind.PLAN)
#: Seconds for the hook of a question that is on the screen already, where the agent has hooks.
HOOK_WAIT = 3.0
#: What a person answers with, and what it means; other words are those of an option.
WORDS = {"yes": Meaning.ONCE, "no": Meaning.NO, "always": Meaning.ALWAYS}


def meant_by(order: str) -> tuple[Meaning, str, str]:
    """What a person's answer picks, the words of that option, and why not: `no: too long`."""
    word, colon, rest = order.partition(":")
    if colon and WORDS.get(word.strip().casefold()) is Meaning.NO:
        return Meaning.NO, "", rest.strip()
    choice = WORDS.get(order.casefold(), Meaning.OTHER)
    return choice, order if choice is Meaning.OTHER else "", ""


def open_questions(view: View, now: Moment) -> tuple[Question, ...]:
    """What a hook waits with, else what the screen shows and a second sign confirms."""
    if view.held:
        return view.held
    question = view.question
    if question is None or view.status is not Status.ASKING or not _confirmed(view, question):
        return ()
    return () if _hook_comes(view, question, now) else (question,)


def _confirmed(view: View, question: Question) -> bool:
    """A second look, or another signal that says the same, proves that it is real (law 11)."""
    heard = _heard(view, question)
    registry = view.clue(Source.REGISTRY)
    if registry is not None and registry.status is Status.ASKING:
        heard = heard or registry.since >= _since(view, question)
    return question.looks > 1 or heard


def _since(view: View, question: Question) -> float:
    """A word from before our last act, or long before, was about something else (law 8)."""
    return max(view.acted_at, question.since - view.settings.grace)


def _heard(view: View, question: Question) -> bool:
    hook = view.clue(Source.HOOK)
    asks = hook is not None and hook.status is Status.ASKING
    return asks and hook is not None and hook.at >= _since(view, question)


def _hook_comes(view: View, question: Question, now: Moment) -> bool:
    """Whether the agent's hook is still to tell of it: a key would come before its answer."""
    hook = view.clue(Source.HOOK)
    hooked = hook is not None and hook.at >= view.run.since
    if not hooked or question.prompt.kind not in _HOOKED or _heard(view, question):
        return False
    return now.at - question.since < HOOK_WAIT


def stopped(view: View, now: Moment) -> str:
    """Why nothing is answered by policy now; empty: nothing stands against it."""
    settings, context = view.settings, view.sight.context
    if settings.answer_context and context and context.left <= settings.answer_context:
        return f"only {context.left:g} % of its context is left"
    if settings.denies_max and view.tally.denied >= settings.denies_max:
        return f"the policy said no {in_a_row(view.tally.denied)}"
    return unsure(view, now)


def unsure(view: View, now: Moment) -> str:
    """Why it is not certain how the agent is; mostly over in a moment."""
    health = examine(view, now)
    if health.level is not Level.WELL:
        return f"its health is not certain: {', '.join(health.reasons)}"
    return ""


def choice_of(question: Question, advice: Advice) -> Meaning | None:
    """What to pick on that advice; None: a person decides, or there is no such option."""
    if advice.stance is Stance.ASK:
        return None
    if advice.stance is Stance.DENY:
        return Meaning.NO if _offers(question, Meaning.NO) else None
    if advice.text:
        return Meaning.OTHER if question.ticket or _says(question, advice.text) else None
    if question.prompt.kind is PromptKind.QUESTION:
        return None  # a bare yes says nothing
    wanted = (Meaning.ALWAYS, Meaning.ONCE) if advice.always else (Meaning.ONCE,)
    return next((each for each in wanted if _offers(question, each)), None)


def _offers(question: Question, meaning: Meaning) -> bool:
    """Whether it can be answered so; a hook takes every answer."""
    return bool(question.ticket) or question.prompt.takes(meaning)


def _says(question: Question, text: str) -> bool:
    found = picked(text, tuple(option.text for option in question.prompt.options))
    return bool(found) and (len(found) == 1 or question.prompt.several)


def answerable(view: View, question: Question, now: Moment) -> bool:
    """Whether the policy answers it by itself, in this mode and at this time."""
    advice = question.advice
    if view.settings.mode < Mode.AUTO or advice is None or question.left_to_person:
        return False
    return choice_of(question, advice) is not None and not stopped(view, now)


def answer_to(
    view: View, question: Question, choice: Meaning, *, text: str = "", reason: str = ""
) -> Answer:
    """That answer to that question."""
    return Answer(
        run=view.run.number,
        nth=question.nth,
        fingerprint=question.prompt.fingerprint,
        choice=choice,
        text=text,
        reason=reason,
        ticket=question.ticket,
    )


def plain(text: str, most: int = 300) -> str:
    """What an agent wrote, on one line and without what a terminal or a reader could obey."""
    shown = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def about(question: Question) -> str:
    """What it is about, in words that can be shown."""
    return plain(question.prompt.subject or question.prompt.question)
