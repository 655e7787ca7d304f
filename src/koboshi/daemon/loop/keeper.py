"""Keeper: looks after one plan. Look → `core.engine.step` → write → do → outcome, and again.

Rule 1: it holds no state of its own. Whoever starts anew reads the file, and knows as much.
Rule 2: one keeper per plan: a lock that the kernel drops by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from koboshi.adapters.headless import SILENT
from koboshi.core.engine import Decision, World, happen, step
from koboshi.core.events import Ending, Moment, Outcome, Ticked
from koboshi.core.rules import Rule
from koboshi.core.view import evolve
from koboshi.daemon.lock import agent_lock
from koboshi.errors import FileUnreadable, InputError, KoboshiError, PlanDamaged
from koboshi.performers.loop.commands import Halted
from koboshi.plans import (
    Merged,
    Plan,
    PlanStatus,
    StepResult,
    StepState,
    render,
    set_actions,
    set_result,
    set_state,
    set_status,
    waiting,
)
from koboshi.plans.course import Course, Fact, PlanRead, PlanRevised, StopSeen, Terms
from koboshi.plans.crafts import PLAN, MoveFinished
from koboshi.plans.moves import Act, Advice, Halt, Move
from koboshi.plans.spending import BEGUN, REPLANNED, RESTED, SPENT, Spending, goal_mark, ledger
from koboshi.rules.plans import PLANS
from koboshi.store.paths import plans_dir
from koboshi.store.planfile import PlanFile, PlanWatch
from koboshi.store.planjournal import PlanJournal
from koboshi.store.progress import Progress, Start

from .deeds import Deeds
from .ground import Ground
from .heralds import Chronicle, Herald, Messenger

#: Whoever makes this file stops every plan of the machine.
STOP_FILE = Path("/tmp/koboshi-stop")  # noqa: S108 - a word to us, its content is not read
#: Seconds between two looks; a look reads three small files.
EVERY = 0.2

Tell = Callable[[Course, Rule | None, Advice | None], None]


class Keeper:
    """Works through one plan until there is nothing left that it can do by itself."""

    def __init__(
        self, state: Path, start: Start, *, tell: Tell, herald: Herald | None = None
    ) -> None:
        self.file = PlanFile(Path(start.path), plans_dir(state))
        stop_file = Path(start.stop_file) if start.stop_file else STOP_FILE
        self.progress = Progress(state, self.file.path)
        self._stops = (stop_file, stop_file.with_name(f"{stop_file.name}-{self.file.path.stem}"))
        self._tell = tell
        herald = herald or Messenger(state, self.progress, self.file.path.name)
        self._chronicle = Chronicle(self.progress, start, herald)
        self.damage = ""  #: why the file cannot be worked with at the moment
        self._watch = PlanWatch(self.file)
        self._ground = Ground(
            state=state, file=self.file, progress=self.progress, start=start, halted=self.halted
        )
        self._deeds = Deeds(outside=self._ground, start=start, name=self.file.path.name)
        self._journal = PlanJournal(self.progress)
        self._due: Decision | None = None
        course = Course(plan=self.file.sound(), terms=terms_of(start), name=self.file.path.name)
        self.world = World(view=cast("Any", course), rules=PLANS, craft=PLAN)

    def halted(self) -> str:
        """Why it has to stop; empty: nobody said so."""
        for path in self._stops:
            if path.exists():
                return f"{path} is there"
        return "a person said so" if self.progress.stop_file.exists() else ""

    @property
    def view(self) -> Course:
        """What is known of the plan."""
        return cast("Course", self.world.view)

    async def run(self) -> Plan:
        """Work until the plan is DONE, FAILED or WAITING."""
        with agent_lock(self.progress.lock):
            return await self.walk()

    async def walk(self) -> Plan:
        """The same, for whoever holds the plan's lock."""
        self.file.sweep()
        await self._chronicle.begin(self.view.plan)
        self._begin()
        try:
            plan = await self._walk()
            self._note(k=RESTED, status=plan.status.value)
            return plan
        finally:
            await self._chronicle.herald.close()

    def _begin(self) -> None:
        """From now on the plan's time counts; after a death it never ceased to."""
        self._note(k=BEGUN, goal=goal_mark(self.view.plan))
        course: Any = replace(self.view, spending=ledger(self._journal.rows()))
        self.world = evolve(self.world, view=course, seq=self._journal.last())
        self._journal.open(self.world, self._now())

    async def _walk(self) -> Plan:
        while True:
            await self._look()
            due, self._due = self._due, None
            self._tell(self.view, *(self._spoken(due) if due else (None, None)))
            if due is not None:
                await self._act(due)
                await self._spread()
            elif self.view.plan.status is not PlanStatus.RUNNING and not self.damage:
                await self._spread()  # whoever ended it may have died before
                self.progress.stop_file.unlink(missing_ok=True)  # it was heard
                return self.view.plan
            else:
                await asyncio.sleep(EVERY)

    async def _spread(self) -> None:
        """Tell people what is new; the file says it already."""
        for each in await self._chronicle.tell(self.view.plan, stopped=bool(self.view.stopped)):
            self._note(k="told", message=each.text, key=each.key)

    # -- what is seen --------------------------------------------------------------------------

    async def _look(self) -> None:
        if self._watch.edited(time.monotonic()):
            self._edited()
        why = self.halted()
        if self.damage:
            # Nothing is decided from what nobody can read; but whoever says stop means the agent.
            if why:
                await self._stop_blindly(why)
            return
        if why:
            self._take(StopSeen(why=why))
        if self.view.running is not None or self.view.planning or self.view.revising is not None:
            self._take(await self._ground.sight(self.view.plan))
        else:
            self._take(Ticked())

    async def _stop_blindly(self, why: str) -> None:
        """End the agent that the file named when it could be read; the file is left alone."""
        await self._ground.end(self.view.plan.current.task_id)
        self.progress.stop_file.unlink(missing_ok=True)  # it was heard
        raise KoboshiError(f"stopped: {why}; the plan itself: {self.damage}")

    def _edited(self) -> None:
        """The file was written, by us or by somebody else: what it says now is the plan."""
        try:
            plan = self.file.sound()
        except (PlanDamaged, FileUnreadable) as error:
            self._damaged(error)
            return
        mended, self.damage = bool(self.damage), ""
        if mended or render(plan) != render(self.view.plan):
            self._take(PlanRead(plan=plan))

    def _damaged(self, error: InputError) -> None:
        """Left alone, and nothing is done, until somebody mends it; the agent goes on."""
        self.damage = str(error)
        self._note(k="damaged", why=self.damage)

    def _take(self, body: Fact | MoveFinished | Ticked) -> None:
        """One more fact: what is known then, and what is decided; written before it is done."""
        event = happen(self.world, cast("Any", body), self._now())
        after, decisions = step(self.world, event)
        if after is self.world:
            return
        self._journal.write(event, decisions)
        before, self.world = self.view.spending, after
        self._spent(before)
        for each in decisions:
            if each.verdict.admitted:
                self._due = each  # one pair of hands: there is never another

    # -- what is done --------------------------------------------------------------------------

    async def _act(self, decision: Decision) -> None:
        act: Any = decision.action
        move: Move = act.move
        why = self.damage or (self.halted() if not isinstance(move, Halt) else "")
        if why:  # since it was decided
            return self._finish(act, Ending.SKIPPED, why)
        try:
            facts = await self._deeds.do(self.view.plan, move)
        except Halted as stop:
            return self._finish(act, Ending.SKIPPED, str(stop), StopSeen(why=str(stop)))
        except (PlanDamaged, FileUnreadable) as error:
            self._damaged(error)
            return self._finish(act, Ending.SKIPPED, str(error))
        except KoboshiError as error:
            if isinstance(move, Halt):
                raise
            self._edited()  # as far as it came
            facts = await self._deeds.do(self.view.plan, Halt(why=str(error)))
            return self._finish(act, Ending.FAILED, str(error), *facts)
        return self._finish(act, Ending.DONE, "", *facts)

    def _finish(self, act: Act, ending: Ending, why: str, *facts: Fact) -> None:
        for fact in facts:
            if isinstance(fact, PlanRevised):
                self._note(k=REPLANNED, kept=fact.kept, before=fact.before, after=fact.after)
        outcome = Outcome(ending=ending, why=why)
        self._take(MoveFinished(key=act.key, action=cast("Any", act), outcome=outcome, facts=facts))

    @staticmethod
    def _spoken(decision: Decision) -> tuple[Rule, Advice]:
        """Who said so, and what."""
        act: Any = decision.action
        finding = decision.finding
        rule = next(each for each in PLANS if each.code == finding.code)
        return rule, Advice(message=finding.message, move=act.move, evidence=finding.evidence)

    def _spent(self, before: Spending) -> None:
        """Write down what runs have cost that ended since."""
        spent = self.view.spending
        for task in spent.costs.keys() - before.costs.keys():
            cost, tokens, limited = spent.costs[task], spent.tokens[task], spent.limited
            self._note(
                k=SPENT, task=task, cost=cost, tokens=tokens, limited=limited > before.limited
            )

    def _note(self, **record: object) -> None:
        self._journal.note({**record, "utc": time.time()})

    @staticmethod
    def _now() -> Moment:
        return Moment(at=time.monotonic(), utc=time.time())


def terms_of(start: Start) -> Terms:
    """By what a plan is worked through, as it was started."""
    return Terms(
        attempts=start.attempts,
        timeout=start.timeout,
        agent=start.agent,
        commit=start.commit,
        seconds=start.seconds,
        cost=start.cost,
        tokens=start.tokens,
        silent=SILENT,
        replans=start.replans,
    )


def resumed(plan: Plan) -> Plan:
    """The plan as it goes on when a person says so; what both had changed is settled by then."""
    return set_status(waiting(Merged(plan=plan)), PlanStatus.RUNNING)


def answered(plan: Plan, answer: str) -> Plan:
    """The plan with a person's answer to what it asked; the step has all its attempts again."""
    step = next((each for each in plan.steps if each.state is StepState.FAILED), None)
    if step is not None:
        old = plan.results.get(step.number, StepResult())
        plan = set_state(plan, step.number, StepState.PENDING)
        plan = set_result(plan, step.number, replace(old, attempts=0, tried="", answer=answer))
    return set_actions(resumed(plan), last=f"answered: {answer}")
