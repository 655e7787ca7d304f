"""Records of a journal without a journal, and reports made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from koboshi.core.engine import Decision, World, happen, step
from koboshi.core.events import Severity
from koboshi.core.gate import Verdict, Word
from koboshi.core.rules import Finding
from koboshi.reports.accounts import account
from koboshi.reports.values import Account
from koboshi.store import wire
from koboshi.store.journal import Line
from tests.core.worlds import UTC, Driver

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Body


@dataclass
class Hours(Driver):
    """A driver that keeps what a journal would have."""

    entries: list[tuple[Line, World]] = field(default_factory=list)

    def tell(self, body: Body, *, after: float = 1.0) -> tuple[Decision, ...]:
        """One more fact; it and what was decided are written down."""
        self.at += after
        event = happen(self.world, body, self.now)
        self.world, decisions = step(self.world, event)
        self._write(wire.Seen(event=event))
        for decision in decisions:
            self._write(wire.Judged(decision=decision))
        self.decided += decisions
        return decisions

    def admit(self, action: Action, code: str) -> None:
        """A rule of that code proposed it, and it was admitted."""
        finding = Finding(code=code, name="a-rule", severity=Severity.P2, message="", evidence=())
        verdict = Verdict(word=Word.ADMITTED)
        decision = Decision(
            finding=finding, action=action, verdict=verdict, cause=self.world.seq, now=self.now
        )
        self._write(wire.Judged(decision=decision))

    def _write(self, record: wire.Record) -> None:
        line = Line(segment="s", number=len(self.entries) + 1, record=record)
        self.entries.append((line, self.world))

    def account(self, since: float = 0.0, until: float = 1000.0) -> Account:
        """What they say of those seconds."""
        return account(iter(self.entries), since=UTC + since, until=UTC + until)
