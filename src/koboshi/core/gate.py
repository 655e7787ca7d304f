"""The gate: may this action be done now? And the ledger: what was admitted, and what came of it.

Rule 1: `judge` is the only way to an admission, and it is a pure function of view, ledger and time.
Rule 2: a key is admitted once. Only the outcome `skipped` gives it back (law 2).
Rule 3: one pair of hands per agent: while one action reaches into the terminal, the others wait.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from koboshi.wording import many

from . import actions as do
from .events import ActionFinished, Ending, Event, Origin, Outcome
from .readings import Meaning, Status
from .view import NEVER, evolve

if TYPE_CHECKING:
    from .actions import Action
    from .events import Moment
    from .rules import Rule
    from .view import View

#: Finished claims kept of each kind, for deduplication: so many in any case, those younger than
#: that in seconds, and never more. Keys are made of counters that only grow: one cannot be proposed
#: again once its occasion is over, but an occasion may last for hours and others be many meanwhile.
KEPT, YOUNG, MOST = 128, 86_400.0, 2048


class Word(enum.StrEnum):
    """What the gate says; everything but `admitted` is a refusal for now."""

    ADMITTED = "admitted"  #: Goes to a performer
    WOULD = "would-have"  #: The mode does not allow it
    MANUAL = "manual"  #: Only a person does this
    PAUSED = "paused"  #: A person said: hands off
    DUPLICATE = "duplicate"  #: Was admitted before
    BUSY = "busy"  #: Another action has its hands in the terminal
    PERSON = "person"  #: A person is typing, or left a half-typed line
    UNSETTLED = "unsettled"  #: Not at a turn boundary, or something moved a moment ago
    COOLING = "cooling"  #: Too soon after the last one of its kind
    BACKOFF = "backoff"  #: Too soon after the last crash
    SPENT = "spent"  #: The restart budget is used up


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The gate's answer, and why."""

    word: Word
    why: str = ""

    @property
    def admitted(self) -> bool:
        """Whether the action goes to a performer."""
        return self.word is Word.ADMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An admitted action; without an outcome it is in flight."""

    action: Action
    at: float
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What was admitted and what came of it. The dicts are never changed in place."""

    claims: dict[str, Claim] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)  #: kind → when one came out; by whom, too
    skipped: dict[str, tuple[float, int]] = field(default_factory=dict)  #: key → when, how often
    noted: dict[str, Word] = field(default_factory=dict)  #: key → refusal that was told already

    def in_flight(self) -> tuple[Action, ...]:
        """Admitted, and nobody has written what came of it."""
        return tuple(c.action for c in self.claims.values() if c.outcome is None)


_YES = Verdict(word=Word.ADMITTED)


def judge(
    action: Action, view: View, ledger: Ledger, now: Moment, rule: Rule | None = None
) -> Verdict:
    """May this action, that the rule asks for, be done now? The first objection counts."""
    claim = ledger.claims.get(action.key)
    if claim is not None:
        return Verdict(word=Word.DUPLICATE, why="decided before" if claim.outcome else "under way")
    objection = _own_bounds(rule, action, ledger, now) if rule else None
    objection = objection or _permission(action, view) or _timing(action, view, ledger, now)
    return objection or _restart(action, view, now) or _YES


def _own_bounds(rule: Rule, action: Action, ledger: Ledger, now: Moment) -> Verdict | None:
    if rule.observes and not _ordered(action):
        return Verdict(word=Word.WOULD, why=f"{rule.code} is set to observe")
    last = ledger.last.get(f"{rule.code} {action.kind}", NEVER) if rule.cooldown else NEVER
    cooling = now.at - last < rule.cooldown
    return Verdict(word=Word.COOLING, why=f"{rule.code} is cooling down") if cooling else None


def _permission(action: Action, view: View) -> Verdict | None:
    if isinstance(action, do.Start) and action.origin is Origin.FIRST and not view.wanted:
        # Outside of the budget, so that no rule may ask for it by itself.
        return Verdict(word=Word.MANUAL, why="a first start is a person's")
    if _ordered(action):
        return None  # a person asked for it
    if view.halted is not None and action.mode > do.Mode.OBSERVE:
        return Verdict(word=Word.PAUSED, why="a person said stop")
    if action.safety is not do.Safety.SAFE:
        return Verdict(word=Word.MANUAL, why="left to a person")
    if _mode(action) > view.settings.mode:
        mode = view.settings.mode.name.lower()
        return Verdict(word=Word.WOULD, why=f"mode {mode!r} does not {action.kind}")
    if view.paused and action.mode > do.Mode.OBSERVE:
        return Verdict(word=Word.PAUSED, why="supervision is paused")
    return None


def _mode(action: Action) -> do.Mode:
    """The mode it takes; to close a limit's own menu by waiting answers for nobody."""
    waits = isinstance(action, do.Answer) and action.choice is Meaning.WAIT
    return do.Mode.KEEP if waits else action.mode


def _ordered(action: Action) -> bool:
    """Whether a person asked for exactly this."""
    if isinstance(action, do.Start):
        return action.origin is Origin.FIRST or action.ordered
    if isinstance(action, do.Answer):
        return action.order > 0
    return isinstance(action, do.Send | do.Stop) and action.ordered


def _timing(action: Action, view: View, ledger: Ledger, now: Moment) -> Verdict | None:
    if isinstance(action, do.Judge) and not action.ticket:
        # An answer that takes several keys shows other questions on its way.
        answering = any(isinstance(a, do.Answer) and not a.ticket for a in ledger.in_flight())
        return Verdict(word=Word.BUSY, why="an answer is under way") if answering else None
    if action.mode is do.Mode.OBSERVE or (isinstance(action, do.Stop) and action.force):
        return None
    if isinstance(action, do.HANDS) and any(isinstance(a, do.HANDS) for a in ledger.in_flight()):
        return Verdict(word=Word.BUSY, why="another action is under way")
    if _in_the_way(action, view, now):
        why = "a half-typed line is in the box" if view.sight.draft else "a person typed just now"
        return Verdict(word=Word.PERSON, why=why)
    wait = _cooldown(action, view, ledger, now)
    if wait > 0:
        return Verdict(word=Word.COOLING, why=f"{action.kind} is cooling down")
    return None


def _in_the_way(action: Action, view: View, now: Moment) -> bool:
    """Whether a person's typing holds it up (law 10)."""
    gone = isinstance(action, do.Refresh) and bool(action.note)
    if gone or isinstance(action, do.Start) or (isinstance(action, do.Stop) and action.ordered):
        return False
    if _ordered(action):
        return bool(view.sight.draft)  # whoever sends a message may have typed a moment ago
    return view.person_about(now)


def _cooldown(action: Action, view: View, ledger: Ledger, now: Moment) -> float:
    """Seconds until this kind of action may be done again."""
    settings = view.settings
    gap = 0.0
    if _ordered(action):
        gap = 0.0
    elif isinstance(action, do.Send):
        # Why it was told no belongs to that answer, and an agent that does not know stands still.
        gap = 0.0 if action.about.startswith("refusal") else settings.send_cooldown
    elif isinstance(action, do.Answer) and not action.ticket:
        gap = settings.answer_cooldown  # a hook's answer goes to one question and no other
    elif isinstance(action, do.Refresh) and not action.note:
        gap = settings.refresh_gap
    after_last = ledger.last.get(action.kind, NEVER) + gap if gap else NEVER
    skipped_at, times = ledger.skipped.get(action.key, (NEVER, 0))
    again = min(settings.backoff_max, settings.retry_gap * 2.0 ** min(max(0, times - 1), 30))
    return max(after_last, skipped_at + again) - now.at


def _restart(action: Action, view: View, now: Moment) -> Verdict | None:
    settings = view.settings
    if isinstance(action, do.Refresh) and not action.note:
        # A forced one ends the turn: its performer sees that one runs, and nothing but a turn.
        if not action.forced and view.status not in (Status.IDLE, Status.FAILED):
            return Verdict(word=Word.UNSETTLED, why=f"not at a turn boundary: {view.status.value}")
        if not action.forced and view.still_for(now) < settings.quiet:
            return Verdict(word=Word.UNSETTLED, why="something moved a moment ago")
    elif isinstance(action, do.Start | do.Refresh):
        if isinstance(action, do.Start) and action.origin is Origin.FIRST:
            return None
        if now.at < view.belief.since + backoff(view):
            return Verdict(word=Word.BACKOFF, why=f"waits {backoff(view):g} s after the exit")
    else:
        return None
    if view.budget_spent(now):
        used = f"{many(view.restarts_in_period(now), 'restart')} in {settings.period:g} s"
        return Verdict(word=Word.SPENT, why=used)
    return None


def backoff(view: View) -> float:
    """How long to wait after an exit: 2, 4, 8 … seconds; a planned exit waits for nothing."""
    crashes = view.tally.crashes
    if crashes == 0 or (view.refresh is not None and view.tally.starts == 0):
        return 0.0
    return min(view.settings.backoff_max, view.settings.backoff_base * 2.0 ** min(crashes - 1, 30))


def claim(ledger: Ledger, action: Action, now: Moment, code: str = "") -> Ledger:
    """The ledger with that action admitted, which the rule of that code asked for."""
    claims = {**ledger.claims, action.key: Claim(action=action, at=now.at)}
    noted = {k: w for k, w in ledger.noted.items() if k != action.key}
    last = {**ledger.last, f"{code} {action.kind}": now.at} if code else ledger.last
    return evolve(ledger, claims=claims, noted=noted, last=last)


def note(ledger: Ledger, key: str, word: Word) -> Ledger:
    """The ledger with that refusal remembered as told; the oldest are forgotten."""
    noted = {**ledger.noted, key: word}
    if len(noted) > KEPT:
        noted.pop(next(iter(noted)))
    return evolve(ledger, noted=noted)


def close(ledger: Ledger, event: Event) -> Ledger:
    """The ledger after an outcome; other events leave it as it is."""
    body = event.body
    if not isinstance(body, ActionFinished):
        return ledger
    at, claims = event.now.at, dict(ledger.claims)
    skipped = ledger.skipped
    old = claims.pop(body.key, None)
    if body.outcome.ending is Ending.SKIPPED:
        times = skipped.get(body.key, (at, 0))[1] + 1
        skipped = {**dict(list(skipped.items())[-KEPT:]), body.key: (at, times)}
        return evolve(ledger, claims=claims, skipped=skipped)
    claims[body.key] = Claim(
        action=body.action, at=old.at if old else at, outcome=body.outcome
    )  # moves to the end: the order is the age
    kind = body.action.kind
    finished = [k for k, c in claims.items() if c.outcome is not None and c.action.kind == kind]
    for number, key in enumerate(finished[:-KEPT]):
        if at - claims[key].at > YOUNG or len(finished) - number > MOST:
            del claims[key]
    return evolve(ledger, claims=claims, last={**ledger.last, body.action.kind: at})
