"""Journal → world: folding what was written, deciding nothing (law 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from koboshi.core.engine import World
from koboshi.core.events import ActionFinished, Moment
from koboshi.core.fold import fold
from koboshi.core.gate import claim, close, note
from koboshi.core.view import evolve
from koboshi.errors import JournalError, JournalTooNew, SnapshotDamaged

from . import wire
from .journal import Line, read_segment

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.core.settings import Settings

    from .shelves import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What a journal says: the world, when it last said something, and what was not readable."""

    world: World
    last: Moment
    boot: wire.Boot = field(default_factory=wire.Boot)
    touched: tuple[str, ...] = ()  #: keys in flight that may have reached the outside
    warnings: tuple[str, ...] = ()


def absorb(world: World, record: wire.Record) -> World:
    """The world after one more record; the same as `step` made it when the record was written."""
    if isinstance(record, wire.Seen):
        event = evolve(record.event, context=world.view.context)
        view, ledger = fold(world.view, event), close(world.ledger, event)
        return World(view=view, rules=world.rules, ledger=ledger, seq=event.seq)
    if isinstance(record, wire.Judged):
        decision = record.decision
        if decision.verdict.admitted:
            code = decision.finding.code
            ledger = claim(world.ledger, decision.action, decision.now, code)
        else:
            ledger = note(world.ledger, decision.action.key, decision.verdict.word)
        return evolve(world, ledger=ledger)
    return world


def follow(lines: Iterator[Line], rules: tuple[Rule, ...]) -> Iterator[tuple[Line, World]]:
    """Each record with the world after it; every segment begins with its own snapshot."""
    world: World | None = None
    for line in lines:
        if isinstance(line.record, wire.Opened):
            world = _snapshot(line, line.record, rules)
        elif world is not None:
            world = absorb(world, line.record)
        if world is not None:
            yield line, world


def load(shelf: Shelf, blank: World, start: Moment) -> Recovered:
    """The world as the journal left it; `blank` where there is no journal.

    A segment whose beginning is damaged is bridged by folding the one before it; what could not be
    read is said in `warnings`.
    """
    names, errors = shelf.names(), list[JournalError]()
    for first in range(len(names) - 1, -1, -1):
        try:
            recovered = _load_from(shelf, names[first:], blank)
        except JournalTooNew:
            raise  # to go on behind it would be to forget what it says
        except JournalError as error:
            errors.append(error)
            continue
        if recovered is not None:
            return evolve(recovered, warnings=tuple(str(error) for error in errors))
    if errors:
        raise errors[0]
    return Recovered(world=blank, last=start)


def _load_from(shelf: Shelf, names: tuple[str, ...], blank: World) -> Recovered | None:
    """Fold from the snapshot of the first of these segments to the end of the last."""
    rules, settings = blank.rules, blank.view.settings
    world, last, boot = None, None, wire.Boot()
    touched: dict[str, None] = {}
    for name in names:
        for line in read_segment(name, shelf.read(name), headless=world is not None):
            record = line.record
            if isinstance(record, wire.Opened):
                last, boot = record.now, record.boot
                if world is None:
                    world = _snapshot(line, record, rules, settings)
                    touched = dict.fromkeys(record.touched)
                continue
            if world is None:
                return None
            world = absorb(world, record)
            last = _note_time(record, touched)
    if world is None or last is None:
        return None
    flying = {a.key for a in world.ledger.in_flight()}
    doubts = tuple(k for k in touched if k in flying)
    return Recovered(world=world, last=last, boot=boot, touched=doubts)


def _snapshot(
    line: Line, opened: wire.Opened, rules: tuple[Rule, ...], settings: Settings | None = None
) -> World:
    """The world that a segment begins with; an error names the place."""
    try:
        return wire.read_world(opened, rules, settings)
    except SnapshotDamaged as error:
        raise SnapshotDamaged(
            f"{line.segment}, line {line.number}: {error}",
            hint="move that file away to read the rest",
        ) from error


def _note_time(record: wire.Record, touched: dict[str, None]) -> Moment:
    """When the record was written; marks and outcomes keep `touched` up to date."""
    if isinstance(record, wire.Touched):
        touched[record.key] = None
        return record.now
    if isinstance(record, wire.Seen):
        if isinstance(record.event.body, ActionFinished):
            touched.pop(record.event.body.key, None)
        return record.event.now
    assert not isinstance(record, wire.Opened)  # noqa: S101 - its caller has taken those
    return record.decision.now
