"""What was found of an agent, and what came of it: the records of its journal → incidents.

An incident is one rule's opinion of one occasion. What it asked for may be refused now and admitted
a minute later, and one opinion may ask for several things: all of that is one incident, held
together by the keys of its actions (law 2) and the event after which it was found.
"""

from __future__ import annotations

import bisect
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.actions import Bundle, Escalate, FixPrompt
from koboshi.core.events import ActionFinished, Context, Ending, Order, OrderGiven, Severity
from koboshi.errors import FileUnreadable, JournalError
from koboshi.store import wire
from koboshi.store.briefs import Ended, read_brief
from koboshi.store.paths import agents, known_journal_dir
from koboshi.store.queries import read_file
from koboshi.store.redaction import redact, secret_values
from koboshi.store.roster import Roster
from koboshi.store.shelves import DiskShelf
from koboshi.store.wording import action_words, verdict_words

if TYPE_CHECKING:
    from koboshi.core.engine import Decision
    from koboshi.core.events import Event

_DAY = 86_400.0
#: Seconds: how far back can be asked for; journals are kept for a week.
LONGEST = 14 * _DAY
#: Incidents that are told at once at most, and lines of evidence of each.
MOST, LINES = 500, 12
#: Incidents of one agent that are remembered.
KEPT = 4000
#: Seconds: what began so much before the time that is asked for is known as one and the same.
EARLIER = _DAY
#: Seconds by which a clock may have been set back between two incidents.
SET_BACK = 3600.0
#: Whoever gives one of these has seen the agent's trouble.
SEEN_TO = (Order.ACKNOWLEDGE, Order.START, Order.STOP, Order.KILL, Order.RELEASE)
_MAKES_FILES = (Bundle.kind, FixPrompt.kind)
_ORDERED = b'"type":"order-given"'

Mask = Callable[[str], str]
#: Which of these keys of that agent a person is still asked by.
Still = Callable[[str, tuple[str, ...]], tuple[str, ...]]


# Hundreds of thousands of these may be kept. None is part of a circle, and the collector of circles
# need not look at them again and again: that took as long as reading them.
class Step(msgspec.Struct, gc=False, kw_only=True):
    """One thing that was asked for, and what came of it."""

    kind: str
    words: str
    verdict: str
    why: str
    ending: str = ""
    said: str = ""


class Incident(msgspec.Struct, gc=False, kw_only=True):
    """One opinion of a rule."""

    agent: str
    utc: float
    event: str
    code: str
    name: str
    severity: Severity
    message: str
    evidence: tuple[str, ...]
    steps: dict[str, Step] = {}  #: made anew for each, by msgspec
    calls: tuple[str, ...] = ()  #: keys by which a person was asked
    acknowledged: float | None = None
    bundle: str = ""
    prompt: str = ""

    def waits(self, still: Still) -> bool:
        """Whether a person is asked to act even now."""
        asked = self.calls if self.acknowledged is None else ()
        return bool(asked and still(self.agent, asked))

    def facts(self, mask: Mask, still: Still) -> dict[str, Any]:
        """For JSON; the keys are a public contract (docs/reference/json.md)."""
        return {
            "id": f"{self.agent}:{self.event}.{self.code}",
            "agent": self.agent,
            "utc": round(self.utc, 3),
            "event": self.event,
            "code": self.code,
            "name": self.name,
            "severity": self.severity.value,
            "message": mask(self.message),
            "evidence": [mask(row) for row in self.evidence[-LINES:]],
            "actions": [_step_facts(step, mask) for step in self.steps.values()],
            "asks": bool(self.calls),
            "open": self.waits(still),
            "acknowledged": self.acknowledged,
            "bundle": self.bundle,
            "prompt": self.prompt,
        }


def _step_facts(step: Step, mask: Mask) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "words": mask(step.words),
        "verdict": step.verdict,
        "why": mask(step.why),
        "ending": step.ending or None,
        "said": mask(step.said),
    }


class Findings:
    """Takes the records of one journal in order."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self.incidents: list[Incident] = []
        self._by_key: dict[tuple[str, str], Incident] = {}
        self._by_cause: dict[tuple[str, int], Incident] = {}
        self._admitted: dict[str, Incident] = {}
        self._unseen: list[Incident] = []  #: nobody saw to these

    def take(self, record: wire.Record | Ended) -> None:
        """One more record."""
        if isinstance(record, wire.Judged):
            self._judged(record.decision)
        elif isinstance(record, Ended):
            self._ended(record)
        elif isinstance(record, wire.Seen):
            self._seen(record.event)

    def _judged(self, decision: Decision) -> None:
        finding, action, verdict = decision.finding, decision.action, decision.verdict
        key = action.key
        occasion, moment = (finding.code, key), (finding.code, decision.cause)
        found = self._by_key.get(occasion) or self._by_cause.get(moment) or self._new(decision)
        self._by_key[occasion] = self._by_cause[moment] = found
        found.steps[key] = Step(
            kind=action.kind,
            words=action_words(action),
            verdict=verdict.word.value,
            why=verdict_words(verdict),
        )
        if verdict.admitted:
            self._admitted[key] = found
            if isinstance(action, Escalate):
                if found.acknowledged is not None:
                    self._unseen.append(found)
                found.acknowledged = None
                found.calls += (key,)

    def _new(self, decision: Decision) -> Incident:
        finding = decision.finding
        made = Incident(
            agent=self._agent,
            utc=decision.now.utc,
            event=f"e{decision.cause}",
            code=finding.code,
            name=finding.name,
            severity=finding.severity,
            message=finding.message,
            evidence=finding.evidence,
        )
        self.incidents.append(made)
        self._unseen.append(made)
        if len(self.incidents) > 2 * KEPT:
            self._forget()
        return made

    def _forget(self) -> None:
        """A journal is kept for a week, and who reads it on and on for longer."""
        self.incidents = self.incidents[-KEPT:]
        kept = {id(each) for each in self.incidents}
        self._by_key = {k: each for k, each in self._by_key.items() if id(each) in kept}
        self._by_cause = {k: each for k, each in self._by_cause.items() if id(each) in kept}
        self._unseen = [each for each in self._unseen if id(each) in kept]

    def _seen(self, event: Event) -> None:
        body = event.body
        if isinstance(body, ActionFinished):
            self._ended(Ended.of(body))
        elif isinstance(body, OrderGiven) and body.order in SEEN_TO:
            for each in self._unseen:
                each.acknowledged = round(event.now.utc, 3)
            self._unseen = []

    def _ended(self, ended: Ended) -> None:
        found = self._admitted.pop(ended.key, None)
        if found is None:
            return
        step = found.steps[ended.key]
        step.ending, step.said = ended.ending.value, ended.why
        if ended.ending is not Ending.DONE or ended.action.kind not in _MAKES_FILES:
            return
        # It says where the file is, and after a semicolon what else came of it.
        file = PurePath(ended.why.partition(";")[0]).name
        if ended.action.kind == Bundle.kind:
            found.bundle = file
        else:
            found.prompt = file


class Reader:
    """Reads the journal of one agent, each time from where it came to: for who asks often."""

    def __init__(self, state: Path, name: str) -> None:
        self._shelf = DiskShelf(known_journal_dir(state, name))
        self._name, self._place = name, ("", 0)
        self._since = float("inf")
        self._findings = Findings(name)
        environment = {**os.environ, **(Roster(state).environment(name) or {})}
        self._secrets = secret_values(environment)

    def renew(self, since: float) -> list[Incident]:
        """All that was found since then and some of what was before, as far as it is written."""
        if since < self._since:
            # What is older than anybody asked for yet: from there on, all anew.
            self._place, self._findings = ("", 0), Findings(self._name)
            self._since = since
        names = self._shelf.names()
        segment, offset = self._place
        begin = names.index(segment) if segment in names else _first(names, self._since - EARLIER)
        for number, name in enumerate(names[begin:]):
            start = offset if number == 0 and name == segment else 0
            try:
                content = read_file(self._shelf.folder / name, start)
            except FileUnreadable:
                continue  # retention took it away since it was listed
            whole = content.rfind(b"\n") + 1  # half a line is read when it is whole
            self._place = (name, start + whole)
            for record in _records(content[:whole]):
                self._findings.take(record)
        return self._findings.incidents

    def mask(self, text: str) -> str:
        """The text without secrets."""
        return redact(text, secrets=self._secrets) if text else ""


def opened(state: Path, names: Iterable[str], readers: dict[str, Reader]) -> list[Reader]:
    """A reader for each of these; who was read before is read on."""
    for name in names:
        if name not in readers:
            readers[name] = Reader(state, name)
    return [readers[name] for name in names]


def found_in(
    state: Path,
    names: Iterable[str] = (),
    *,
    since: float,
    least: Severity = Severity.P1,
    most: int = MOST,
    readers: dict[str, Reader] | None = None,
    still: Still = lambda _, keys: keys,
) -> list[dict[str, Any]]:
    """The incidents of those agents, of all where none is named; newest first.

    Whoever knows the agents says by `still` what is over; a journal alone does not tell.
    """
    readers = {} if readers is None else readers
    told: list[tuple[Incident, Reader]] = []
    for reader in opened(state, tuple(names) or agents(state), readers):
        newest = _newest(reader.renew(since), since, least)
        told += [(each, reader) for each in itertools.islice(newest, most)]
    told.sort(key=lambda pair: pair[0].utc, reverse=True)
    return [each.facts(reader.mask, still) for each, reader in told[:most]]


def _newest(incidents: list[Incident], since: float, least: Severity) -> Iterator[Incident]:
    """Those since then that are at least so severe, newest first."""
    for each in reversed(incidents):
        if each.utc < since - SET_BACK:
            return
        if each.utc >= since and each.severity.value <= least.value:
            yield each


def _first(names: tuple[str, ...], utc: float) -> int:
    """Which segment to begin with for all since then: one that began on an earlier day."""
    day = datetime.fromtimestamp(max(0.0, utc), UTC).date().isoformat()
    return max(0, bisect.bisect_left(names, day) - 1)


def _records(content: bytes) -> Iterator[wire.Record | Ended]:
    """The records that matter here, which are few; what cannot be read is passed over."""
    for line in content.split(b"\n"):
        try:
            record: wire.Record | Ended | None = read_brief(line)
            if record is None and _ORDERED in line[:160]:
                record = wire.read_line(line, Context(agent=""))
        except JournalError:
            continue
        if record is not None:
            yield record
