"""Keeper: looks after one plan. Look → fold → advise → write → do, and again.

Rule 1: it holds no state of its own. Whoever starts anew reads the file, and knows as much.
Rule 2: one keeper per plan: a lock that the kernel drops by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from koboshi.adapters.headless import SILENT
from koboshi.core.events import Moment
from koboshi.core.rules import Rule
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
from koboshi.plans.course import (
    Advice,
    Course,
    Fact,
    Halt,
    PlanRead,
    PlanRevised,
    StopSeen,
    Terms,
    fold,
)
from koboshi.plans.spending import BEGUN, REPLANNED, RESTED, SPENT, goal_mark, ledger
from koboshi.rules.plans import advise
from koboshi.store.paths import plans_dir
from koboshi.store.planfile import PlanFile, PlanWatch
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
        terms = terms_of(start)
        self.view = Course(plan=self.file.sound(), terms=terms)

    def halted(self) -> str:
        """Why it has to stop; empty: nobody said so."""
        for path in (*self._stops, self.progress.stop_file):
            if path.exists():
                return f"{path} is there"
        return ""

    async def run(self) -> Plan:
        """Work until the plan is DONE, FAILED or WAITING."""
        with agent_lock(self.progress.lock):
            self.file.sweep()
            await self._chronicle.begin(self.view.plan)
            self._begin()
            try:
                plan = await self._walk()
                self._note(k=RESTED, status=plan.status.value)
                return plan
            finally:
                await self._chronicle.herald.close()

    async def _walk(self) -> Plan:
        while True:
            await self._look()
            found = None if self.damage else advise(self.view, self._now())
            self._tell(self.view, *(found or (None, None)))
            if found is not None:
                await self._act(*found)
                await self._spread()
            elif self.view.plan.status is not PlanStatus.RUNNING and not self.damage:
                await self._spread()  # whoever ended it may have died before
                return self.view.plan
            else:
                await asyncio.sleep(EVERY)

    def _begin(self) -> None:
        """From now on the plan's time counts; after a death it never ceased to."""
        self._note(k=BEGUN, goal=goal_mark(self.view.plan))
        self.view = replace(self.view, spending=ledger(self.progress.notes()))

    async def _spread(self) -> None:
        """Tell people what is new; the file says it already."""
        for each in await self._chronicle.tell(self.view.plan, stopped=bool(self.view.stopped)):
            self._note(k="told", message=each.text, key=each.key)

    async def _look(self) -> None:
        if self._watch.edited(time.monotonic()):
            self._edited()
        if why := self.halted():
            self._fold(StopSeen(why=why))
        if self.view.running is not None or self.view.planning or self.view.revising is not None:
            self._fold(await self._ground.sight(self.view.plan))

    def _edited(self) -> None:
        """The file was written, by us or by somebody else: what it says now is the plan."""
        try:
            plan = self.file.sound()
        except (PlanDamaged, FileUnreadable) as error:
            self._damaged(error)
            return
        mended, self.damage = bool(self.damage), ""
        if mended or render(plan) != render(self.view.plan):
            self._note(k="edited", status=plan.status.value)
            self._fold(PlanRead(plan=plan))

    def _damaged(self, error: InputError) -> None:
        """Left alone, and nothing is done, until somebody mends it; the agent goes on."""
        self.damage = str(error)
        self._note(k="damaged", why=self.damage)

    async def _act(self, rule: Rule, advice: Advice) -> None:
        move = {"kind": type(advice.move).__name__, **asdict(advice.move)}
        self._note(k="decided", code=rule.code, message=advice.message, move=move)
        try:
            facts = await self._deeds.do(self.view.plan, advice.move)
        except Halted as stop:
            facts = (StopSeen(why=str(stop)),)
        except (PlanDamaged, FileUnreadable) as error:
            self._damaged(error)
            facts = ()
        except KoboshiError as error:
            if isinstance(advice.move, Halt):
                raise
            self._edited()  # as far as it came
            facts = await self._deeds.do(self.view.plan, Halt(why=str(error)))
        for fact in facts:
            self._fold(fact)
        self._note(k="done", kind=move["kind"], key=advice.move.key, status=self._status)

    @property
    def _status(self) -> str:
        return self.view.plan.status.value

    def _fold(self, fact: Fact) -> None:
        if isinstance(fact, PlanRevised):
            self._note(k=REPLANNED, kept=fact.kept, before=fact.before, after=fact.after)
        before, self.view = self.view.spending, fold(self.view, fact, self._now())
        for task in self.view.spending.costs.keys() - before.costs.keys():
            spent, limited = self.view.spending, self.view.spending.limited > before.limited
            cost, tokens = spent.costs[task], spent.tokens[task]
            self._note(k=SPENT, task=task, cost=cost, tokens=tokens, limited=limited)

    def _note(self, **record: object) -> None:
        self.progress.note({**record, "utc": time.time()})

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
        plan = set_result(plan, step.number, replace(old, attempts=0, answer=answer))
    return set_actions(resumed(plan), last=f"answered: {answer}")
