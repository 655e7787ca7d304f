"""Events, actions and verdicts in words, one line each."""

from __future__ import annotations

from typing import assert_never

from koboshi.core import actions as do
from koboshi.core import events as on
from koboshi.core.gate import Verdict
from koboshi.core.readings import Reading


def event_words(body: on.Body) -> str:  # noqa: C901, PLR0912 - one line per kind
    """What happened."""
    match body:
        case on.RunStarted():
            return _start_words(body)
        case on.RunExited():
            return _exit_words(body)
        case on.ScreenRead():
            return f"screen: {_reading_words(body.reading)}"
        case on.ScreenSame():
            return "the screen shows the same"
        case on.HookRead():
            about = " ".join(part for part in (body.tool, body.subject) if part)
            status = f" → {body.status.value}" if body.status else ""
            waits = ", and waits for an answer" if body.ticket else ""
            return f"hook {body.word}{f' ({about})' if about else ''}{status}{waits}"
        case on.HookOver():
            return f"a hook waits no longer for an answer{_why(body.why)}"
        case on.SignalRead():
            return _signal_words(body)
        case on.TasksRead():
            return f"tasks: {body.done} done, {body.left} left"
        case on.PeersCounted():
            return f"others with the same login: {body.count}"
        case on.LinesHeard():
            said = (f"{h.text!r}{f' ×{h.times}' if h.times > 1 else ''}" for h in body.heard)
            return f"it printed: {', '.join(dict.fromkeys(said))}"
        case on.PersonTyped():
            return "a person typed"
        case on.OrderGiven():
            words = f" {body.text!r}" if body.text else ""
            return f"{body.by or 'a person'} said: {body.order.value}{words}"
        case on.ActionFinished():
            return f"{action_words(body.action)} – {_outcome_words(body.outcome)}"
        case on.SupervisorStarted():
            doubts = f"; in doubt: {', '.join(body.doubts)}" if body.doubts else ""
            return f"a supervisor took over{doubts}"
        case on.Ticked():
            return "time passed"
    assert_never(body)


def _start_words(body: on.RunStarted) -> str:
    where = f" in {body.place}" if body.place else ""
    pid = f", pid {body.pid}" if body.pid is not None else ""
    calls = f"; left open: {'; '.join(body.open)}" if body.open else ""
    return f"run {body.run} started ({body.origin.value}){where}{pid}{calls}"


def _outcome_words(outcome: on.Outcome) -> str:
    if outcome.advice is not None:
        return _advice_words(outcome.advice)
    return f"{outcome.ending.value}{_why(outcome.why)}"


def _advice_words(advice: on.Advice) -> str:
    by = f" by {advice.rule}" if advice.rule else ""
    return f"{advice.stance.value}{by}{_why(advice.why)}"


def _signal_words(body: on.SignalRead) -> str:
    parts = [body.status.value] if body.status is not None else []
    if body.reason:
        parts.append(body.reason)
    if body.context is not None:
        parts.append(f"context {body.context.used:g} %")
    elif body.tokens:
        parts.append(f"{body.tokens} tokens")
    if body.session:
        parts.append(f"session {body.session}")
    return f"{body.source.value}: {' · '.join(parts) or 'is gone'}"


def _exit_words(body: on.RunExited) -> str:
    how = f"exit code {body.code}" if body.code is not None else "nobody knows how"
    if body.signal is not None:
        how = f"signal {body.signal}"
    how += ", its session was not found" if body.lost else ""
    return f"run {body.run} ended: {how}{', as meant' if body.meant else ''}"


def _reading_words(reading: Reading) -> str:
    parts = [reading.status.value]
    if reading.prompt is not None:
        about = f" ({reading.prompt.subject})" if reading.prompt.subject else ""
        parts.append(f"{reading.prompt.question}{about}")
    elif reading.reason:
        parts.append(reading.reason.replace("_", " "))
    if reading.context is not None:
        parts.append(f"context {reading.context.used:g} %")
    if reading.limit is not None:
        parts.append(f"{reading.limit.kind} limit")
    if reading.error is not None:
        parts.append(f"error {reading.error.code}")
    if reading.draft:
        parts.append("a half-typed line")
    return " · ".join(parts)


def action_words(action: do.Action) -> str:
    """What was to be done."""
    match action:
        case do.Answer():
            what = action.text or action.choice.value
            how = " through its hook" if action.ticket else ""
            return f"answer question {action.nth} of run {action.run} with {what!r}{how}"
        case do.Judge():
            return f"ask the policy about question {action.nth} of run {action.run}"
        case do.Send():
            return f"send {action.text!r} to run {action.run}"
        case do.Refresh():
            return f"refresh run {action.run} ({action.why})"
        case do.Interrupt():
            return f"interrupt the turn of run {action.run}"
        case do.Checkpoint():
            return f"save the work of run {action.run} as {action.name!r}"
        case do.Stop():
            return f"stop run {action.run}"
        case do.Start():
            return f"start run {action.run} ({action.origin.value})"
        case do.Load():
            return f"load {action.name!r} into run {action.run}"
        case _:
            return _telling_words(action)


def _telling_words(action: do.Telling) -> str:
    match action:
        case do.Notify():
            return f"tell a person: {action.text}"
        case do.Escalate():
            up = " (and give up until then)" if action.gives_up else ""
            return f"ask a person: {action.text}{up}"
        case do.Bundle():
            return f"collect what tells of it: {action.text}"
        case do.FixPrompt():
            return f"write a prompt about it: {action.text}"
        case do.Command():
            return f"run {action.name!r}: {action.text}"
    assert_never(action)


def verdict_words(verdict: Verdict) -> str:
    """What the gate said, and why."""
    if verdict.admitted:
        return "admitted"
    return f"held, {verdict.word.value}{_why(verdict.why)}"


def _why(why: str) -> str:
    return f": {why}" if why else ""
