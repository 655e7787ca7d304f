"""PRM: questions that block the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Answer, Escalate, Mode
from koboshi.core.events import Severity, Source
from koboshi.core.readings import Meaning, PromptKind, Status
from koboshi.core.rules import Proposal, rule

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import Question, View


def _confirmed(view: View, question: Question) -> bool:
    """A second look, or another signal that says the same, proves that it is real (law 11)."""
    hook, registry = view.clue(Source.HOOK), view.clue(Source.REGISTRY)
    # A word from before our last act, or long before, was about something else (law 8).
    since = max(view.acted_at, question.since - view.settings.grace)
    heard = hook is not None and hook.status is Status.ASKING and hook.at >= since
    if registry is not None and registry.status is Status.ASKING:
        heard = heard or registry.since >= since
    return question.looks > 1 or (heard and view.status is Status.ASKING)


def _allowed(view: View, question: Question) -> bool:
    prompt = question.prompt
    known = prompt.kind is PromptKind.PERMISSION and prompt.index_of(Meaning.ONCE) is not None
    return known and prompt.subject in view.settings.allow


def _waits(question: Question) -> bool:
    """Whether it is a limit's menu, which LIM004 closes by waiting."""
    prompt = question.prompt
    return prompt.kind is PromptKind.LIMIT and prompt.index_of(Meaning.WAIT) is not None


@rule("PRM001", "question-open-to-policy", Severity.P1, Status.ASKING)
def question_open_to_policy(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent asks something that its owner has allowed beforehand.

    ## Why
    An unattended agent blocks on its first permission dialog, at 00:03, until morning.

    ## Example
    `Do you want to proceed?` about `npm test`, and `allow = ["npm test"]`.

    ## Safety
    Safe. Only commands the owner listed, word for word; only "once", never "always"; one answer
    per question; in mode `auto` only. The performer looks again before it presses a key.
    """
    question = view.question
    if question is None or view.status is not Status.ASKING or question.left_to_person:
        return None
    if not _allowed(view, question) or not _confirmed(view, question):
        return None
    answer = Answer(
        run=view.run.number,
        nth=question.nth,
        fingerprint=question.prompt.fingerprint,
        choice=Meaning.ONCE,
    )
    message = f"asks to run {question.prompt.subject!r}, which is allowed"
    return Proposal(message=message, actions=(answer,), evidence=view.belief.evidence)


@rule("PRM002", "question-waits-for-person", Severity.P1, Status.ASKING)
def question_waits_for_person(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent asks something that only a person may answer.

    ## Why
    The default answers for nobody (law 12); a question nobody knows of is a night lost.

    ## Example
    `Do you want to proceed?` about `rm -rf build`, and no rule allows it.

    ## Safety
    Safe. It tells a person, once per question; no key is sent.
    """
    question = view.question
    if question is None or view.status is not Status.ASKING or not _confirmed(view, question):
        return None
    automatic = _allowed(view, question) and view.settings.mode >= Mode.AUTO
    automatic = automatic or (_waits(question) and view.settings.mode >= Mode.KEEP)
    if automatic and not question.left_to_person:
        return None
    subject = question.prompt.subject or question.prompt.question
    text = f"{view.context.agent} asks: {question.prompt.question} ({subject})"
    about = f"{view.run.number}.question{question.nth}"
    return Proposal(
        message=question.left_to_person or f"asks about {subject!r}, and no rule allows it",
        actions=(Escalate(about=about, text=text),),
        evidence=view.belief.evidence,
    )
