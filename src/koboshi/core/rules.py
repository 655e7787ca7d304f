"""Rule and Finding: checks over a view, and their opinions.

A rule is a function `check(view, now)`. It gets no event (law 1): it looks at the state, so a
refusal today is asked again tomorrow. What it must remember lives in the view; recent events are
in `view.history(count)`. Its docstring has a first line and the sections Why, Example and Safety,
from which `koboshi rules CODE` and the documentation are made.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .events import Severity

if TYPE_CHECKING:
    from .actions import Action
    from .events import Moment
    from .readings import Status
    from .view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a check returns: its opinion in words, what it saw, and what could be done."""

    message: str
    actions: tuple[Action, ...]
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A proposal with the rule that made it."""

    code: str
    name: str
    severity: Severity
    message: str
    evidence: tuple[str, ...]


#: A rule that listens for this hears of every error, each as `ERRORS` and its words.
ERRORS = "error "

Check = Callable[["View", "Moment"], Proposal | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """A check with its code (never reused), its name (the thing found) and its page.

    In a status that `during` does not name it finds nothing, and is not asked; empty: any status.
    It hears of lines in which a pattern of `listens` is found: `view.echoes`.
    """

    code: str
    name: str
    severity: Severity
    check: Check
    page: str
    during: tuple[Status, ...] = ()
    listens: tuple[str, ...] = ()
    cooldown: float = 0.0  #: seconds between two actions of one kind that it asks for
    observes: bool = False  #: what it asks for is shown, never done

    def finding(self, proposal: Proposal, health: tuple[str, ...] = ()) -> Finding:
        """The proposal in this rule's name; what ails the agent is part of what was seen."""
        said, saw = proposal.message, (*proposal.evidence, *(f"health: {each}" for each in health))
        return Finding(
            code=self.code, name=self.name, severity=self.severity, message=said, evidence=saw
        )


def rule(
    code: str,
    name: str,
    severity: Severity,
    *during: Status,
    listens: tuple[str, ...] = (),
    cooldown: float = 0.0,
) -> Callable[[Check], Rule]:
    """Make a rule of a check function; `during` are the statuses in which it can find anything."""
    fixed = functools.partial(Rule, code=code, name=name, severity=severity, during=during)
    mind = functools.partial(fixed, listens=listens, cooldown=cooldown)
    return lambda check: mind(check=check, page=inspect.cleandoc(check.__doc__ or ""))


@functools.lru_cache(maxsize=64)
def _asked(rules: tuple[Rule, ...], status: Status) -> tuple[Rule, ...]:
    """Those that can find anything then: every event asks, and most rules wait for one status."""
    return tuple(each for each in rules if not each.during or status in each.during)


def evaluate(rules: tuple[Rule, ...], view: View, now: Moment) -> Iterator[tuple[Rule, Proposal]]:
    """What all rules say, in the order of the rules."""
    for each in _asked(rules, view.status):
        proposal = each.check(view, now)
        if proposal is not None:
            yield each, proposal
