"""Guarding: a rule of somebody else's, which can hold up and break nothing but itself.

One that raises, gives back something else than a proposal, or is slow again and again is named in
the log and finds nothing any more, until the process is started anew. A check that never comes back
cannot be ended: rules are asked in the one loop that looks after all agents.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from typing import TYPE_CHECKING, get_args

from koboshi.core.actions import Action, Start
from koboshi.core.events import Origin
from koboshi.core.rules import Proposal

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.rules import Rule
    from koboshi.core.view import View

log = logging.getLogger(__name__)

#: Seconds that one look may take (all the built-in rules together take a tenth of a millisecond),
#: and times that it may take longer: a machine that swaps is slow now and then.
SLOW, TIMES = 0.05, 3
_ACTIONS = get_args(Action)


def guarded(plugin: str, rule: Rule) -> Rule:
    """The rule, which is switched off when something is wrong with it."""
    return dataclasses.replace(rule, check=_Guard(plugin, rule))


class _Guard:
    """Stands before one check."""

    def __init__(self, plugin: str, rule: Rule) -> None:
        self._name = f"rule {rule.code} of plug-in {plugin!r}"
        self._check = rule.check
        self._slow = 0
        self._off = False

    def __call__(self, view: View, now: Moment) -> Proposal | None:
        if self._off:
            return None
        begun = time.perf_counter()
        try:
            said = self._check(view, now)
        except Exception as error:
            self._switch_off(f"{type(error).__name__}: {error}")
            log.debug("plug-in raised", exc_info=True)
            return None
        self._mind(time.perf_counter() - begun)
        wrong = objection(said)
        if wrong:
            self._switch_off(wrong)
            return None
        return said

    def _mind(self, took: float) -> None:
        self._slow += took > SLOW
        if self._slow >= TIMES:
            self._switch_off(f"it took {took * 1000:.0f} ms, and was slow {TIMES} times")

    def _switch_off(self, why: str) -> None:
        self._off = True
        reason = f"{self._name} is switched off: {why}"
        log.error("plug-in failed", extra={"action": "plugins", "reason": reason})


def objection(said: object) -> str:
    """Why that is nothing a rule may say; empty: it may."""
    if said is None:
        return ""
    if not isinstance(said, Proposal):
        return f"expected a Proposal or None, not {type(said).__name__}"
    if not _all((said.message,), (str,)) or not _all(said.evidence, (str,)):
        return "expected a message and evidence in words"
    if not _all(said.actions, _ACTIONS):
        return f"expected a tuple of actions, not {said.actions!r:.80}"
    if any(map(_in_a_persons_name, said.actions)):
        return "expected an action of its own, not one in the name of a person"
    if any(map(_begins_anew, said.actions)):
        return "expected a Refresh, not a fresh Start: what the run before knew would be lost"
    return ""


def _in_a_persons_name(action: Action) -> bool:
    """What a person ordered passes the mode and the cooldowns: no rule may say so of its own."""
    return bool(getattr(action, "ordered", False) or getattr(action, "order", 0))


def _begins_anew(action: Action) -> bool:
    """A fresh run has the note of the one before, which only a hand-over brings."""
    return isinstance(action, Start) and action.origin is not Origin.RESUMED


def _all(values: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(values, tuple) and all(isinstance(each, kinds) for each in values)
