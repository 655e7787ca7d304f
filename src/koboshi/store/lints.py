"""Findings in a file: what the rules say about each line of a log, or each event of a journal.

Rule 1: nothing is performed and nothing is written.
Rule 2: a finding is told where it first shows; the next occasion is another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from koboshi.adapters.base import Adapter
from koboshi.adapters.hearing import Ear
from koboshi.adapters.registry import adapter, names
from koboshi.core.engine import World, happen
from koboshi.core.events import Context, LinesHeard, Moment, Origin, RunStarted, Severity
from koboshi.core.fold import fold
from koboshi.core.rules import Proposal, Rule, evaluate
from koboshi.core.settings import Settings
from koboshi.core.view import View, evolve

from .journal import Line
from .redaction import ESCAPE
from .rehearing import Rehearing
from .replays import Comparison, moments

_STAMP = re.compile(
    r"\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)?\]?[ \t]?"
)
#: Sequences of two characters, and the beginning of one that is not known.
_OTHER = re.compile(r"\x1b[ -~]?")
#: What the first line of a journal's segment begins with.
_JOURNAL = b'{"k":"opened"'
#: Seconds from one line to the next, where the lines do not say when they were written.
_STEP = 0.001
_DEFAULT = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A finding and where it shows."""

    file: str
    line: int
    code: str
    name: str
    severity: Severity
    message: str


def is_journal(head: bytes) -> bool:
    """Whether a file that begins so is a segment of a journal."""
    return head.startswith(_JOURNAL)


def lint_log(
    lines: Iterable[str], file: str, rules: tuple[Rule, ...], settings: Settings = _DEFAULT
) -> Iterator[Remark]:
    """What rules that listen say about a log: a plain one, or one that koboshi wrote of a pane."""
    # How often it may act says nothing about what it finds.
    hearing = tuple(replace(r, cooldown=0.0, observes=False) for r in rules if r.listens)
    ear = Ear((*(what for rule in hearing for what in rule.listens), *settings.fatal_text))
    texts, times = _parted(lines)
    own = _agent(file).own(texts)
    world = _begun(hearing, times[0] if times else 0.0, settings)
    said = set[str]()
    for number, (text, at) in enumerate(zip(texts, times, strict=True), 1):
        heard = ear.hear((text,)) if own[number - 1] else ()
        if not heard:
            continue
        now = Moment(at=at, utc=at)
        event = happen(world, LinesHeard(run=1, heard=heard), now)
        world = evolve(world, view=fold(world.view, event), seq=event.seq)
        for rule, proposal in evaluate(hearing, world.view, now):
            if _new(rule, proposal, said):
                yield _remark(file, number, rule, proposal.message)


def lint_journal(lines: Iterable[Line], file: str, rules: tuple[Rule, ...]) -> Iterator[Remark]:
    """What the rules say about a journal, event by event, on what was recorded before each."""
    by_code, said = {rule.code: rule for rule in rules}, set[str]()
    for moment, _ in moments(lines, rules, Comparison(), Rehearing()):
        found = dict[tuple[str, str], None]()  # a finding has several actions, and is one
        for decision in moment.made:
            key = f"{decision.finding.code} {decision.action.key}"
            if key not in said:
                said.add(key)
                found[decision.finding.code, decision.finding.message] = None
        for code, message in found:
            yield _remark(file, moment.line.number, by_code[code], message)


def _remark(file: str, line: int, rule: Rule, message: str) -> Remark:
    return Remark(
        file=file,
        line=line,
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        message=message,
    )


def _new(rule: Rule, proposal: Proposal, said: set[str]) -> bool:
    keys = {f"{rule.code} {action.key}" for action in proposal.actions} - said
    said |= keys
    return bool(keys)


def _begun(rules: tuple[Rule, ...], at: float, settings: Settings) -> World:
    """An agent that runs, of which nothing else is known."""
    world = World(view=View(context=Context(agent="log"), settings=settings), rules=rules)
    event = happen(world, RunStarted(run=1, origin=Origin.FIRST), Moment(at=at, utc=at))
    return evolve(world, view=fold(world.view, event), seq=event.seq)


def _parted(lines: Iterable[str]) -> tuple[tuple[str, ...], list[float]]:
    """The lines without their times, and the times, which never go back."""
    texts, times, at = list[str](), list[float](), 0.0
    for line in map(_drawn, lines):
        stamp = _STAMP.match(line)
        if stamp is None:
            at += _STEP
        else:
            line = line[stamp.end() :]  # noqa: PLW2901 - the rest of it
            at = max(at, _seconds(stamp))
        texts.append(line)
        times.append(at)
    return tuple(texts), times


def _drawn(line: str) -> str:
    """The line as a terminal shows it in the end: without colours, and without what was redrawn."""
    if "\x1b" in line:
        line = _OTHER.sub("", ESCAPE.sub("", line))
    return line.rstrip("\r").rpartition("\r")[2]


def _seconds(stamp: re.Match[str]) -> float:
    try:
        when = datetime.fromisoformat(f"{stamp[1]}{(stamp[2] or 'Z').replace('Z', '+00:00')}")
    except ValueError:
        return 0.0  # the 31st of February
    return when.astimezone(UTC).timestamp()


def _agent(file: str) -> Adapter:
    """Whose log it is, by its name: `claude_NAME_20261115.log`."""
    kind = Path(file).name.partition("_")[0]
    return adapter(kind if kind in names() else "generic")
