"""Rules that people wrote: from an event to the decision, and a storm of lines."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

from koboshi.adapters.generic import GenericAdapter
from koboshi.config.load import parse
from koboshi.core.engine import World, happen, step
from koboshi.core.events import ActionFinished, Ending, Moment, Origin, Outcome, RunStarted
from koboshi.core.rules import Rule
from koboshi.daemon.hearing import Hearing
from koboshi.rules import BUILTIN
from koboshi.rules.texts import FATAL

from .figures import Figure, count, quiet_gc, spread
from .load import happenings

NIGHTS, RULES, LINES, BATCH = 40, 200, 1_000_000, 500
#: Conditions as people write them; each is a rule of its own by its number.
_WHEN = (
    'count("log", "problem {n}\\\\b", "5m") >= 3 && status != "limited"',
    'status == "idle" && age >= {n}',
    'status == "working" && stalled >= {n} && turns > 3',
    "context >= 40 && run_age > {n}00",
    "exit_code == {n}",
)
#: Which line of the storm is a fatal one: each of them has to be told, at once.
_FATAL_EVERY = 50_000
_LATE = 0.1


def own_rules(number: int = RULES) -> tuple[Rule, ...]:
    """So many rules, from a file."""
    tables = (
        f"[[rule]]\ncode = 'OWN{n}'\nname = 'of-mine'\n"
        f"when = '''{_WHEN[n % len(_WHEN)].replace('{n}', str(n))}'''\nmode = 'observe'\n"
        for n in range(number)
    )
    sheet = parse("\n".join(tables), "own.toml")
    assert not sheet.mistakes, sheet.mistakes[0]  # noqa: S101 - a bench of nothing is none
    return sheet.book.rules


def measure_own(scale: float) -> tuple[Figure, ...]:
    """`step` over the events of simulated nights, with 200 rules of a file beside the built-in."""
    told, rules = happenings(count(NIGHTS, scale)), (*BUILTIN, *own_rules())
    times: list[int] = []
    world = replace(told[0].before, rules=rules)
    with quiet_gc(frozen=False):
        for each in told:
            if not each.before.seq:
                world = replace(each.before, rules=rules)
            begun = time.thread_time_ns()
            world, _ = step(world, each.event)
            times.append(time.thread_time_ns() - begun)
    return (Figure(key="rules", value=len(rules), unit=""), *spread("", times))


def measure_storm(scale: float) -> tuple[Figure, ...]:
    """A million lines, some of them fatal, heard in batches with all rules; nothing is dropped."""
    lines = count(LINES, scale, least=2 * _FATAL_EVERY)
    rules = (*BUILTIN, *own_rules())
    story = _Storm(rules)
    begun = time.thread_time()
    for first in range(0, lines, BATCH):
        story.hear(first)
    taken = time.thread_time() - begun
    late, wall = (max(waits, default=0.0) * 1e3 for waits in (story.waits, story.walls))
    peak = _memory(rules, lines // 10)
    return (
        Figure(key="lines", value=lines, unit=""),
        Figure(key="per_second", value=lines / taken, unit="1/s"),
        Figure(key="fatal_printed", value=story.printed, unit=""),
        Figure(key="fatal_heard", value=story.heard, unit="", aim="all of them"),
        Figure(key="decisions", value=len(story.waits), unit=""),
        Figure(key="latest", value=late, unit="ms", aim=f"< {_LATE * 1e3:g}"),
        Figure(key="latest_wall", value=wall, unit="ms"),
        Figure(key="memory", value=peak, unit="MB", aim="bounded"),
    )


def _memory(rules: tuple[Rule, ...], lines: int) -> float:
    """Megabytes at the most; apart, because to watch memory takes longer than all the rest."""
    story = _Storm(rules)
    tracemalloc.start()
    for first in range(0, lines, BATCH):
        story.hear(first)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


class _Storm:
    """One agent that prints without end: ten thousand lines a second by its clock."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        from koboshi.core.events import Context  # noqa: PLC0415 - beside its only use
        from koboshi.core.view import View  # noqa: PLC0415

        self.world = World(view=View(context=Context(agent="storm")), rules=rules)
        self.hearing = Hearing(GenericAdapter())
        self.waits: list[float] = []
        self.walls: list[float] = []
        self.printed = 0
        self.at = 0.0
        self._take(RunStarted(run=1, origin=Origin.FIRST))

    @property
    def heard(self) -> int:
        """Fatal lines that the view knows of, or that wait for the next word."""
        self.at += 2.0
        rest = self.hearing.due(self.world, self.at)
        if rest is not None:
            self._take(rest)
        return sum(e.total for e in self.world.view.echoes if e.what in FATAL)

    def hear(self, first: int) -> None:
        """The next lines; the wait is from their arrival to the decision."""
        rows = list(self._rows(first))
        self.at += BATCH / 10_000
        begun, wall = time.thread_time(), time.perf_counter()
        heard = self.hearing.lines(rows, self.world, self.at)
        made = self._take(heard) if heard is not None else 0
        if made:
            self.waits.append(time.thread_time() - begun)
            self.walls.append(time.perf_counter() - wall)

    def _rows(self, first: int) -> Iterator[str]:
        for number in range(first, first + BATCH):
            if number % _FATAL_EVERY == _FATAL_EVERY - 1:
                self.printed += 1
                yield f"Fatal error: at line {number}"
            else:
                yield f"2026-11-15 03:00:00 INFO request {number} of worker {number % 7} took 12 ms"

    def _take(self, body: object) -> int:
        now = Moment(at=self.at, utc=self.at)
        self.world, decisions = step(self.world, happen(self.world, body, now))  # type: ignore[arg-type]
        for decision in decisions:
            if decision.verdict.admitted:
                done = Outcome(ending=Ending.DONE)
                told = ActionFinished(key=decision.action.key, action=decision.action, outcome=done)
                self.world, _ = step(self.world, happen(self.world, told, now))
        return len(decisions)
