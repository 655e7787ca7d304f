"""What a plan says, as values."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from .sheets import Sheet


class PlanStatus(enum.Enum):
    """How a plan is doing."""

    IDLE = "IDLE"  #: Nothing to do yet
    RUNNING = "RUNNING"  #: The loop is at work on it
    WAITING = "WAITING"  #: A person has to decide before it goes on
    DONE = "DONE"  #: Every step is done or was skipped
    FAILED = "FAILED"  #: Tried, and given up; it says what was tried


class StepState(enum.Enum):
    """How a step is doing."""

    PENDING = "PENDING"  #: Not begun
    RUNNING = "RUNNING"  #: An agent is at it, or what it did is being verified
    DONE = "DONE"  #: Verified
    FAILED = "FAILED"  #: All attempts were used up
    SKIPPED = "SKIPPED"  #: A person, or a new plan, left it out


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, and what a person asked of it."""

    number: int
    state: StepState
    text: str
    verify: tuple[str, ...] = ()  #: commands, each a line for a shell
    touch: tuple[str, ...] = ()  #: globs of what it may change; empty: anything
    timeout: float | None = None  #: seconds
    agent: str = ""
    retries: int | None = None  #: attempts in all; None: as configured

    @property
    def product(self) -> str:
        """What stands after the arrow: what should come of it."""
        return self.text.rpartition("→")[2].strip() if "→" in self.text else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The run at work; empty fields where there is none."""

    task_id: str = ""
    pid: int | None = None
    spawned: str = ""  #: UTC, as ISO 8601 says it
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What came of a step; None and empty while it is pending."""

    exit: int | None = None
    commit: str = ""
    summary: str = ""
    verified: bool | None = None
    evidence: str = ""
    attempts: int | None = None
    tried: str = ""  #: what each attempt that was not verified came to
    answer: str = ""  #: what a person said when they were asked about it


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a file is no plan."""

    line: int  #: counted from 1; 0: the file as a whole
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan file. With faults in it the other values are what could be read, and no more."""

    sheet: Sheet
    status: PlanStatus = PlanStatus.IDLE
    goal: str = ""
    constraints: str = ""
    current_step: int = 0
    steps: tuple[Step, ...] = ()
    current: Current = Current()
    results: dict[int, StepResult] = field(default_factory=dict)
    last_action: str = ""
    next_action: str = ""
    faults: tuple[Fault, ...] = ()

    def step(self, number: int) -> Step | None:
        """The step of that number."""
        return next((step for step in self.steps if step.number == number), None)
