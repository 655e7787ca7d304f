"""Deeds: each move of the loop, done. The file says what is about to be done before it is done.

Rule 1: every deed may be done again after a death at any point, and comes out the same.
Rule 2: what is written comes from the plan as it was last read; the file merges it with whatever a
person wrote in between, or waits for them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_never

from koboshi.adapters.headless import structured_output
from koboshi.errors import HostError, KoboshiError, UnknownTask
from koboshi.hosts.headless import HeadlessHost
from koboshi.performers.loop.checking import check
from koboshi.performers.loop.committing import commit
from koboshi.performers.loop.firing import Charge, fire
from koboshi.performers.loop.verifying import Site, baseline, verify
from koboshi.plans import (
    Current,
    Plan,
    PlanStatus,
    Step,
    StepResult,
    StepState,
    replace_steps,
    set_actions,
    set_current,
    set_current_step,
    set_result,
    set_state,
    set_status,
)
from koboshi.plans.course import (
    CommitStep,
    Fact,
    Finish,
    GiveUp,
    Halt,
    MakePlan,
    Move,
    PlanRead,
    StartStep,
    StepJudged,
    TakePlan,
    TaskSeen,
    VerifyStep,
)
from koboshi.plans.instructions import instruction, step_told
from koboshi.plans.planning import json_in, planner_told, steps_of
from koboshi.plans.planning import schema as task_schema
from koboshi.store.firings import Firings, new_task
from koboshi.store.planfile import PlanFile
from koboshi.store.progress import Baseline, Progress, Start
from koboshi.store.snapshots import prune

#: What lets each CLI change files of its project without asking; whoever wants less says so.
MAY_EDIT = {
    "claude": ("--permission-mode", "acceptEdits"),
    "codex": ("-s", "workspace-write"),
    "gemini": ("--approval-mode", "auto_edit"),
    "opencode": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deeds:
    """What the loop may touch."""

    state: Path
    file: PlanFile
    progress: Progress
    start: Start
    halted: Callable[[], str]  #: why somebody said stop; empty: nobody did

    @property
    def site(self) -> Site:
        """Where the agents work."""
        return Site(cwd=Path(self.start.cwd), owner=f"plan-{self.progress.id}", owns=self.file.owns)

    async def sight(self, plan: Plan) -> TaskSeen:
        """How the run that the plan names is doing."""
        task = plan.current.task_id
        host = HeadlessHost(state_dir=self.state)
        try:
            firing = Firings(self.state).firing(task)
            if not await host.find(task):
                return TaskSeen(task=task, state="absent")  # we alone could start it
            report = await check(self.state, task)
        except UnknownTask:
            return TaskSeen(task=task, state="absent")
        return TaskSeen(
            task=task,
            state=report.state,
            error=report.error,
            why=report.why,
            cost=report.cost or 0.0,
            told=step_told(firing.instruction),
        )

    async def do(self, plan: Plan, move: Move) -> tuple[Fact, ...]:
        """Do it; what is known afterwards."""
        match move:
            case StartStep():
                return await self._start(plan, move)
            case VerifyStep():
                return await self._verify(plan, move)
            case CommitStep():
                return await self._commit(plan, move)
            case GiveUp():
                return self._give_up(plan, move)
            case Halt():
                return await self._halt(plan, move)
            case Finish():
                return self._finish(plan)
            case MakePlan():
                return await self._plan(plan)
            case TakePlan():
                return await self._take(plan, move)
            case _:
                assert_never(move)

    # -- one each ------------------------------------------------------------------------------

    async def _start(self, plan: Plan, move: StartStep) -> tuple[Fact, ...]:
        step = _step(plan, move.step)
        await self._baseline(step)
        agent, task = step.agent or self.start.agent, new_task()
        told = instruction(plan, step, wrong=move.wrong, file=self.file.path.name)
        old = plan.results.get(step.number, StepResult())
        ours = set_state(plan, step.number, StepState.RUNNING)
        ours = set_current_step(ours, step.number)
        ours = set_current(ours, Current(task_id=task, spawned=_stamp(), command=told))
        result = replace(old, exit=None, attempts=move.attempt)
        ours = set_result(ours, step.number, result)
        ours = set_actions(
            ours,
            last=f"step {step.number} started with {agent}, attempt {move.attempt}",
            following=f"koboshi check {task}, then verify step {step.number}",
        )
        plan = self._save(plan, ours)
        if plan.status is not PlanStatus.RUNNING:
            return (PlanRead(plan=plan),)
        timeout = self.start.timeout if step.timeout is None else step.timeout
        options = self.start.options or MAY_EDIT.get(agent, ())
        charge = Charge(
            instruction=told,
            agent=agent,
            cwd=self.site.cwd,
            program=(agent, *options),
            timeout=timeout,
            task=task,
            compared=False,  # by what the step began with, over all its attempts
        )
        await fire(self.state, charge)
        return (PlanRead(plan=await self._with_pid(plan, task)),)

    async def _verify(self, plan: Plan, move: VerifyStep) -> tuple[Fact, ...]:
        step = _step(plan, move.step)
        report = await check(self.state, move.task)
        judgement = await verify(self.site, step, report, await self._baseline(step), self.halted)
        judged = StepJudged(
            task=move.task,
            verified=judgement.verified,
            evidence=judgement.evidence,
            changed=judgement.changed,
        )
        if judgement.verified:
            return (judged,)
        old = plan.results.get(step.number, StepResult())
        result = replace(
            old,
            exit=report.exit,
            summary=report.summary,
            verified=False,
            evidence=judgement.evidence,
        )
        ours = set_result(plan, step.number, result)
        ours = set_actions(ours, last=f"step {step.number} was not verified")
        return (PlanRead(plan=self._save(plan, ours)), judged)

    async def _commit(self, plan: Plan, move: CommitStep) -> tuple[Fact, ...]:
        step = _step(plan, move.step)
        report = await check(self.state, move.task)
        made = ""
        if self.start.commit:
            title = step.text.splitlines()[0]
            message = f"{title}\n\nStep {step.number} of {len(plan.steps)}: {plan.goal}"
            made = commit(self.site.cwd, move.changed, message, move.task)
        result = StepResult(
            exit=report.exit,
            commit=made,
            summary=report.summary,
            verified=True,
            evidence=f"{len(move.changed)} file(s) changed",
            attempts=(plan.results.get(step.number) or StepResult()).attempts,
        )
        ours = set_result(set_state(plan, step.number, StepState.DONE), step.number, result)
        ours = set_actions(
            ours, last=f"step {step.number} verified", following=_after(plan, step.number)
        )
        return (PlanRead(plan=self._save(plan, ours)),)

    def _give_up(self, plan: Plan, move: GiveUp) -> tuple[Fact, ...]:
        ours = set_state(set_status(plan, PlanStatus.FAILED), move.step, StepState.FAILED)
        ours = set_actions(
            ours,
            last=f"step {move.step} given up",
            following=f"{move.question} (koboshi loop answer '…' goes on)",
        )
        return (PlanRead(plan=self._save(plan, ours)),)

    async def _halt(self, plan: Plan, move: Halt) -> tuple[Fact, ...]:
        await self._end(plan.current.task_id)
        ours = plan
        if plan.status is PlanStatus.RUNNING:
            ours = set_status(ours, PlanStatus.WAITING)
        for step in plan.steps:
            if step.state is StepState.RUNNING:
                old = plan.results.get(step.number, StepResult())
                tried = max(0, (old.attempts or 1) - 1)  # it does not count
                ours = set_state(ours, step.number, StepState.PENDING)
                ours = set_result(ours, step.number, replace(old, attempts=tried))
        ours = set_actions(ours, last=f"stopped: {move.why}", following=move.again)
        return (PlanRead(plan=self._save(plan, ours)),)

    def _finish(self, plan: Plan) -> tuple[Fact, ...]:
        ours = set_status(plan, PlanStatus.DONE)
        ours = set_actions(ours, last="every step is done", following="nothing")
        plan = self._save(plan, ours)
        with contextlib.suppress(KoboshiError):
            prune(self.site.cwd, self.site.owner, keep=0)
        return (PlanRead(plan=plan),)

    async def _plan(self, plan: Plan) -> tuple[Fact, ...]:
        agent, task = self.start.agent, new_task()
        told = planner_told(plan, self.start.max_steps)
        schema = self.progress.write_schema(task_schema(self.start.max_steps))
        ours = set_current(plan, Current(task_id=task, spawned=_stamp(), command=told))
        ours = set_actions(ours, last=f"planner started with {agent}", following="take its steps")
        plan = self._save(plan, ours)
        if plan.status is not PlanStatus.RUNNING:
            return (PlanRead(plan=plan),)
        charge = Charge(
            instruction=told,
            agent=agent,
            cwd=self.site.cwd,
            program=(agent, *planner_options(agent, schema)),
            timeout=self.start.timeout,
            task=task,
            compared=False,
        )
        await fire(self.state, charge)
        return (PlanRead(plan=await self._with_pid(plan, task)),)

    async def _take(self, plan: Plan, move: TakePlan) -> tuple[Fact, ...]:
        report = await check(self.state, move.task)
        places = await HeadlessHost(state_dir=self.state).find(move.task)
        printed = await HeadlessHost(state_dir=self.state).output(places[0].id) if places else ""
        answer = structured_output(printed, report.agent) or json_in(report.summary)
        made = steps_of(answer, self.start.max_steps)
        # A planner that was kept from a call may have planned all the same.
        if isinstance(made, str):
            why = report.why if report.state == "failed" else made
            plan = self._save(plan, set_current(plan, Current()))  # resumed, it is asked again
            return await self._halt(plan, Halt(why=f"no plan was made: {why}"))
        ours = replace_steps(plan, 0, made)
        ours = set_current(ours, Current())
        ours = set_actions(ours, last=f"planned {len(made)} steps", following="step 1")
        if self.start.review:
            ours = set_status(ours, PlanStatus.WAITING)
            ours = set_actions(ours, following="read the steps; 'koboshi loop resume' approves")
        return (PlanRead(plan=self._save(plan, ours)),)

    # -- parts ---------------------------------------------------------------------------------

    async def _baseline(self, step: Step) -> Baseline:
        """Where the step began; taken once, before its first attempt."""
        known = self.progress.baseline(step.number, step.text)
        if known is None:
            known = await baseline(self.site, step, self.halted)
            self.progress.keep_baseline(step.number, known)
        return known

    async def _with_pid(self, plan: Plan, task: str) -> Plan:
        places = await HeadlessHost(state_dir=self.state).find(task)
        if not places or places[0].pid is None:
            return plan
        return self._save(plan, set_current(plan, replace(plan.current, pid=places[0].pid)))

    async def _end(self, task: str) -> None:
        host = HeadlessHost(state_dir=self.state)
        with contextlib.suppress(HostError):
            for place in await host.find(task) if task else ():
                await host.stop(place.id)

    def _save(self, plan: Plan, ours: Plan) -> Plan:
        return self.file.save(plan, ours).plan


def _stamp() -> str:
    return datetime.fromtimestamp(time.time(), tz=UTC).strftime("%Y-%m-%dT%H:%M:%S")


def planner_options(agent: str, schema: Path) -> tuple[str, ...]:
    """What keeps a planner from changing anything, and to the shape of its answer."""
    if agent == "claude":
        text = schema.read_text(encoding="utf-8")
        return ("--permission-mode", "default", "--json-schema", text)
    if agent == "codex":
        return ("-s", "read-only", "--output-schema", str(schema))
    return ()


def _step(plan: Plan, number: int) -> Step:
    found = plan.step(number)
    if found is None:
        raise KoboshiError(f"expected a step {number}, and the plan has none any more")
    return found


def _after(plan: Plan, number: int) -> str:
    following = plan.step(number + 1)
    return f"step {number + 1}: {following.text}" if following else "all steps are done"
