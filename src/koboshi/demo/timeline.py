"""Journal → one line per thing that happened, for a person who watches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from koboshi.core.actions import Action, Answer, Escalate, Load, Send, Start, Stop
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Order,
    OrderGiven,
    RunExited,
    RunStarted,
    ScreenRead,
    SupervisorStarted,
)
from koboshi.core.gate import Word
from koboshi.store import wire
from koboshi.store.journal import Line

#: Refusals that pass by themselves within seconds.
_PASSING = (Word.BUSY, Word.COOLING, Word.UNSETTLED, Word.PERSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the timeline: when, what kind of thing, and the thing."""

    at: float
    mark: str
    text: str


def entries(lines: Iterator[Line]) -> Iterator[Entry]:
    """The timeline of a journal, oldest first."""
    status = ""
    for line in lines:
        record = line.record
        if isinstance(record, wire.Seen):
            body = record.event.body
            at = record.event.now.at
            if isinstance(body, RunStarted):
                yield Entry(at=at, mark="run", text=f"run {body.run} started ({body.origin})")
            elif isinstance(body, RunExited):
                yield Entry(at=at, mark="run", text=_exit(body))
            elif isinstance(body, SupervisorStarted):
                yield Entry(at=at, mark="koboshi", text=_took_over(body))
            elif isinstance(body, OrderGiven) and body.order is Order.RELOAD:
                yield Entry(at=at, mark="agent", text=f"asks for its restart: {body.text}")
            elif isinstance(body, ActionFinished):
                yield Entry(at=at, mark=_mark(body), text=_outcome(body))
            elif isinstance(body, ScreenRead) and body.reading.status != status:
                status = body.reading.status
                why = " ".join(body.reading.evidence[:1])
                yield Entry(at=at, mark="sees", text=f"{status:8} {why.strip()}".rstrip())
        elif isinstance(record, wire.Judged):
            decision = record.decision
            if decision.verdict.admitted or decision.verdict.word not in _PASSING:
                yield Entry(at=decision.now.at, mark=decision.finding.code, text=_decided(record))


def _exit(body: RunExited) -> str:
    how = f"signal {body.signal}" if body.signal is not None else f"code {body.code}"
    return f"run {body.run} ended: {how}{' (meant)' if body.meant else ''}"


def _took_over(body: SupervisorStarted) -> str:
    if not body.doubts:
        return "supervisor started"
    return f"supervisor started; looks again at {', '.join(body.doubts)}"


def _decided(record: wire.Judged) -> str:
    decision = record.decision
    done = action_words(decision.action)
    if not decision.verdict.admitted:
        done = f"not now ({decision.verdict.why}): {done}"
    return f"{decision.finding.message} → {done}"


def _mark(body: ActionFinished) -> str:
    return {Ending.DONE: "done", Ending.SKIPPED: "skipped", Ending.FAILED: "failed"}[
        body.outcome.ending
    ]


def _outcome(body: ActionFinished) -> str:
    return f"{action_words(body.action)}: {body.outcome.why}"


def action_words(action: Action) -> str:
    """An action in a few words."""
    match action:
        case Answer(choice=choice, nth=nth):
            return f"answer question {nth}: {choice.value}"
        case Send(text=text):
            return f"send {text!r}"
        case Start(run=run, origin=origin):
            return f"start run {run} ({origin})"
        case Stop(run=run):
            return f"end run {run}"
        case Load(name=name):
            return f"load {name}"
        case Escalate():
            return "ask a person"
        case _:
            return action.kind
