"""Deeds: each move of the loop, done. The file says what is about to be done before it is done.

Rule 1: every deed may be done again after a death at any point, and comes out the same.
Rule 2: what is written comes from the plan as it was last read; the file merges it with whatever a
person wrote in between, or waits for them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import assert_never

from koboshi.errors import KoboshiError
from koboshi.hosts.headless import UNSEEN
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
from koboshi.plans.course import Fact, PlanRead, PlanRevised, StepJudged, TaskSeen
from koboshi.plans.instructions import CUT_OFF, commit_message, instruction, with_attempt
from koboshi.plans.lines import one_line
from koboshi.plans.moves import (
    CommitStep,
    Finish,
    GiveUp,
    Halt,
    MakePlan,
    Move,
    RevisePlan,
    StartStep,
    TakePlan,
    TakeRevision,
    VerifyStep,
)
from koboshi.plans.planning import planner_told, replanner_told, schema, steps_of
from koboshi.store.firings import Report, new_task
from koboshi.store.progress import Start
from koboshi.wording import many, times

from .ground import Errand, Outside

#: Characters of an instruction that the file shows; `koboshi check` knows all of it.
SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Deeds:
    """Does the moves."""

    outside: Outside
    start: Start
    name: str  #: of the plan file, which agents are told to leave alone

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
            case RevisePlan():
                return await self._revise(plan, move)
            case TakeRevision():
                return await self._take_revision(plan, move)
            case _:
                assert_never(move)

    # -- one each ------------------------------------------------------------------------------

    async def _start(self, plan: Plan, move: StartStep) -> tuple[Fact, ...]:
        step = _step(plan, move.step)
        await self.outside.begin(step)
        agent, task = step.agent or self.start.agent, new_task()
        told = instruction(plan, step, wrong=move.wrong, file=self.name)
        old = plan.results.get(step.number, StepResult())
        ours = set_state(plan, step.number, StepState.RUNNING)
        ours = set_current_step(ours, step.number)
        ours = set_result(ours, step.number, replace(old, exit=None, attempts=move.attempt))
        ours = set_actions(
            ours,
            last=f"step {step.number} started with {agent}, attempt {move.attempt}",
            following=f"koboshi check {task}, then verify step {step.number}",
        )
        timeout = self.start.timeout if step.timeout is None else step.timeout
        errand = Errand(task=task, agent=agent, told=told, timeout=timeout)
        return await self._fired(plan, ours, errand)

    async def _fired(self, plan: Plan, ours: Plan, errand: Errand) -> tuple[Fact, ...]:
        """Written down first, started then; it begins when its pid is written, too."""
        said = one_line(errand.told)
        short = said if len(said) <= SHOWN else said[:SHOWN] + "…"
        current = Current(task_id=errand.task, spawned=_stamp(), command=short)
        plan = self.outside.save(plan, set_current(ours, current))
        if plan.status is not PlanStatus.RUNNING or plan.current.task_id != errand.task:
            return (PlanRead(plan=plan),)  # a person was quicker
        begun = [plan]

        def ready(pid: int) -> None:
            ours = set_current(plan, replace(plan.current, pid=pid))
            begun.append(self.outside.save(plan, ours))

        await self.outside.fire(errand, ready)
        return (PlanRead(plan=begun[-1]),)

    async def _verify(self, plan: Plan, move: VerifyStep) -> tuple[Fact, ...]:
        step = _step(plan, move.step)
        report = await self.outside.report(move.task)
        judgement = await self.outside.judge(plan, step, report)
        judged = StepJudged(
            task=move.task,
            verified=judgement.verified,
            evidence=judgement.evidence,
            changed=judgement.changed,
            review=_seen(judgement.review),
        )
        if judgement.verified:
            return (judged,)
        old = plan.results.get(step.number, StepResult())
        came = f"{CUT_OFF if report.why == UNSEEN else ''}{judgement.evidence}"
        result = replace(
            old,
            exit=report.exit,
            summary=report.summary,
            verified=False,
            evidence=judgement.evidence,
            tried=with_attempt(old.tried, old.attempts or 1, came),
        )
        ours = set_result(plan, step.number, result)
        ours = set_actions(ours, last=f"step {step.number} was not verified")
        return (PlanRead(plan=self.outside.save(plan, ours)), judged)

    async def _commit(self, plan: Plan, move: CommitStep) -> tuple[Fact, ...]:
        step = _step(plan, move.step)
        report = await self.outside.report(move.task)
        old = plan.results.get(step.number, StepResult())
        made = ""
        if self.start.commit:
            message = commit_message(self.start.message, plan, step)
            made = self.outside.commit(move.changed, message, move.task)
        result = StepResult(
            exit=report.exit,
            commit=made,
            summary=report.summary,
            verified=True,
            evidence=move.evidence or f"{len(move.changed)} file(s) changed",
            attempts=old.attempts,
            tried=old.tried,
        )
        ours = set_result(set_state(plan, step.number, StepState.DONE), step.number, result)
        ours = set_actions(
            ours, last=f"step {step.number} verified", following=_after(plan, step.number)
        )
        return (PlanRead(plan=self.outside.save(plan, ours)),)

    def _give_up(self, plan: Plan, move: GiveUp) -> tuple[Fact, ...]:
        ours = set_state(set_status(plan, PlanStatus.FAILED), move.step, StepState.FAILED)
        ours = set_actions(
            ours,
            last=f"step {move.step} given up",
            following=f"{move.question} (koboshi loop answer '…' goes on)",
        )
        return (PlanRead(plan=self.outside.save(plan, ours)),)

    async def _halt(self, plan: Plan, move: Halt) -> tuple[Fact, ...]:
        await self.outside.end(plan.current.task_id)
        # What it had used by then counts.
        seen = (await self.outside.sight(plan),) if plan.current.task_id else ()
        ours = plan
        if plan.status is PlanStatus.RUNNING:
            ours = set_status(ours, PlanStatus.WAITING)
        if plan.status is PlanStatus.RUNNING and _revises(plan):
            ours = set_current(ours, Current())  # resumed, the planner is asked again
        for step in plan.steps:
            if step.state is StepState.RUNNING:
                ours = self._put_back(plan, ours, step)
        ours = set_actions(ours, last=f"stopped: {move.why}", following=move.again)
        return (*seen, PlanRead(plan=self.outside.save(plan, ours)))

    def _put_back(self, plan: Plan, ours: Plan, step: Step) -> Plan:
        """A step that is stopped is to be done again, unless it was done and that not written."""
        old = plan.results.get(step.number, StepResult())
        made = self.outside.committed(plan.current.task_id, step.text)
        if made:
            result = replace(old, commit=made, verified=True, evidence="it was committed")
            return set_result(set_state(ours, step.number, StepState.DONE), step.number, result)
        tried = max(0, (old.attempts or 1) - 1)  # it does not count
        ours = set_state(ours, step.number, StepState.PENDING)
        return set_result(ours, step.number, replace(old, attempts=tried))

    def _finish(self, plan: Plan) -> tuple[Fact, ...]:
        ours = set_status(plan, PlanStatus.DONE)
        said = self.outside.publish(ours)
        last = f"every step is done; {said}" if said else "every step is done"
        ours = set_actions(ours, last=last, following="nothing")
        plan = self.outside.save(plan, ours)
        self.outside.tidy()
        return (PlanRead(plan=plan),)

    async def _plan(self, plan: Plan) -> tuple[Fact, ...]:
        agent, told = self.start.agent, planner_told(plan, self.start.max_steps)
        ours = set_actions(plan, last=f"planner started with {agent}", following="take its steps")
        timeout = self.start.timeout
        shape = schema(self.start.max_steps)
        errand = Errand(task=new_task(), agent=agent, told=told, timeout=timeout, shape=shape)
        return await self._fired(plan, ours, errand)

    async def _revise(self, plan: Plan, move: RevisePlan) -> tuple[Fact, ...]:
        """FAILED for the moment: no agent works on it while a planner thinks."""
        step, most = _step(plan, move.step), self._room(move.step)
        if most < 1:
            return self._give_up(plan, GiveUp(step=step.number, question=_asked(plan, step)))
        agent, task = self.start.agent, new_task()
        ours = set_state(plan, step.number, StepState.FAILED)
        last = f"planner started with {agent}: step {step.number} could not be done as planned"
        ours = set_actions(ours, last=last, following="take its steps")
        told, timeout = replanner_told(plan, step, most), self.start.timeout
        shape = schema(most, least=0)
        errand = Errand(task=task, agent=agent, told=told, timeout=timeout, shape=shape)
        return await self._fired(plan, ours, errand)

    async def _take_revision(self, plan: Plan, move: TakeRevision) -> tuple[Fact, ...]:
        step = _step(plan, move.step)
        kept = step.number - 1
        made = steps_of(await self.outside.answer(move.task), self._room(step.number))
        if isinstance(made, str):
            return self._give_up(plan, GiveUp(step=step.number, question=_asked(plan, step)))
        new = tuple(replace(each, number=kept + n) for n, each in enumerate(made, start=1))
        ours = replace_steps(plan, kept, new)
        ours = set_result(set_current(ours, Current()), step.number, StepResult(attempts=0))
        following = f"step {step.number}: {new[0].text}"
        ours = set_actions(ours, last=f"planned {len(new)} other steps", following=following)
        before = tuple(each.text for each in plan.steps[kept:])
        after = tuple(each.text for each in new)
        revised = PlanRevised(kept=kept, before=before, after=after)
        return (revised, PlanRead(plan=self.outside.save(plan, ours)))

    def _room(self, step: int) -> int:
        """Steps that may stand in the place of that one and all behind it."""
        return self.start.max_steps - (step - 1)

    async def _take(self, plan: Plan, move: TakePlan) -> tuple[Fact, ...]:
        report = await self.outside.report(move.task)
        made = steps_of(await self.outside.answer(move.task), self.start.max_steps)
        # A planner that was kept from a call may have planned all the same.
        if isinstance(made, str):
            why = report.why if report.state == "failed" else made
            plan = self.outside.save(
                plan, set_current(plan, Current())
            )  # resumed, it is asked again
            return await self._halt(plan, Halt(why=f"no plan was made: {why}"))
        ours = replace_steps(plan, 0, made)
        ours = set_current(ours, Current())
        ours = set_actions(ours, last=f"planned {many(len(made), 'step')}", following="step 1")
        if self.start.review:
            ours = set_status(ours, PlanStatus.WAITING)
            ours = set_actions(ours, following="read the steps; 'koboshi loop resume' approves")
        return (PlanRead(plan=self.outside.save(plan, ours)),)


def _stamp() -> str:
    return datetime.fromtimestamp(time.time(), tz=UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _step(plan: Plan, number: int) -> Step:
    found = plan.step(number)
    if found is None:
        raise KoboshiError(f"expected a step {number}, and the plan has none any more")
    return found


def _revises(plan: Plan) -> bool:
    """Whether a planner thinks about a step that could not be done."""
    return any(step.state is StepState.FAILED for step in plan.steps)


def _seen(report: Report | None) -> TaskSeen | None:
    """What the run of a reviewer used up."""
    if report is None:
        return None
    return TaskSeen(task=report.task, state=report.state, cost=report.cost, tokens=report.tokens)


def _asked(plan: Plan, step: Step) -> str:
    """The question about a step for which no planner knew another way."""
    result = plan.results.get(step.number) or StepResult()
    return (
        f"Step {step.number} failed {times(result.attempts or 0)}, and no other plan was found:"
        f" {result.evidence} What shall be different?"
    )


def _after(plan: Plan, number: int) -> str:
    following = plan.step(number + 1)
    return f"step {number + 1}: {following.text}" if following else "all steps are done"
