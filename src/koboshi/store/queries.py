"""Reading a journal for people: where it is, its events, and the chain of each decision.

Nothing here writes. A torn last line is left out; damage elsewhere is an error that names its line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from koboshi.core.engine import Decision, World
from koboshi.core.events import ActionFinished, Event, Moment
from koboshi.core.view import Belief, evolve
from koboshi.errors import FileUnreadable, InputError, JournalDamaged

from . import wire
from .history import follow
from .journal import Line, read_segment
from .paths import known_journal_dir
from .shelves import DiskShelf
from .wording import action_words, event_words, verdict_words

Entry = tuple[Line, World]  #: a record, and the world after it


class Readable(Protocol):
    """The half of a shelf that reading needs."""

    def names(self) -> tuple[str, ...]:
        """All segments, oldest first."""
        ...

    def read(self, name: str) -> bytes:
        """The whole of a segment."""
        ...


class OneSegment:
    """A segment file alone."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> tuple[str, ...]:
        """Its name."""
        return (self._path.name,)

    def read(self, name: str) -> bytes:  # noqa: ARG002 - there is only one
        """Its content."""
        return read_file(self._path)


def read_file(path: Path, offset: int = 0) -> bytes:
    """The file from that byte on."""
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            return stream.read()
    except OSError as error:
        raise _unreadable(str(path), error) from error


def _unreadable(path: str, error: OSError) -> FileUnreadable:
    reason = error.strerror or str(error)
    return FileUnreadable(f"{path}: {reason[:1].lower() + reason[1:]}")


def find_journal(words: str, state: Path) -> Readable:
    """What a person means: a segment file, a folder of segments, or an agent by its name."""
    path = Path(words)
    try:
        if path.is_file():
            return OneSegment(path)
        for folder in (path, path / "journal"):
            if folder.is_dir() and DiskShelf(folder).names():
                return DiskShelf(folder)
        if path.is_dir() and os.sep in words:
            raise InputError(
                f"{words}: expected a journal, and there is no '*.jsonl' in this folder"
            )
    except ValueError as error:
        raise InputError(f"expected a path or a name, not {words!r}") from error
    except OSError as error:
        raise _unreadable(words, error) from error
    if os.sep in words or words.endswith(".jsonl"):
        raise FileUnreadable(f"{words}: no such file or directory")
    return DiskShelf(known_journal_dir(state, words))


def segment(shelf: Readable, name: str) -> Iterator[Line]:
    """The records of one segment; one that has none is not a segment."""
    line = None
    try:
        content = shelf.read(name)
    except OSError as error:
        raise _unreadable(name, error) from error
    for line in read_segment(name, content):
        yield line
    if line is None:
        raise no_beginning(name)


def no_beginning(name: str) -> JournalDamaged:
    """A file that is empty, or torn in its first line, or never was a segment."""
    return JournalDamaged(
        f"{name}: expected the beginning of a journal segment, found none",
        hint="move that file away to read the rest",
    )


def with_context(entries: Iterator[Entry]) -> Iterator[tuple[Event, World]]:
    """The events with the context they happened in, which is folded and not written."""
    before: World | None = None
    for line, world in entries:
        if isinstance(line.record, wire.Seen) and before is not None:
            yield evolve(line.record.event, context=before.view.context), world
        before = world


# -- one decision and what belongs to it ------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """From what was seen to what came of it."""

    cause: Event
    belief: Belief  #: what was held to be true after that event
    decision: Decision
    touched: Moment | None = None  #: from when on the outside may have been reached
    outcome: Event | None = None

    def concerns(self, seq: int) -> bool:
        """Whether that event began or ended it."""
        return seq == self.cause.seq or (self.outcome is not None and seq == self.outcome.seq)


def chains(entries: list[Entry]) -> list[Chain]:
    """The decisions in these records, in order, each with what came of it."""
    found: list[Chain] = []
    flying: dict[str, int] = {}  # key → where its chain stands; a key that was skipped comes again
    events = with_context(iter(entries))
    latest: tuple[Event, World] | None = None
    for line, _ in entries:
        record = line.record
        if isinstance(record, wire.Seen):
            latest = next(events)
            body = record.event.body
            at = flying.pop(body.key, None) if isinstance(body, ActionFinished) else None
            if at is not None:
                found[at] = evolve(found[at], outcome=latest[0])
        elif isinstance(record, wire.Judged):
            if record.decision.verdict.admitted:
                flying[record.decision.action.key] = len(found)
            found.append(_begun(line, record.decision, latest))
        elif isinstance(record, wire.Touched) and record.key in flying:
            at = flying[record.key]
            found[at] = evolve(found[at], touched=record.now)
    return found


def _begun(line: Line, decision: Decision, latest: tuple[Event, World] | None) -> Chain:
    if latest is None or latest[0].seq != decision.cause:
        raise JournalDamaged(
            f"{line.segment}, line {line.number}: "
            f"expected a decision after e{decision.cause}, which caused it"
        )
    cause, world = latest
    return Chain(cause=cause, belief=world.view.belief, decision=decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Decisions, and the event that was asked about."""

    chains: tuple[Chain, ...]
    event: Event | None = None
    belief: Belief | None = None


def recent(shelf: Readable, count: int | None) -> Story:
    """The last decisions; all of them for None."""
    enough = _never if count is None else (lambda found, _: len(found) >= count)
    found, _ = _read_back(shelf, enough)
    return Story(chains=tuple(found if count is None else found[max(0, len(found) - count) :]))


def event_number(name: str) -> int:
    """The number in the id of an event."""
    digits = name.removeprefix("e")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 18:  # noqa: PLR2004
        raise InputError(f"expected the id of an event such as 'e42', not {name!r}")
    return int(digits)


def about_event(shelf: Readable, seq: int) -> Story:
    """What that event caused, and the decision it ended."""

    def enough(found: list[Chain], entries: list[Entry]) -> bool:
        asked = next((e for e, _ in with_context(iter(entries)) if e.seq == seq), None)
        if asked is None:
            return False
        ended = any(c.outcome is not None and c.outcome.seq == seq for c in found)
        return ended or not isinstance(asked.body, ActionFinished)

    found, entries = _read_back(shelf, enough)
    events = list(with_context(iter(entries)))
    for event, world in events:
        if event.seq == seq:
            concerned = tuple(c for c in found if c.concerns(seq))
            return Story(chains=concerned, event=event, belief=world.view.belief)
    if not events:
        raise InputError(f"expected the id of an event, not 'e{seq}': there are no events yet")
    raise InputError(
        f"expected the id of an event from {events[0][0].id} to {events[-1][0].id}, not 'e{seq}'"
    )


def _never(found: list[Chain], entries: list[Entry]) -> bool:  # noqa: ARG001
    return False


def _read_back(
    shelf: Readable, enough: Callable[[list[Chain], list[Entry]], bool]
) -> tuple[list[Chain], list[Entry]]:
    """Read segments from the newest back until there is enough: a week may have many."""
    entries: list[Entry] = []
    found: list[Chain] = []
    for name in reversed(shelf.names()):
        entries = [*follow(segment(shelf, name), ()), *entries]
        found = chains(entries)
        if enough(found, entries):
            break
    return found, entries


# -- for --json -------------------------------------------------------------------------------


def decision_facts(decision: Decision) -> dict[str, Any]:
    """Finding, action and verdict of a decision."""
    action, verdict = decision.action, decision.verdict
    head = {"kind": action.kind, "key": action.key, "safety": action.safety.value}
    return {
        "finding": msgspec.to_builtins(decision.finding),
        "action": {**head, **msgspec.to_builtins(action)},
        "verdict": {"word": verdict.word.value, "why": verdict.why, "admitted": verdict.admitted},
    }


def chain_facts(chain: Chain) -> dict[str, Any]:
    """A chain; the keys are a public contract (docs/reference/json.md)."""
    decision, outcome = chain.decision, chain.outcome
    return {
        "at": decision.now.at,
        "utc": decision.now.utc,
        "seen": wire.event_facts(chain.cause),
        "status": msgspec.to_builtins(chain.belief),
        **decision_facts(decision),
        "touched": chain.touched and msgspec.to_builtins(chain.touched),
        "outcome": outcome and _outcome_facts(outcome),
        "words": {
            "seen": event_words(chain.cause.body),
            "action": action_words(decision.action),
            "verdict": verdict_words(decision.verdict),
        },
    }


def _outcome_facts(event: Event) -> dict[str, Any] | None:
    if not isinstance(event.body, ActionFinished):
        return None
    outcome = event.body.outcome
    return {
        "event": event.id,
        "at": event.now.at,
        "utc": event.now.utc,
        "ending": outcome.ending.value,
        "why": outcome.why,
    }
