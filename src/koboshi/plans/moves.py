"""The moves of a plan's loop: what its rules ask for and its keeper does, one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from koboshi.core.actions import Safety


class Keyed:
    """What all moves have in common."""

    __slots__ = ()
    KEY: ClassVar[str]  #: with its own fields in braces

    @property
    def key(self) -> str:
        """What it was decided about."""
        return self.KEY.format(self=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartStep(Keyed):
    """Have an agent work on a step; `wrong` is what the attempt before did not do."""

    KEY: ClassVar[str] = "{self.step}.{self.attempt}.start"
    step: int
    attempt: int
    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyStep(Keyed):
    """Hold what a run did against what was asked for."""

    KEY: ClassVar[str] = "{self.step}.{self.task}.verify"
    step: int
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStep(Keyed):
    """Commit what a verified step changed, and go on to the next."""

    KEY: ClassVar[str] = "{self.step}.{self.task}.commit"
    step: int
    task: str
    changed: tuple[str, ...] = ()
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp(Keyed):
    """FAILED: say what was tried, and ask a question that a person can answer in one line."""

    KEY: ClassVar[str] = "{self.step}.give-up"
    step: int
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt(Keyed):
    """WAITING: end the agent, keep everything, and say what it waits for."""

    KEY: ClassVar[str] = "halt"
    why: str
    again: str = "'koboshi loop resume' goes on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish(Keyed):
    """DONE."""

    KEY: ClassVar[str] = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class MakePlan(Keyed):
    """Have a planner make steps of the goal."""

    KEY: ClassVar[str] = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakePlan(Keyed):
    """Write the steps that a planner made into the file."""

    KEY: ClassVar[str] = "{self.task}.take"
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisePlan(Keyed):
    """Have a planner say how to go on from a step that could not be done."""

    KEY: ClassVar[str] = "{self.step}.revise"
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeRevision(Keyed):
    """Write the new steps in the place of that one and all behind it."""

    KEY: ClassVar[str] = "{self.step}.{self.task}.take"
    step: int
    task: str


Move = (
    StartStep
    | VerifyStep
    | CommitStep
    | GiveUp
    | Halt
    | Finish
    | MakePlan
    | TakePlan
    | RevisePlan
    | TakeRevision
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What a rule of the loop found, and the move it calls for."""

    message: str
    move: Move
    evidence: tuple[str, ...] = ()

    @property
    def actions(self) -> tuple[Act, ...]:
        """The same as a proposal says it (core/rules.py)."""
        return (Act(move=self.move),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A move as the gate, the ledger and the journal know actions."""

    move: Move

    @property
    def kind(self) -> str:
        """The name of its kind, such as `start-step`."""
        name = type(self.move).__name__
        return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")

    @property
    def key(self) -> str:
        """What it was decided about (law 2)."""
        return self.move.key

    @property
    def safety(self) -> Safety:
        """What a plan does can be taken back: it is in git, or a run that can be ended."""
        return Safety.SAFE
