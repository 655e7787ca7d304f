"""One agent's hours from the records of its journal: a pure function.

Records from before the hours are taken in, too: they say how it was when the hours began.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from koboshi.core import actions as do
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Moment,
    Order,
    OrderGiven,
    RunStarted,
    SignalRead,
)
from koboshi.core.gate import Word
from koboshi.core.readings import Status
from koboshi.core.view import evolve
from koboshi.store import wire
from koboshi.store.sessions import Chronicle
from koboshi.store.wording import action_words

from .stretches import Clock, is_ended
from .values import Account, Level, Mishap, Refreshed, Reply, Restart

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event
    from koboshi.core.view import Question, View
    from koboshi.store.journal import Line
    from koboshi.store.sessions import Past

#: Points of a picture; between two of them the context changed by less than this many percent.
_STEP = 1.0


def account(
    entries: Iterable[tuple[Line, World]],
    *,
    since: float,
    until: float,
    known: Iterable[Past] = (),
) -> Account:
    """What these records say of the hours; `known` are runs from before the journal begins."""
    teller = _Teller(since, until, known)
    for line, world in entries:
        if moment(line.record).utc > until:
            break
        teller.take(line.record, world)
    return teller.told()


def moment(record: wire.Record) -> Moment:
    """When a record was written."""
    match record:
        case wire.Seen():
            return record.event.now
        case wire.Judged():
            return record.decision.now
        case _:
            return record.now


class _Teller:
    """Takes records in order; compares the view after each with the one before it."""

    def __init__(self, since: float, until: float, known: Iterable[Past]) -> None:
        self._since = since
        self._clock = Clock(since, until)
        self._chronicle = Chronicle(known)
        self._view: View | None = None
        self._asked: dict[str, tuple[Question | None, str]] = {}  # key → what was asked, rule
        self._would: dict[str, Mishap] = {}
        self._answered: set[tuple[int, int]] = set()
        self._restarts: list[Restart] = []
        self._refreshes: list[Refreshed] = []
        self._replies: list[Reply] = []
        self._errors: list[Mishap] = []
        self._limits: list[Mishap] = []
        self._calls: list[Mishap] = []
        self._progress: list[Mishap] = []
        self._wondered = ""  # what the agent asked a person through its tool
        self._context: list[Level] = []
        self._costs: dict[str, float] = {}  # session → what its CLI said last
        self._cost: float | None = None

    def take(self, record: wire.Record, world: World) -> None:
        """One more record, with the world after it."""
        before, self._view = self._view, world.view
        if before is None and world.view.run.cost:
            self._costs[world.view.run.session] = world.view.run.cost
        self._clock.take(world.view, moment(record).utc)
        if isinstance(record, wire.Judged):
            self._judged(record.decision, world.view)
        elif isinstance(record, wire.Seen):
            restarted = self._restart(record.event, before)
            self._chronicle.take(record.event, world)
            self._paid(record.event)
            if restarted:
                self._restarts.append(restarted)
            if before is not None:
                self._compare(before, world.view, record.event)

    def told(self) -> Account:
        """All of it."""
        self._clock.close()
        view = self._view
        if view is None:
            return Account(agent="")
        return Account(
            agent=view.context.agent,
            type=view.context.agent_type,
            folder=view.context.worktree,
            status="ended" if view.status is Status.GONE and is_ended(view) else view.status.value,
            stretches=self._clock.stretches,
            restarts=tuple(self._restarts),
            refreshes=tuple(self._refreshes),
            replies=tuple(self._replies),
            would=tuple(self._would.values()),
            context=tuple(self._context),
            sessions=self._sessions(),
            cost=None if self._cost is None else round(self._cost, 6),
            needs=needs(view),
            errors=tuple(self._errors),
            limits=tuple(self._limits),
            calls=tuple(self._calls),
            progress=tuple(self._progress),
        )

    def _sessions(self) -> tuple[str, ...]:
        runs = [r for r in self._chronicle.runs if r.ended is None or r.ended >= self._since]
        return tuple(dict.fromkeys(session for run in runs for session in run.sessions))

    def _now(self, event: Event) -> bool:
        return event.now.utc >= self._since

    def _paid(self, event: Event) -> None:
        """A CLI tells the sum of a session; a resumed one goes on from it, or begins at nothing."""
        body = event.body
        if not isinstance(body, SignalRead) or not body.cost:
            return
        known = self._costs.get(body.session, 0.0)
        self._costs[body.session] = body.cost
        if self._now(event):
            gain = body.cost - known if body.cost >= known else body.cost
            self._cost = (self._cost or 0.0) + gain

    # -- decisions -----------------------------------------------------------------------------

    def _judged(self, decision: Decision, view: View) -> None:
        action, finding = decision.action, decision.finding
        if isinstance(action, do.Answer):
            open_ = (*view.held, view.question)
            question = next((q for q in open_ if q is not None and q.nth == action.nth), None)
            by = "a person" if action.order else f"{finding.code} {finding.name}"
            self._asked[action.key] = (question, by)
            if decision.verdict.admitted:
                # The dialog may be seen to be gone before the outcome is written.
                self._answered.add((action.run, action.nth))
        if decision.verdict.word is Word.WOULD and decision.now.utc >= self._since:
            words = f"{finding.code} {action_words(action)}"
            self._would.setdefault(action.key, Mishap(at=decision.now.utc, what=words))

    # -- events --------------------------------------------------------------------------------

    def _restart(self, event: Event, before: View | None) -> Restart | None:
        """The run that this event began, if another one went before it."""
        body = event.body
        last = before.run.number if before is not None else 0
        if not isinstance(body, RunStarted) or not self._now(event) or not 0 < last < body.run:
            return None
        ended = {past.run: past for past in self._chronicle.runs}.get(last)
        why = ended.reason if ended and ended.reason else "nobody saw why"
        if ended and ended.how not in ("", "not known", "not seen"):
            why = f"{why} ({ended.how})"
        return Restart(at=event.now.utc, run=body.run, origin=body.origin.value, why=why)

    def _compare(self, before: View, after: View, event: Event) -> None:
        """What the two views differ in is what happened."""
        self._refreshing(before, after, event)
        if isinstance(event.body, ActionFinished):
            self._finished(event.body, event)
        elif isinstance(event.body, OrderGiven):
            self._said(event.body, event)
        if not self._now(event):
            return
        utc = event.now.utc
        if after.faults and after.faults[-1].at == event.now.at and after.faults != before.faults:
            self._errors.append(Mishap(at=utc, what=after.faults[-1].code))
        if after.window and (before.window is None or before.window.nth != after.window.nth):
            self._limits.append(Mishap(at=utc, what=after.window.limit.kind))
        self._question_gone(before, after, utc)
        use = after.sight.context
        if use and (not self._context or abs(self._context[-1].used - use.used) >= _STEP):
            self._context.append(Level(at=utc, used=use.used))

    def _finished(self, body: ActionFinished, event: Event) -> None:
        action, outcome = body.action, body.outcome
        if isinstance(action, do.Answer) and outcome.ending is not Ending.SKIPPED:
            question, rule = self._asked.pop(body.key, (None, ""))
            if self._now(event):
                words = (
                    (question.prompt.question, question.prompt.subject) if question else ("",) * 2
                )
                self._replies.append(
                    Reply(
                        at=event.now.utc,
                        question=words[0],
                        subject=words[1],
                        answer=action.text or action.choice.value,
                        rule=rule,
                        ending=outcome.ending.value,
                    )
                )
        elif isinstance(action, do.Answer):
            self._answered.discard((action.run, action.nth))  # whoever answers it, it was not us
        elif isinstance(action, do.Escalate) and self._now(event):
            self._calls.append(Mishap(at=event.now.utc, what=action.text))

    def _said(self, body: OrderGiven, event: Event) -> None:
        """Through the agent's tools: how far it has come, what it asked, what a person said."""
        if body.order is Order.ASK:
            self._wondered = body.text
        elif body.order is Order.TELL and self._now(event):
            self._progress.append(Mishap(at=event.now.utc, what=body.text))
        elif body.order is Order.REPLY and self._now(event):
            asked = {"question": self._wondered, "subject": ""}
            reply = Reply(
                at=event.now.utc, answer=body.text, rule="a person", ending="done", **asked
            )
            self._replies.append(reply)

    def _question_gone(self, before: View, after: View, utc: float) -> None:
        """A question that went away while its run went on, and not by us, was answered there."""
        old = before.question
        if old is None or (after.question is not None and after.question.nth == old.nth):
            return
        number = (before.run.number, old.nth)
        same_run = after.run.number == before.run.number and after.run.exit is None
        if same_run and number not in self._answered:
            self._answered.add(number)
            prompt = old.prompt
            self._replies.append(Reply(at=utc, question=prompt.question, subject=prompt.subject))

    def _refreshing(self, before: View, after: View, event: Event) -> None:
        old, new = before.refresh, after.refresh
        if new is not None and (old is None or old.nth != new.nth):
            if self._now(event):
                self._refreshes.append(Refreshed(at=event.now.utc, why=new.why))
        elif new is not None and self._refreshes and new.note != self._refreshes[-1].note:
            self._refreshes[-1] = evolve(self._refreshes[-1], note=new.note)
        elif new is None and old is not None and self._refreshes:
            body = event.body
            loaded = isinstance(body, ActionFinished) and isinstance(body.action, do.Load)
            done = loaded and isinstance(body, ActionFinished) and _done(body)
            words = "the next run has the note" if done else "given up"
            self._refreshes[-1] = evolve(self._refreshes[-1], ending=words)


def _done(body: ActionFinished) -> bool:
    return body.outcome.ending is Ending.DONE


def needs(view: View) -> tuple[str, ...]:
    """What it needs of a person, as things stand."""
    found = []
    if view.given_up:
        found.append("koboshi gave up: see 'koboshi why', then 'koboshi ack'")
    shown = view.question if view.status is Status.ASKING else None
    for question in view.held or ((shown,) if shown else ()):
        prompt = question.prompt
        found.append(f"it asks: {prompt.question} {prompt.subject}".rstrip())
    if view.status is Status.GONE and not is_ended(view) and not view.given_up:
        found.append(f"it is down: {view.belief.reason.replace('_', ' ')}")
    if view.status is Status.FAILED:
        found.append(f"its turn failed: {view.belief.reason.replace('_', ' ')}")
    return tuple(found)
