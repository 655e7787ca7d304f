"""Voyages: simulated plans. The real rules and deeds, a made-up outside, and a death at any point.

    Voyage(seed).run()

A voyage works through a drawn plan. Agents lie, crash, run into limits; people edit the file, say
stop, answer; keepers die at anything they do, and sometimes the machine with them. `laws`, and what
`Sea` holds at each call, are so all the same: no verified step is run again, nothing is fired twice
at once, no result is lost, the file is always a plan, attempts and budget are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
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
from koboshi.plans.course import Course, Fact, PlanRead, PlanRevised, StopSeen, TaskSeen
from koboshi.plans.crafts import PLAN, MoveFinished
from koboshi.plans.instructions import step_told
from koboshi.plans.moves import Act
from koboshi.plans.spending import BEGUN, REPLANNED, RESTED, SPENT, Spending, goal_mark, ledger
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
    cost: float | None = 0.1
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
    notes: list[dict[str, Any]] = field(default_factory=list)  #: the journal
    fires: list[tuple[str, str]] = field(default_factory=list)  #: task, step; since the last answer
    forgiven: set[str] = field(default_factory=set)  #: tasks that used up no attempt
    budget: float = 0.0  #: US dollars; 0: no limit
    attempts: int = 3  #: of a step
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
        self._results_kept(new)
        if parse(self.text).status is PlanStatus.FAILED:
            self.fires.clear()  # an answer gives all attempts back
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
        cost = None if sailor.killed else sailor.cost
        error = "" if sailor.killed else sailor.error
        return TaskSeen(
            task=task, state=state, error=error, told=told, cost=cost, ended=sailor.ends, tokens=10
        )

    async def begin(self, step: Step) -> None:  # noqa: ARG002 - nothing is to be compared here
        """Nothing is there to be compared."""
        self.perhaps_die()

    async def fire(self, errand: Errand, ready: Callable[[int], None]) -> None:
        """Laws 2 and 3 are held here; and that its pid is in the file before it begins."""
        self.perhaps_die()
        alive = [task for task, sailor in self.sailors.items() if not self._over(sailor)]
        if alive:
            raise Broken(f"fired while {alive} works")
        if errand.task in self.sailors:
            raise Broken(f"{errand.task} was fired twice")
        step = step_told(errand.told)
        if step and any(words == step for _, words in self.commits):
            raise Broken(f"fired again: {step!r}")
        self._attempts_kept(step)
        self._budget_kept()
        pid = len(self.sailors) + 1
        ready(pid)
        current = parse(self.text).current
        if current.task_id == errand.task and current.pid != pid:
            raise Broken(f"{errand.task} began, and the file says {current.pid}, not {pid}")
        fails = 0.0 if self.calm else 0.4
        chance = self.draw.random()
        error = "usage_limit" if chance < fails / 4 else "api_500" if chance < fails / 2 else ""
        self.sailors[errand.task] = Sailor(
            step=step,
            told=errand.told,
            ends=self.now + self.draw.uniform(0, 300),
            good=not error and self.draw.random() > fails,
            error=error,
            cost=None if chance > 1 - fails / 8 else 0.1,
        )
        self.fires.append((errand.task, step))
        if error == "usage_limit":
            self.forgiven.add(errand.task)
        self.perhaps_die()

    def _results_kept(self, new: Plan) -> None:
        """No result of a verified step is lost."""
        before = parse(self.text)
        for step in before.steps:
            if step.state is StepState.DONE:
                old, now = before.results.get(step.number), new.results.get(step.number)
                if old != now or new.step(step.number) != step:
                    raise Broken(f"the result of step {step.number} was lost: {old} → {now}")

    def _attempts_kept(self, step: str) -> None:
        """No step has more attempts than it may have, but for those that do not count."""
        known = [task for task, words in self.fires if words == step and task not in self.forgiven]
        if step and len(known) >= self.attempts:
            raise Broken(f"attempt {len(known) + 1} of {self.attempts} at {step!r}")

    def _budget_kept(self) -> None:
        """Nothing is begun once the budget is spent."""
        spent = sum(s.cost or 0.0 for s in self.sailors.values() if not s.killed)
        if self.budget and spent >= self.budget:
            raise Broken(f"fired with ${spent:.2f} of ${self.budget:.2f} spent")

    async def end(self, task: str) -> None:
        """It is ended."""
        self.perhaps_die()
        sailor = self.sailors.get(task)
        self.forgiven.add(task)
        if sailor is not None and not self._over(sailor):
            sailor.ended = sailor.killed = True
            sailor.ends = self.now

    async def report(self, task: str) -> Report:
        """What the sailor would say."""
        self.perhaps_die()
        sailor = self.sailors[task]
        bad = sailor.error or ("no_result" if sailor.killed else "")
        state = "failed" if bad else "finished"
        return Report(task=task, state=state, agent="claude", exit=int(bool(bad)), error=bad)

    async def judge(self, plan: Plan, step: Step, report: Report) -> Judgement:  # noqa: ARG002
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
        again = "does not hold" in self.sailors[task].told
        words = f"planned anew by {task}," if again else "planned"
        return {"steps": [{"do": f"{words} {n}", "verify": [], "touch": []} for n in (1, 2)]}

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
        self.sea.budget = self.draw.choice((0.0, 0.0, 0.35, 1.0))
        self.sea.attempts = self.draw.randrange(1, 4)
        sea, replans = self.sea, self.draw.randrange(3)
        self.start = Start(
            path="M1.md", cwd="/", attempts=sea.attempts, cost=sea.budget, replans=replans
        )
        self.deeds = Deeds(outside=self.sea, start=self.start, name="M1.md")
        self.moves = 0
        self.answers = 0

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
        self._begin(parse(self.sea.text))
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

    def _begin(self, plan: Plan) -> None:
        """What the keeper does with its journal, too."""
        self.sea.notes.append({"k": BEGUN, "utc": self.sea.now, "goal": goal_mark(plan)})
        course = Course(plan=plan, terms=terms_of(self.start), spending=ledger(self.sea.notes))
        self.world = World(view=cast("Any", course), rules=rules.PLANS, craft=PLAN)
        self.due: Act | None = None

    def _take(self, body: Fact | MoveFinished | Ticked) -> None:
        now = Moment(at=self.sea.now, utc=self.sea.now)
        before = self.view.spending
        self.world, decisions = engine.step(self.world, happen(self.world, cast("Any", body), now))
        self._write(body, before)
        for each in decisions:
            if each.verdict.admitted:
                _hold(self.due is None, "one pair of hands")
                self.due = cast("Any", each.action)

    def _write(self, body: Fact | MoveFinished | Ticked, before: Spending) -> None:
        """Into the journal, what was planned anew and what was spent."""
        if isinstance(body, MoveFinished) and any(isinstance(f, PlanRevised) for f in body.facts):
            self.sea.notes.append({"k": REPLANNED, "utc": self.sea.now})
        spent = self.view.spending
        for task in spent.costs.keys() - before.costs.keys():
            told = {"task": task, "cost": spent.costs[task], "tokens": 10}
            self.sea.notes.append({"k": SPENT, "utc": self.sea.now, **told})

    def _move(self) -> None:
        """Look, and do what the rules say."""
        if render(self.view.plan) != self.sea.text:
            self._take(PlanRead(plan=parse(self.sea.text)))
        view = self.view
        if view.running is not None or view.planning or view.revising is not None:
            self._take(_ran(self.sea.sight(view.plan)))
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
        self.sea.notes.append({"k": RESTED, "utc": self.sea.now})
        self.answers += plan.status is PlanStatus.FAILED
        ours = answered(plan, "try") if plan.status is PlanStatus.FAILED else resumed(plan)
        if self.sea.budget and self.view.spending.cost >= self.sea.budget:
            self.sea.budget += 1.0
            self.start = replace(self.start, cost=self.sea.budget)
        plan = self.sea.save(plan, ours)
        self._begin(plan)


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
