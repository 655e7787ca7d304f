"""A question as a Claude-style hook tells it, and the answer as it goes back.

A hook tells all of a command, where a screen may show a part; so the payload is what a policy
judges. What is here is only what people are shown, and the words of an answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from koboshi.core.readings import Meaning, Option, Prompt, PromptKind, picked

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The event whose hook may answer.
PERMISSION = "PermissionRequest"
#: Events that tell which question they are about: it opens, or what it asked for has run.
ABOUT_QUESTIONS = (PERMISSION, "PostToolUse", "PostToolUseFailure")
QUESTION_TOOL, PLAN_TOOL = "AskUserQuestion", "ExitPlanMode"
_KINDS = {QUESTION_TOOL: PromptKind.QUESTION, PLAN_TOOL: PromptKind.PLAN}
#: What of a tool's input says what it is about, the first that is there.
_SUBJECTS = ("command", "cmd", "file_path", "notebook_path", "path", "url", "query", "plan")
_MOST = 4_096  # characters that are kept of it, for people
_FEW = 16  # options


def asked(payload: Mapping[str, Any]) -> Prompt:
    """The question that the hook tells of, for people; whatever the payload is."""
    tool, given = _text(payload.get("tool_name")), payload.get("tool_input")
    kind = _KINDS.get(tool, PromptKind.PERMISSION)
    given = given if isinstance(given, dict) else {}
    if kind is PromptKind.QUESTION:
        return _choice(given)
    question = "Carry out this plan?" if kind is PromptKind.PLAN else f"Allow {tool or 'this'}?"
    return Prompt(kind=kind, question=question, subject=_subject(given), tool=tool)


def _subject(given: dict[str, Any]) -> str:
    for key in _SUBJECTS:
        if text := _text(given.get(key)):
            return text
    return _text(json.dumps(given, ensure_ascii=False, default=str)) if given else ""


def _choice(given: dict[str, Any]) -> Prompt:
    question = _only_question(given)
    if question is None:
        return Prompt(kind=PromptKind.QUESTION, question="Several questions", subject="")
    options = question.get("options")
    labels = [
        _text(each.get("label"))
        for each in (options if isinstance(options, list) else [])[:_FEW]
        if isinstance(each, dict)
    ]
    box = False if question.get("multiSelect") else None
    return Prompt(
        kind=PromptKind.QUESTION,
        question=_text(question.get("question")),
        options=tuple(Option(text=label, checked=box) for label in labels if label),
    )


def _only_question(given: dict[str, Any]) -> dict[str, Any] | None:
    """The one question that is asked, one answer to which is picked."""
    questions = given.get("questions")
    if not isinstance(questions, list) or len(questions) != 1 or not isinstance(questions[0], dict):
        return None
    question: dict[str, Any] = questions[0]
    return question if _text(question.get("question")) else None


def decision(
    payload: Mapping[str, Any], choice: Meaning, *, text: str = "", reason: str = ""
) -> dict[str, Any] | None:
    """What the hook prints to answer so; None: it cannot be said through the hook."""
    said = _behaviour(payload, choice, text, reason)
    if said is None:
        return None
    return {"hookSpecificOutput": {"hookEventName": PERMISSION, "decision": said}}


def _behaviour(
    payload: Mapping[str, Any], choice: Meaning, text: str, reason: str
) -> dict[str, Any] | None:
    if choice is Meaning.NO:
        return {"behavior": "deny", "message": reason or "refused"}
    tool, given = _text(payload.get("tool_name")), payload.get("tool_input")
    if tool == QUESTION_TOOL:
        return _picked(given, text)
    if choice is Meaning.OTHER or text:
        # No option of it is known here: the dialog's own words are on the screen.
        return None
    said: dict[str, Any] = {"behavior": "allow"}
    if tool == PLAN_TOOL:
        said["updatedInput"] = given  # 2.1.325 passes a bare yes over, and keeps its dialog open
    suggested = payload.get("permission_suggestions")
    if choice is Meaning.ALWAYS:
        if not isinstance(suggested, list) or not suggested:
            return None
        said["updatedPermissions"] = suggested
    return said


def _picked(given: object, text: str) -> dict[str, Any] | None:
    """An answer to the agent's own question; a bare yes would be no answer at all."""
    question = _only_question(given) if isinstance(given, dict) else None
    if question is None or not text or not isinstance(given, dict):
        return None
    answers = {question["question"]: _label(question, text)}
    return {"behavior": "allow", "updatedInput": {**given, "answers": answers}}


def _label(question: dict[str, Any], text: str) -> str:
    """The options as they are written, or the words themselves."""
    options = question.get("options")
    rows = [
        each for each in (options if isinstance(options, list) else []) if isinstance(each, dict)
    ]
    found = picked(text, tuple(_text(each.get("label")) for each in rows))
    several = len(found) > 1 and not question.get("multiSelect")
    return ", ".join(found) if found and not several else text


def _text(value: object) -> str:
    """Text, cut, without the half surrogate pairs that JSON may carry."""
    return value[:_MOST].encode(errors="replace").decode() if isinstance(value, str) else ""
