"""Replay: every recorded moment decided again, and where that comes out differently.

Rule 1: each event is judged on what was recorded before it, not on what the replay itself would
have done. Nobody knows how an action that was never tried would have come out, so one difference
does not breed others.
Rule 2: nothing is performed and nothing is written.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from koboshi.core.engine import Decision, World, step
from koboshi.core.gate import Word, close
from koboshi.core.view import evolve
from koboshi.errors import JournalDamaged

from . import wire
from .history import absorb, follow
from .queries import decision_facts
from .rehearing import Rehearing

if TYPE_CHECKING:
    from koboshi.core.events import Event
    from koboshi.core.rules import Rule

    from .journal import Line


class Kind(enum.StrEnum):
    """How a decision differs."""

    LOST = "not-made-again"  #: Recorded; the rules of today do not make it
    NEW = "not-recorded"  #: Made today; the journal does not have it
    CHANGED = "changed"  #: Both, with another verdict, action or finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One decision that comes out differently today."""

    kind: Kind
    event: Event
    segment: str
    line: int  #: where the event stands
    recorded: Decision | None
    now: Decision | None

    @property
    def parts(self) -> tuple[str, ...]:
        """What differs, where both were made."""
        if self.recorded is None or self.now is None:
            return ()
        names = ("verdict", "action", "finding")
        return tuple(n for n in names if getattr(self.recorded, n) != getattr(self.now, n))


@dataclass(slots=True, kw_only=True)
class Comparison:
    """What a replay found."""

    segments: int = 0
    events: int = 0
    decisions: int = 0  #: recorded ones
    cut: int = 0  #: made today after the last event of a segment, where a torn end hides the record
    differences: list[Difference] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Instant:
    """An event with what was decided after it, then and now."""

    event: Event
    line: Line
    made: tuple[Decision, ...]
    recorded: list[Decision] = field(default_factory=list)


def replay(
    lines: Iterable[Line], rules: tuple[Rule, ...], listening: tuple[str, ...] = ()
) -> Comparison:
    """Decide again what these records hold, with those rules and the recorded settings.

    `listening` are patterns that nobody listened for then: they are looked for in what the journal
    has of the screens.
    """
    found = Comparison()
    told: dict[str, Word] = {}
    for moment, last in moments(lines, rules, found, Rehearing(listening)):
        found.events += 1
        found.decisions += len(moment.recorded)
        made = moment.made
        if last and moment.recorded == list(made[: len(moment.recorded)]):
            found.cut += len(made) - len(moment.recorded)
            continue
        found.differences.extend(_compare(moment, told))
    return found


def moments(
    lines: Iterable[Line], rules: tuple[Rule, ...], found: Comparison, ears: Rehearing
) -> Iterator[tuple[Instant, bool]]:
    """Each event with its decisions, and whether it is the last one of its segment."""
    world: World | None = None
    moment: Instant | None = None
    for line in lines:
        record = line.record
        if isinstance(record, wire.Opened):
            if moment is not None:
                yield moment, True
            (_, world), moment = next(follow(iter([line]), rules)), None
            found.segments += 1
        elif world is None:
            continue
        elif isinstance(record, wire.Seen):
            if moment is not None:
                yield moment, False
            event = evolve(record.event, context=world.view.context)
            world = ears.heard(world, event)
            event = ears.without(event)
            after, made = step(world, event)
            moment = Instant(event=event, line=line, made=made)
            world = evolve(after, ledger=close(world.ledger, event), seq=event.seq)
        elif isinstance(record, wire.Judged):
            if moment is None or record.decision.cause != moment.event.seq:
                raise JournalDamaged(
                    f"{line.segment}, line {line.number}: "
                    f"expected a decision after e{record.decision.cause}, which caused it"
                )
            moment.recorded.append(record.decision)
            world = absorb(world, record)
    if moment is not None:
        yield moment, True


def _compare(moment: Instant, told: dict[str, Word]) -> Iterator[Difference]:
    """The differences at one event; one that lasts is told once (`told`: key → word)."""
    made = list(moment.made)
    for decision in moment.recorded:
        told.pop(decision.action.key, None)
        twin = next((m for m in made if _same_matter(m, decision)), None)
        if twin is None:
            yield _difference(Kind.LOST, moment, decision, None)
            continue
        made.remove(twin)
        if twin != decision:
            yield _difference(Kind.CHANGED, moment, decision, twin)
    for decision in made:
        key, word = decision.action.key, decision.verdict.word
        if told.get(key) not in (word, Word.ADMITTED):
            told[key] = word
            yield _difference(Kind.NEW, moment, None, decision)


def _same_matter(one: Decision, other: Decision) -> bool:
    return (one.finding.code, one.action.key) == (other.finding.code, other.action.key)


def _difference(
    kind: Kind, moment: Instant, recorded: Decision | None, now: Decision | None
) -> Difference:
    return Difference(
        kind=kind,
        event=moment.event,
        segment=moment.line.segment,
        line=moment.line.number,
        recorded=recorded,
        now=now,
    )


def comparison_facts(found: Comparison) -> dict[str, Any]:
    """A comparison for `--json`; the keys are a public contract (docs/reference/json.md)."""
    return {
        "segments": found.segments,
        "events": found.events,
        "decisions": found.decisions,
        "cut": found.cut,
        "differences": [
            {
                "kind": each.kind.value,
                "event": each.event.id,
                "at": each.event.now.at,
                "utc": each.event.now.utc,
                "segment": each.segment,
                "line": each.line,
                "parts": list(each.parts),
                "recorded": each.recorded and decision_facts(each.recorded),
                "now": each.now and decision_facts(each.now),
            }
            for each in found.differences
        ],
    }
