"""Start reading here. This file is the whole decision.

    Outside → Observation → decode → **Event** → fold → **View** → check → **Finding**
            → judge → **Action** → perform → **Outcome**, which is an Event again.

`step` is everything between the two ends: it takes what is known of one agent (`World`) and one
new fact (`Event`), and returns what is known now and what was decided (`Decision`).

    world, decisions = step(world, event)

- `fold` (core/fold.py) adds the fact to the `View`: which run, what status on what evidence, which
  question is open, how full the context is. The status itself comes from `arbiter` and the table in
  `status`.
- `evaluate` (core/rules.py) lets every rule look at the view. A rule says what it found and what
  could be done about it; it does nothing. The built-in rules are in `koboshi/rules/`, one function
  each.
- `judge` (core/gate.py) admits an action or says why not: the mode forbids it, it was done before,
  a person is typing, it is too soon, the restart budget is spent.

The order of the rules is their priority: several actions may be admitted in one step, but only one
that reaches into the terminal, and the first one asked gets it. A rule's proposal becomes a finding
when something is decided about it; a refusal that was told before is not told again.

Nothing here does I/O, so the same function runs under a supervisor, inside the simulation and over
an old journal (`koboshi replay`). `daemon/supervisor.py` is its only caller in production: it
writes the decision to the journal, lets a performer act, and feeds the outcome back in as an event.

One World per agent: the cost of a step does not depend on how many agents there are. A plan at work
has one, too, with a craft of its own (plans/crafts.py): another view, other actions, the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .events import Event
from .fold import fold
from .gate import Ledger, Verdict, Word, claim, close, judge, note
from .health import examine
from .rules import Finding, Rule, evaluate
from .view import View

if TYPE_CHECKING:
    from .actions import Action
    from .events import Body, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Craft:
    """How facts are added to a view that is no agent's, and how actions about it are judged."""

    fold: Callable[[Any, Event], Any]
    judge: Callable[..., Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One agent: what is known, what was decided, and the rules that look at it."""

    view: View
    rules: tuple[Rule, ...]
    ledger: Ledger = field(default_factory=Ledger)
    seq: int = 0  #: number of the last event
    craft: Craft | None = None  #: None: an agent's


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An action with the verdict on it and the finding it came from."""

    finding: Finding
    action: Action
    verdict: Verdict
    cause: int  #: number of the event after which it was decided
    now: Moment


def happen(world: World, body: Body, now: Moment) -> Event:
    """The next event of that world."""
    return Event(seq=world.seq + 1, now=now, body=body, context=world.view.context)


def step(world: World, event: Event) -> tuple[World, tuple[Decision, ...]]:
    """What is known and what is decided after one more fact.

    A refusal is returned once, when it is new, not at every look. An event that changes nothing
    gives back the very same world, and callers rely on it: such an event is not journaled and its
    number is used again.
    """
    craft = world.craft
    view = craft.fold(world.view, event) if craft else fold(world.view, event)
    ledger = close(world.ledger, event)
    decisions: list[Decision] = []
    for rule, proposal in evaluate(world.rules, view, event.now):
        for action in proposal.actions:
            verdict = (craft.judge if craft else judge)(action, view, ledger, event.now, rule)
            if verdict.admitted:
                ledger = claim(ledger, action, event.now, rule.code)
            elif verdict.word is Word.DUPLICATE or ledger.noted.get(action.key) is verdict.word:
                continue
            else:
                ledger = note(ledger, action.key, verdict.word)
            finding = rule.finding(proposal, () if craft else examine(view, event.now).reasons)
            decisions.append(
                Decision(
                    finding=finding, action=action, verdict=verdict, cause=event.seq, now=event.now
                )
            )
    if view is world.view and ledger is world.ledger:
        return world, ()
    after = World(view=view, rules=world.rules, ledger=ledger, seq=event.seq, craft=craft)
    return after, tuple(decisions)
