"""The course of a plan: facts → view. What the rules of the loop (PLN) look at, and no more.

The plan file is the memory: each move of the loop writes it before and after, so that whoever
starts anew reads the file, looks at the run it names, and knows as much as the one that died.
`fold` adds what was seen to that; nothing here decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from koboshi.core.events import Context

from .instructions import cut_off
from .spending import Spending
from .values import Plan, PlanStatus, Step, StepState

if TYPE_CHECKING:
    from koboshi.core.events import Moment

#: Attempts at one step that may be cut off without counting: an agent that takes the machine down
#: with it each time must come to an end, too.
MOST_CUT_OFF = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """By what a plan is worked through."""

    attempts: int = 3  #: of one step, before it is given up
    timeout: float = 3600.0  #: seconds of one attempt
    agent: str = "claude"  #: who works on a step that names nobody
    commit: bool = True  #: whether a verified step is committed
    seconds: float = 0.0  #: of the whole plan; 0: no limit
    cost: float = 0.0  #: US dollars of the whole plan; 0: no limit
    tokens: int = 0  #: of the whole plan; 0: no limit
    silent: tuple[str, ...] = ()  #: agents that do not tell what they cost
    replans: int = 0  #: how often steps that could not be done may be planned anew
    limit_wait: float = 900.0  #: seconds until a usage limit is tried again when nobody says when
    limit_most: float = 3600.0  #: the same, after some tries
    limit_slack: float = 5.0  #: seconds to wait longer than the CLI says


# -- facts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRead:
    """The file was read, or written by us."""

    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSeen:
    """How the run that the file names is doing."""

    task: str
    state: str  #: `absent`, `running`, `finished` or `failed`
    error: str = ""
    why: str = ""
    cost: float | None = None  #: US dollars, where the CLI tells
    tokens: int | None = None
    ended: float | None = None  #: UTC
    resets: float | None = None  #: UTC: when the usage limit is over that it ended at
    told: str = ""  #: the words of the step that it was told to do


@dataclass(frozen=True, slots=True, kw_only=True)
class StepJudged:
    """What an attempt did was held against what was asked for."""

    task: str
    verified: bool
    evidence: str
    changed: tuple[str, ...] = ()  #: files
    review: TaskSeen | None = None  #: the run that looked at it, too


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRevised:
    """The steps behind `kept` were planned anew."""

    kept: int
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopSeen:
    """A person, or the file that stands for one, said stop."""

    why: str


Fact = PlanRead | TaskSeen | StepJudged | PlanRevised | StopSeen


# -- view ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """All that is known of one plan at work."""

    plan: Plan
    terms: Terms = Terms()
    task: TaskSeen | None = None
    judged: StepJudged | None = None
    stopped: str = ""
    spending: Spending = field(default_factory=Spending)  #: what was used up so far
    name: str = ""  #: of the plan, for whoever reads its journal

    @property
    def status(self) -> PlanStatus:
        """What the file says."""
        return self.plan.status

    @property
    def context(self) -> Context:
        """Where its events happen."""
        return Context(agent=self.name, agent_type="plan")

    @property
    def running(self) -> Step | None:
        """The step at work."""
        found = (step for step in self.plan.steps if step.state is StepState.RUNNING)
        return next(found, None)

    @property
    def next(self) -> Step | None:
        """The first step that is not settled."""
        open_states = (StepState.PENDING, StepState.RUNNING, StepState.FAILED)
        return next((step for step in self.plan.steps if step.state in open_states), None)

    @property
    def planning(self) -> bool:
        """Whether there is a goal and nothing else yet."""
        return not self.plan.steps and bool(self.plan.goal)

    @property
    def revising(self) -> Step | None:
        """The step that could not be done, while a planner is asked how to go on."""
        step = self.next
        working = self.plan.status is PlanStatus.RUNNING and self.running is None
        return step if working and step is not None and step.state is StepState.FAILED else None

    def tried(self, step: Step) -> int:
        """How many attempts were made at it."""
        result = self.plan.results.get(step.number)
        return (result.attempts or 0) if result else 0

    def allowed(self, step: Step) -> int:
        """How many may be made; a machine that went off takes none away, up to a bound."""
        known = self.plan.results.get(step.number)
        more = min(MOST_CUT_OFF, cut_off(known.tried)) if known else 0
        return more + max(1, self.terms.attempts if step.retries is None else step.retries)

    @property
    def limited(self) -> bool:
        """Whether the run ended at a usage limit."""
        task = self.task
        return task is not None and task.state == "failed" and task.error in LIMITS

    @property
    def limited_until(self) -> float:
        """UTC: when the run that ended at a usage limit may be tried again."""
        ended = (self.task.ended if self.task else None) or 0.0
        resets = self.task.resets if self.task else None
        if resets is not None and resets > ended:
            return resets + self.terms.limit_slack
        times = max(0, self.spending.limited - 1)
        return ended + min(self.terms.limit_wait * 2.0 ** min(times, 16), self.terms.limit_most)


def fold(course: Course, fact: Fact, now: Moment) -> Course:
    """What is known after that fact."""
    match fact:
        case PlanRead():
            return _with_plan(course, fact.plan)
        case TaskSeen():
            if fact.task != course.plan.current.task_id:
                return course  # of an attempt that is over
            return _with_task(course, fact, now)
        case StepJudged():
            return _with_judgement(course, fact)
        case PlanRevised():
            spending = course.spending
            return replace(course, spending=replace(spending, replans=spending.replans + 1))
        case StopSeen():
            return replace(course, stopped=fact.why)
        case _:
            assert_never(fact)


def _with_task(course: Course, fact: TaskSeen, now: Moment) -> Course:
    if fact.state not in ("finished", "failed"):
        return replace(course, task=fact)
    if fact.ended is None:  # nobody wrote it down: it was when we first saw it
        known = course.task
        same = known is not None and known.task == fact.task
        fact = replace(fact, ended=(known.ended if known and same else None) or now.utc)
    limited = fact.state == "failed" and fact.error in LIMITS
    spending = course.spending.with_task(fact.task, fact.cost, fact.tokens, limited=limited)
    return replace(course, task=fact, spending=spending)


def _with_judgement(course: Course, fact: StepJudged) -> Course:
    spending, seen = course.spending, fact.review
    if seen is not None:
        spending = spending.with_task(seen.task, seen.cost, seen.tokens, limited=False)
    return replace(course, judged=fact, spending=spending)


def _with_plan(course: Course, plan: Plan) -> Course:
    task, judged = course.task, course.judged
    same = plan.current.task_id
    return replace(
        course,
        plan=plan,
        task=task if task is not None and task.task == same else None,
        judged=judged if judged is not None and judged.task == same else None,
    )


#: Errors that pass by themselves when a usage limit resets.
LIMITS = ("usage_limit", "quota")
