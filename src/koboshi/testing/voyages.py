"""Voyages: simulated plans. The real rules and deeds, a made-up outside, and a death at any point.

    Voyage(seed).run()

A voyage works through a drawn plan. Agents lie, crash, run into limits and take their time; people
edit the file, say stop, answer; keepers die before or after anything they do, and sometimes the
machine with them. `laws` are what must hold all the same.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar, cast

from koboshi.core import engine
from koboshi.core.engine import World, happen
from koboshi.core.events import Ending, Moment, Outcome, Ticked
from koboshi.daemon.loop.deeds import Deeds
from koboshi.daemon.loop.ground import Errand
from koboshi.daemon.loop.keeper import answered, resumed, terms_of
from koboshi.performers.loop.verifying import Judgement
from koboshi.plans import Plan, PlanStatus, Step, StepState, merge, parse, render, waiting
from koboshi.plans.course import Act, Course, Fact, PlanRead, StopSeen, TaskSeen
from koboshi.plans.crafts import PLAN, MoveFinished
from koboshi.plans.instructions import step_told
from koboshi.rules import plans as rules
from koboshi.store.firings import Report
from koboshi.store.progress import Start

_T = TypeVar("_T")
#: Looks and moves after which a voyage has lost its way.
MOST = 3000
#: Simulated seconds between two looks.
EVERY = 5.0


class Died(Exception):
    """The keeper was killed here."""


class Broken(AssertionError):
    """A law does not hold."""


@dataclass(slots=True)
class Sailor:
    """One run of an agent."""

    step: str  #: the words it was told; empty: a planner
    told: str
    ends: float
    good: bool
    error: str
    ended: bool = False
    killed: bool = False


@dataclass(slots=True)
class Sea:
    """The made-up outside of a keeper."""

    draw: Random
    text: str
    now: float = 1000.0
    sailors: dict[str, Sailor] = field(default_factory=dict)
    commits: list[tuple[str, str]] = field(default_factory=list)  #: task, words of the step
    edits: list[str] = field(default_factory=list)  #: what a person wrote, all of it
    deaths: int = 0
    calm: bool = False  #: nobody dies any more: everything must come to an end

    def perhaps_die(self) -> None:
        """A keeper can be killed here."""
        if not self.calm and self.draw.random() < 0.04:
            self.deaths += 1
            raise Died

    def perhaps_edit(self) -> None:
        """A person can have the file open here."""
        if self.calm or self.draw.random() > 0.05:
            return
        note = f"note {len(self.edits)}"
        self.edits.append(note)
        self.text = self.text.replace("\nPLAN:", f"\n# {note}\nPLAN:", 1)

    # -- the verbs ------------------------------------------------------------------------------

    def save(self, plan: Plan, ours: Plan) -> Plan:
        """As the real file does it."""
        self.perhaps_die()
        self.perhaps_edit()
        merged = merge(plan, ours, parse(self.text))
        new = waiting(merged) if merged.clashes else merged.plan
        if new.faults:
            raise Broken(f"the file was damaged by us: {new.faults}")
        self.text = render(new)
        self.perhaps_die()
        return new

    async def sight(self, plan: Plan) -> TaskSeen:
        """From the sailor."""
        task = plan.current.task_id
        sailor = self.sailors.get(task)
        if sailor is None:
            return TaskSeen(task=task, state="absent")
        told = step_told(sailor.told)
        if not self._over(sailor):
            return TaskSeen(task=task, state="running", told=told)
        state = "failed" if sailor.error or sailor.killed else "finished"
        return TaskSeen(task=task, state=state, error=sailor.error, told=told, cost=0.1)

    async def begin(self, step: Step) -> None:  # noqa: ARG002 - nothing is to be compared here
        """Nothing is there to be compared."""
        self.perhaps_die()

    async def fire(self, errand: Errand) -> int | None:
        """Laws 2 and 3 are held here."""
        self.perhaps_die()
        alive = [task for task, sailor in self.sailors.items() if not self._over(sailor)]
        if alive:
            raise Broken(f"fired while {alive} works")
        if errand.task in self.sailors:
            raise Broken(f"{errand.task} was fired twice")
        step = step_told(errand.told)
        if any(words == step for _, words in self.commits):
            raise Broken(f"fired again: {step!r}")
        fails = 0.0 if self.calm else 0.4
        chance = self.draw.random()
        error = "usage_limit" if chance < fails / 4 else "api_500" if chance < fails / 2 else ""
        self.sailors[errand.task] = Sailor(
            step=step,
            told=errand.told,
            ends=self.now + self.draw.uniform(0, 300),
            good=not error and self.draw.random() > fails,
            error=error,
        )
        self.perhaps_die()
        return len(self.sailors)

    async def end(self, task: str) -> None:
        """It is ended."""
        self.perhaps_die()
        sailor = self.sailors.get(task)
        if sailor is not None and not self._over(sailor):
            sailor.ended = sailor.killed = True

    async def report(self, task: str) -> Report:
        """What the sailor would say."""
        self.perhaps_die()
        sailor = self.sailors[task]
        bad = sailor.error or ("no_result" if sailor.killed else "")
        state = "failed" if bad else "finished"
        return Report(task=task, state=state, agent="claude", exit=int(bool(bad)), error=bad)

    async def judge(self, step: Step, report: Report) -> Judgement:  # noqa: ARG002 - by the task
        """Whether it did what it was told."""
        self.perhaps_die()
        sailor = self.sailors[report.task]
        good = sailor.good and not sailor.killed
        return Judgement(verified=good, evidence="as drawn", changed=("a.txt",))

    async def answer(self, task: str) -> object:
        """A planner that knows two steps, or none."""
        self.perhaps_die()
        if not self.sailors[task].good:
            return None
        return {"steps": [{"do": f"planned {n}", "verify": [], "touch": []} for n in (1, 2)]}

    def commit(self, paths: tuple[str, ...], message: str, task: str) -> str:  # noqa: ARG002
        """Once for each task, as the real one."""
        self.perhaps_die()
        if not any(known == task for known, _ in self.commits):
            if not self.sailors[task].good:
                raise Broken(f"{task} was committed, and is not good")
            self.commits.append((task, self.sailors[task].step))
        self.perhaps_die()
        return task[-7:]

    def committed(self, task: str, words: str) -> str:
        """The commit of that task."""
        self.perhaps_die()
        return task[-7:] if (task, words) in self.commits else ""

    def publish(self, plan: Plan) -> str:  # noqa: ARG002
        """Nobody reads it."""
        self.perhaps_die()
        return ""

    def tidy(self) -> None:
        """Nothing is left."""
        self.perhaps_die()

    def _over(self, sailor: Sailor) -> bool:
        return sailor.ended or self.now >= sailor.ends


class Voyage:
    """One plan, from IDLE to DONE, through all that was drawn."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        count = self.draw.randrange(5)
        self.sea = Sea(draw=self.draw, text=_plan(count))
        self.start = Start(path="M1.md", cwd="/", attempts=self.draw.randrange(1, 4))
        self.deeds = Deeds(outside=self.sea, start=self.start, name="M1.md")
        self.moves = 0
        self.answers = 0
        self.terms = terms_of(self.start)

    def run(self) -> Sea:
        """To DONE; Broken says which law did not hold."""
        while True:
            try:
                self._keep()
                break
            except Died:
                if self.draw.random() < 0.3:  # the machine: agents too
                    for sailor in self.sea.sailors.values():
                        sailor.killed = sailor.killed or not (
                            sailor.ended or self.sea.now >= sailor.ends
                        )
                        sailor.ended = sailor.ended or sailor.killed
                self.sea.now += self.draw.uniform(0, 600)
        laws(self.sea)
        return self.sea

    def _keep(self) -> None:
        """One keeper's life: it knows what the file says, and no more."""
        self._know(Course(plan=parse(self.sea.text), terms=self.terms, begun=self.sea.now))
        while self.view.plan.status is not PlanStatus.DONE:
            self.moves += 1
            self.sea.calm = self.sea.calm or self.moves > MOST // 3
            if self.moves > MOST:
                raise Broken(f"does not come to an end: {self.sea.text}")
            self._person()
            self._move()

    @property
    def view(self) -> Course:
        """What the keeper knows."""
        return cast("Course", self.world.view)

    def _know(self, course: Course) -> None:
        self.world = World(view=cast("Any", course), rules=rules.PLANS, craft=PLAN)
        self.due: Act | None = None

    def _take(self, body: Fact | MoveFinished | Ticked) -> None:
        now = Moment(at=self.sea.now, utc=self.sea.now)
        self.world, decisions = engine.step(self.world, happen(self.world, cast("Any", body), now))
        for each in decisions:
            if each.verdict.admitted:
                _hold(self.due is None, "one pair of hands")
                self.due = cast("Any", each.action)

    def _move(self) -> None:
        """Look, and do what the rules say."""
        if render(self.view.plan) != self.sea.text:
            self._take(PlanRead(plan=parse(self.sea.text)))
        if self.view.running is not None or self.view.planning:
            self._take(_ran(self.sea.sight(self.view.plan)))
        else:
            self._take(Ticked())
        act, self.due = self.due, None
        if act is None:
            self.sea.now += EVERY
            return
        facts = _ran(self.deeds.do(self.view.plan, act.move))
        outcome = Outcome(ending=Ending.DONE)
        self._take(MoveFinished(key=act.key, action=cast("Any", act), outcome=outcome, facts=facts))

    def _person(self) -> None:
        """Says stop now and then, and goes on or answers when asked."""
        plan = self.view.plan
        if plan.status is PlanStatus.RUNNING:
            if not self.sea.calm and self.draw.random() < 0.01:
                self._take(StopSeen(why="a person said so"))
            return
        if any(sailor for sailor in self.sea.sailors.values() if _alive(sailor, self.sea.now)):
            return
        self.answers += plan.status is PlanStatus.FAILED
        ours = answered(plan, "try") if plan.status is PlanStatus.FAILED else resumed(plan)
        plan = self.sea.save(plan, ours)
        self._know(Course(plan=plan, terms=self.terms, begun=self.view.begun))


def laws(sea: Sea) -> None:
    """What must hold when everything is over."""
    plan = parse(sea.text)
    states = [step.state for step in plan.steps]
    words = [step.text for step in plan.steps]
    _hold(plan.faults == (), f"the file is a plan: {plan.faults}")
    _hold(bool(states) and set(states) == {StepState.DONE}, f"every step is done: {states}")
    _hold([step for _, step in sea.commits] == words, f"each committed once: {sea.commits}")
    for step in plan.steps:
        result = plan.results[step.number]
        _hold(result.verified is True, f"step {step.number} is verified")
        _hold(bool(result.commit), f"the commit of step {step.number} is recorded")
    lost = [note for note in sea.edits if f"# {note}\n" not in sea.text]
    _hold(not lost, f"nothing that a person wrote is lost: {lost}")


def _hold(so: bool, law: str) -> None:  # noqa: FBT001 - reads like the law
    if not so:
        raise Broken(law)


def _alive(sailor: Sailor, now: float) -> bool:
    return not sailor.ended and now < sailor.ends


def _plan(count: int) -> str:
    rows = [f"    {n}: [PENDING] step {n}\n" for n in range(1, count + 1)]
    steps = f"  TOTAL_STEPS: {count}\n  CURRENT_STEP: 0\n  STEPS:\n" if count else ""
    return f"STATUS: IDLE  # as ever\nGOAL: go on\n\nPLAN:\n{steps}{''.join(rows)}"


def _ran(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as done:
        result: _T = done.value
        return result
    raise AssertionError("expected nothing to wait for")
