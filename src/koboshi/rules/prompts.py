"""PRM: questions that block the agent. What may be answered, and what a person must."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Judge, Mode, Send
from koboshi.core.events import Severity, Stance
from koboshi.core.readings import Meaning, PromptKind, Status
from koboshi.core.rules import Proposal, rule
from koboshi.core.view import evolve

from .asking import ask
from .questions import (
    HOOK_WAIT,
    JUDGED,
    about,
    answer_to,
    answerable,
    choice_of,
    meant_by,
    open_questions,
    plain,
    stopped,
    unsure,
)

if TYPE_CHECKING:
    from koboshi.core.actions import Answer, Escalate
    from koboshi.core.events import Moment
    from koboshi.core.readings import Prompt
    from koboshi.core.view import Question, View

#: Seconds that a dialog stands before a person is told of it.
_SETTLED = 1.0


@rule("PRM006", "question-not-judged", Severity.P2)
def question_not_judged(view: View, now: Moment) -> Proposal | None:
    """The agent asks something, and nobody has asked the owner's policy about it yet.

    ## Why
    What a command does is found out by taking it apart and by looking where its paths lead; that
    takes the disk, and perhaps a second opinion. What it came to is a fact like any other.

    ## Example
    `Do you want to proceed?` about `npm test && git status`.

    ## Safety
    Safe. Nothing is typed; in every mode, so that each can show what it would have answered.
    """
    asked = [
        question
        for question in open_questions(view, now)
        if question.advice is None and question.prompt.kind in JUDGED
    ]
    if not asked:
        return None
    actions = tuple(
        Judge(
            run=view.run.number,
            nth=question.nth,
            fingerprint=question.prompt.fingerprint,
            ticket=question.ticket,
        )
        for question in asked
    )
    return Proposal(message=f"asks about {about(asked[0])!r}", actions=actions)


def _answers(view: View, now: Moment, stance: Stance) -> tuple[Answer, ...]:
    """What is answered on that stance; in other modes than `auto` the gate tells of it only."""
    found = []
    for question in open_questions(view, now):
        advice = question.advice
        if advice is None or advice.stance is not stance or question.left_to_person:
            continue
        choice = choice_of(question, advice)
        if choice is not None and not stopped(view, now):
            reason = advice.why if stance is Stance.DENY else ""
            found.append(answer_to(view, question, choice, text=advice.text, reason=reason))
    return tuple(found)


def _first(view: View, answers: tuple[Answer, ...]) -> Question | None:
    shown = (*view.held, *([view.question] if view.question else ()))
    return next((each for each in shown if each.nth == answers[0].nth), None)


def _proposed(view: View, answers: tuple[Answer, ...], word: str) -> Proposal | None:
    question = _first(view, answers) if answers else None
    if question is None or question.advice is None:
        return None
    advice, subject = question.advice, about(question)
    verb = "asks to run" if question.prompt.kind is PromptKind.PERMISSION else "asks"
    by = f" by {advice.rule}" if advice.rule else ""
    message = f"{verb} {subject!r}, which is {word}{by}"
    evidence = (*view.belief.evidence, f"policy: {advice.why}") if advice.why else ()
    return Proposal(message=message, actions=answers, evidence=evidence or view.belief.evidence)


@rule("PRM001", "question-open-to-policy", Severity.P1)
def question_open_to_policy(view: View, now: Moment) -> Proposal | None:
    """The agent asks something that its owner has allowed beforehand.

    ## Why
    An unattended agent blocks on its first permission dialog, at 00:03, until morning.

    ## Example
    `Do you want to proceed?` about `npm test`, and `allow = ["npm test"]`.

    ## Safety
    Safe. Only what the owner's policy allows, "once" unless it asks for "always"; one answer per
    question; in mode `auto` only. Through the agent's hook where one waits for the answer, else by
    keys: the performer looks again before it presses one. Nothing is answered while little context
    is left (`answer_context`), after many refusals in a row (`denies_max`), or while it is not
    certain how the agent is.
    """
    return _proposed(view, _answers(view, now, Stance.ALLOW), "allowed")


@rule("PRM003", "question-denied-by-policy", Severity.P1)
def question_denied_by_policy(view: View, now: Moment) -> Proposal | None:
    """The agent asks for something that its owner has forbidden.

    ## Why
    A refusal with a reason lets the agent find another way; an open dialog lets it stand there.

    ## Example
    `Do you want to proceed?` about `git push --force`, which the built-in set denies.

    ## Safety
    Safe. It says no, once per question, in mode `auto` only. The reason goes with the hook's
    answer; after an answer by keys it is typed (PRM004).
    """
    return _proposed(view, _answers(view, now, Stance.DENY), "denied")


@rule("PRM004", "refusal-not-told", Severity.P2, Status.IDLE)
def refusal_not_told(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The policy or a person said no by keys, and the agent does not know why.

    ## Why
    A CLI that is told no in its dialog ends the turn and waits; the model hears "rejected".

    ## Example
    `git push --force` was denied; the agent stands at its prompt.

    ## Safety
    Safe. One message per refusal, at an empty prompt.
    """
    if not view.refused or view.status is not Status.IDLE or view.restarting:
        return None
    text = f"That was refused: {plain(view.refused)}. Find another way, and go on."
    send = Send(run=view.run.number, text=text, about=f"refusal{view.tally.refusals}")
    return Proposal(message="was told no, and not why", actions=(send,))


@rule("PRM005", "question-answered-by-person", Severity.P1)
def question_answered_by_person(view: View, now: Moment) -> Proposal | None:
    """A person has said how the open question is to be answered.

    ## Why
    Whoever gets the message on a telephone has no terminal at hand.

    ## Example
    `koboshi answer a1:3.2 yes`, `koboshi answer a1:3.2 "no: use pnpm"`.

    ## Safety
    Safe. The first answer wins; it passes the mode and the cooldowns, and never a question that is
    not the one it was meant for.
    """
    for question in open_questions(view, now):
        if question.order:
            choice, text, reason = meant_by(question.order)
            answer = answer_to(view, question, choice, text=text, reason=reason)
            answer = evolve(answer, order=question.orders)
            return Proposal(
                message=f"a person answers {plain(question.order)!r}", actions=(answer,)
            )
    return None


@rule("PRM007", "question-nobody-answers", Severity.P1)
def question_nobody_answers(view: View, now: Moment) -> Proposal | None:
    """A person was asked, and has not answered for as long as the owner gave them.

    ## Why
    Over night nobody comes; a refusal at least lets the agent try something else.

    ## Example
    `ask_for = "30m"`, `ask_then = "deny"`, and a question that stands for half an hour.

    ## Safety
    Safe. It says no, once per question, in mode `auto` only; with `ask_then = "leave"`, the
    default, it does nothing.
    """
    settings = view.settings
    if not settings.ask_for or settings.ask_then != "deny":
        return None
    late = [
        question
        for question in open_questions(view, now)
        if now.at - question.since >= settings.ask_for
        and not (question.left_to_person or question.order or answerable(view, question, now))
        and (question.ticket or question.prompt.takes(Meaning.NO))
    ]
    if not late:
        return None
    reason = f"nobody answered within {settings.ask_for / 60:g} minutes"
    answers = tuple(answer_to(view, each, Meaning.NO, reason=reason) for each in late)
    return Proposal(message=reason, actions=answers, evidence=view.belief.evidence)


@rule("PRM002", "question-waits-for-person", Severity.P1)
def question_waits_for_person(view: View, now: Moment) -> Proposal | None:
    """The agent asks something that only a person may answer.

    ## Why
    The default answers for nobody (law 12); a question nobody knows of is a night lost.

    ## Example
    `Do you want to proceed?` about `rm -rf build`, and no rule allows it.

    ## Safety
    Safe. It tells a person, once per question, what is asked about what, and how to answer; no key
    is sent.
    """
    left = [each for each in open_questions(view, now) if _waits_for_person(view, each, now)]
    if not left:
        return None
    told = tuple(_asked(view, each, now) for each in left)
    return Proposal(message=_why(view, left[0], now), actions=told, evidence=view.belief.evidence)


def _waits_for_person(view: View, question: Question, now: Moment) -> bool:
    prompt, keeps = question.prompt, view.settings.mode >= Mode.KEEP
    if question.left_to_person:
        return True
    if not question.ticket and now.at - question.since < _stands(prompt):
        return False  # a screen may be half drawn: nobody is called for what is gone in a moment
    if prompt.kind is PromptKind.LIMIT and prompt.index_of(Meaning.WAIT) is not None and keeps:
        return False  # LIM004 closes it
    if question.order or answerable(view, question, now):
        return False
    if question.advice is None:
        return prompt.kind not in JUDGED
    # What makes the evidence uncertain is mostly over in a moment.
    young = now.at - question.since < view.settings.grace
    return not (young and unsure(view, now) and question.advice.stance is not Stance.ASK)


def _stands(prompt: Prompt) -> float:
    """Seconds before a person is told of it; one dialog drawn over another looks like a menu."""
    return HOOK_WAIT if prompt.kind is PromptKind.PICKER else _SETTLED


def _why(view: View, question: Question, now: Moment) -> str:
    advice, subject = question.advice, about(question)
    if question.left_to_person:
        return question.left_to_person
    if advice is None or advice.stance is Stance.ASK:
        rule = advice.why if advice and advice.why else "no rule allows it"
        return f"asks about {subject!r}, and {rule}"
    stop = stopped(view, now)
    if view.settings.mode >= Mode.AUTO and stop:
        return f"asks about {subject!r}; nothing is answered: {stop}"
    return f"asks about {subject!r}"


def _asked(view: View, question: Question, now: Moment) -> Escalate:
    """What a person reads: who asks what about what, the choices, why they, and how to answer."""
    prompt, agent = question.prompt, view.context.agent
    subject = plain(prompt.subject or prompt.question)
    text = f"{agent} asks: {plain(prompt.question)} ({subject})"
    if prompt.options:
        text += f" [{' | '.join(plain(option.text, 80) for option in prompt.options)}]"
    why = question.left_to_person or (question.advice.why if question.advice else "")
    stop = stopped(view, now) if view.settings.mode >= Mode.AUTO else ""
    if why or stop:
        text += f"; {plain(why or stop)}"
    words = '"TEXT"|no' if prompt.kind is PromptKind.QUESTION else "yes|no"
    needed = f"koboshi answer {agent}:{view.run.number}.{question.nth} {words}"
    if prompt.kind is PromptKind.PICKER:
        needed = f"choose in its terminal: koboshi attach {agent}"
    return ask(f"{view.run.number}.question{question.nth}", text, needed)
