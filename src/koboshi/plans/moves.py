"""The moves of a plan's loop: what its rules ask for and its keeper does, one at a time."""

from __future__ import annotations

from dataclasses import dataclass

from koboshi.core.actions import Safety


@dataclass(frozen=True, slots=True, kw_only=True)
class StartStep:
    """Have an agent work on a step; `wrong` is what the attempt before did not do."""

    step: int
    attempt: int
    wrong: str = ""

    @property
    def key(self) -> str:
        """What it was decided about."""
        return f"{self.step}.{self.attempt}.start"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyStep:
    """Hold what a run did against what was asked for."""

    step: int
    task: str

    @property
    def key(self) -> str:
        """What it was decided about."""
        return f"{self.step}.{self.task}.verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStep:
    """Commit what a verified step changed, and go on to the next."""

    step: int
    task: str
    changed: tuple[str, ...] = ()
    evidence: str = ""

    @property
    def key(self) -> str:
        """What it was decided about."""
        return f"{self.step}.{self.task}.commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """FAILED: say what was tried, and ask a question that a person can answer in one line."""

    step: int
    question: str

    @property
    def key(self) -> str:
        """What it was decided about."""
        return f"{self.step}.give-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """WAITING: end the agent, keep everything, and say what it waits for."""

    why: str
    again: str = "'koboshi loop resume' goes on"

    @property
    def key(self) -> str:
        """What it was decided about."""
        return "halt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """DONE."""

    @property
    def key(self) -> str:
        """What it was decided about."""
        return "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class MakePlan:
    """Have a planner make steps of the goal."""

    @property
    def key(self) -> str:
        """What it was decided about."""
        return "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakePlan:
    """Write the steps that a planner made into the file."""

    task: str

    @property
    def key(self) -> str:
        """What it was decided about."""
        return f"{self.task}.take"


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisePlan:
    """Have a planner say how to go on from a step that could not be done."""

    step: int

    @property
    def key(self) -> str:
        """What it was decided about."""
        return f"{self.step}.revise"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeRevision:
    """Write the new steps in the place of that one and all behind it."""

    step: int
    task: str

    @property
    def key(self) -> str:
        """What it was decided about."""
        return f"{self.step}.{self.task}.take"


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
