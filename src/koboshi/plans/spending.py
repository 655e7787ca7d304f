"""What a plan has used up: money, tokens, time. A fold over its journal, so that it outlives all.

Closed: a run whose cost nobody told counts as unknown, not as nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from .values import Plan

#: Kinds of lines in the journal.
BEGUN, RESTED, SPENT, REPLANNED = "begun", "rested", "spent", "replanned"
#: The first line of a later segment: what all before it came to.
KNOWN = "known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What was used up so far."""

    costs: Mapping[str, float | None] = field(default_factory=dict)  #: US dollars by task
    tokens: Mapping[str, int | None] = field(default_factory=dict)  #: by task
    forgiven: frozenset[str] = frozenset()  #: tasks from before a person said to go on
    replans: int = 0  #: how often steps were planned anew
    limited: int = 0  #: runs in a row that ended at a usage limit
    seconds: float = 0.0  #: that the plan was RUNNING, up to `since`
    since: float | None = None  #: UTC: since when it is RUNNING; None: it rests

    @property
    def cost(self) -> float:
        """US dollars, as far as the CLIs told."""
        return sum(cost for cost in self.costs.values() if cost is not None)

    @property
    def read(self) -> int:
        """Tokens, as far as the CLIs told."""
        return sum(count for count in self.tokens.values() if count is not None)

    def untold(self, what: Mapping[str, float | None]) -> tuple[str, ...]:
        """Tasks of which nobody knows how much of that they used."""
        return tuple(task for task, each in what.items() if each is None and self._counts(task))

    def _counts(self, task: str) -> bool:
        return task not in self.forgiven

    def used(self, utc: float) -> float:
        """Seconds until then; a clock that was set back takes nothing away."""
        return self.seconds + (0.0 if self.since is None else max(0.0, utc - self.since))

    def with_task(
        self, task: str, cost: float | None, tokens: int | None, *, limited: bool
    ) -> Spending:
        """After a run has ended; known ones stay as they are."""
        if task in self.costs:
            return self
        return replace(
            self,
            costs={**self.costs, task: cost},
            tokens={**self.tokens, task: tokens},
            limited=self.limited + 1 if limited else 0,
        )


def goal_mark(plan: Plan) -> str:
    """By what a plan is told from another one in the same place."""
    return hashlib.blake2s(plan.goal.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def ledger(notes: Iterable[Mapping[str, Any]]) -> Spending:
    """What the journal says of the plan that was begun last; another goal is another plan."""
    return _folded(notes)[0]


def known(notes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The same in plain values, from which it is gone on with when these lines are gone."""
    spending, goal = _folded(notes)
    plain = {each.name: getattr(spending, each.name) for each in fields(spending)}
    return {"goal": goal, "spending": {**plain, "forgiven": sorted(spending.forgiven)}}


def _folded(notes: Iterable[Mapping[str, Any]]) -> tuple[Spending, object]:
    spending, goal = Spending(), None
    for note in notes:
        kind, utc = note.get("k"), _number(note.get("utc"))
        if kind == KNOWN:
            spending, goal = _restored(note.get("spending")), note.get("goal")
        elif kind == BEGUN and note.get("goal") != goal:
            spending, goal = Spending(since=utc), note.get("goal")
        elif kind == BEGUN and spending.since is None:  # else somebody died: it never rested
            tasks = frozenset(spending.costs)
            spending = replace(spending, since=utc, forgiven=tasks, limited=0)
        elif kind == RESTED:
            spending = replace(spending, seconds=spending.used(utc), since=None)
        elif kind == SPENT:
            spending = _spent(spending, note)
        elif kind == REPLANNED:
            spending = replace(spending, replans=spending.replans + 1)
    return spending, goal


def _restored(values: object) -> Spending:
    """What `known` wrote."""
    given = values if isinstance(values, Mapping) else {}
    names = [each.name for each in fields(Spending)]
    found = {name: given[name] for name in names if name in given}
    return Spending(**{**found, "forgiven": frozenset(given.get("forgiven", ()))})


def _spent(spending: Spending, note: Mapping[str, Any]) -> Spending:
    task, cost, tokens = note.get("task"), note.get("cost"), note.get("tokens")
    if not isinstance(task, str):
        return spending
    return spending.with_task(
        task,
        float(cost) if isinstance(cost, int | float) else None,
        tokens if isinstance(tokens, int) else None,
        limited=note.get("limited") is True,
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
