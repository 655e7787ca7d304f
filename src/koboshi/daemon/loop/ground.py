"""Ground: what the loop's deeds reach outside, one verb each; a simulation can stand in for it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from koboshi.adapters.headless import structured_output
from koboshi.errors import HostError, KoboshiError, UnknownTask
from koboshi.hosts.headless import HeadlessHost
from koboshi.hosts.recorder import UNLEASHED
from koboshi.performers.loop.checking import check
from koboshi.performers.loop.committing import commit, committed, push
from koboshi.performers.loop.firing import Charge, fire
from koboshi.performers.loop.permitting import options_for
from koboshi.performers.loop.reviewing import reviewed
from koboshi.performers.loop.verifying import Judgement, Site, baseline, verify
from koboshi.plans import Plan, Step
from koboshi.plans.course import TaskSeen
from koboshi.plans.instructions import report_of, step_told
from koboshi.plans.planning import json_in
from koboshi.plans.reviewing import review_shape, review_task, reviewer_told
from koboshi.plans.spending import ledger
from koboshi.store.firings import Firings, Report
from koboshi.store.planfile import PlanFile
from koboshi.store.progress import Baseline, Progress, Start
from koboshi.store.redaction import redact, secret_values
from koboshi.store.shelves import write_whole
from koboshi.store.snapshots import prune

#: Seconds after which a run without a process never gets one: whoever was to release its recorder
#: died before that. From the release to the process it takes a recorder some milliseconds.
UNBORN = 10.0
#: Characters of what an agent or a command said that go into the file.
LONGEST = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What an agent is started for."""

    task: str
    agent: str
    told: str
    timeout: float
    shape: str = ""  #: of its answer, as JSON Schema: it answers, and may change nothing


class Outside(Protocol):
    """All that deeds can reach."""

    def save(self, plan: Plan, ours: Plan) -> Plan:
        """Write what differs between the two; the file as it is then."""
        ...

    async def sight(self, plan: Plan) -> TaskSeen:
        """How the run that the plan names is doing."""
        ...

    async def begin(self, step: Step) -> None:
        """Write down how things are before a step; once, whoever asks how often."""
        ...

    async def fire(self, errand: Errand, ready: Callable[[int], None]) -> None:
        """Start an agent; `ready` is told its pid before it begins."""
        ...

    async def end(self, task: str) -> None:
        """End a run and everything it started."""
        ...

    async def report(self, task: str) -> Report:
        """What came of a run."""
        ...

    async def judge(self, plan: Plan, step: Step, report: Report) -> Judgement:
        """What an attempt did, held against what its step asked for."""
        ...

    async def answer(self, task: str) -> object:
        """What a planner answered."""
        ...

    def commit(self, paths: tuple[str, ...], message: str, task: str) -> str:
        """Commit these files, once for that task; the hash."""
        ...

    def committed(self, task: str, words: str) -> str:
        """The commit that was made for that task, if it was told these words; empty: none was."""
        ...

    def publish(self, plan: Plan) -> str:
        """Report and push what is done, where that was asked for; what came of it."""
        ...

    def tidy(self) -> None:
        """Remove what only a plan at work needs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The real outside."""

    state: Path
    file: PlanFile
    progress: Progress
    start: Start
    halted: Callable[[], str]  #: why somebody said stop; empty: nobody did

    @property
    def site(self) -> Site:
        """Where the agents work."""
        return Site(
            cwd=Path(self.start.cwd),
            owner=f"plan-{self.progress.id}",
            owns=self.file.owns,
            env=self.progress.environment(),
        )

    @property
    def _host(self) -> HeadlessHost:
        return HeadlessHost(state_dir=self.state)

    def save(self, plan: Plan, ours: Plan) -> Plan:
        """Write what differs between the two; the file as it is then."""
        return self.file.save(plan, ours).plan

    async def sight(self, plan: Plan) -> TaskSeen:
        """How the run that the plan names is doing."""
        task = plan.current.task_id
        try:
            firing = Firings(self.state).firing(task)
            places = await self._host.find(task)
            if not places:
                return TaskSeen(task=task, state="absent")  # we alone could start it
            report = await check(self.state, task)
        except UnknownTask:
            return TaskSeen(task=task, state="absent")
        if report.why == UNLEASHED:
            return TaskSeen(task=task, state="absent")  # whoever fired it died before it began
        late = time.time() - firing.created > UNBORN
        if report.state == "running" and places[0].pid is None and late:
            return TaskSeen(task=task, state="absent")
        return TaskSeen(
            task=task,
            state=report.state,
            error=report.error,
            why=report.why,
            cost=report.cost,
            tokens=report.tokens,
            ended=report.ended,
            resets=report.resets,
            told=step_told(firing.instruction),
        )

    async def begin(self, step: Step) -> None:
        """Take the baseline, unless it was taken."""
        await self._baseline(step)

    async def _baseline(self, step: Step) -> Baseline:
        known = self.progress.baseline(step.number, step.text)
        if known is None:
            known = await baseline(self.site, step, self.halted)
            self.progress.keep_baseline(step.number, known)
        return known

    async def fire(self, errand: Errand, ready: Callable[[int], None]) -> None:
        """Start an agent; `ready` is told its pid before it begins."""
        options = await self._options(errand)
        charge = Charge(
            instruction=errand.told,
            agent=errand.agent,
            cwd=self.site.cwd,
            program=(errand.agent, *options),
            timeout=errand.timeout,
            task=errand.task,
            environment=self.progress.environment(),
            compared=False,  # by what the step began with, over all its attempts
        )
        await fire(self.state, charge, ready)

    async def _options(self, errand: Errand) -> tuple[str, ...]:
        most = self._purse(errand)
        if not errand.shape:
            given = self.start.options or await options_for(errand.agent, self.start.cwd)
            return given if set(most[:1]) & set(given) else (*given, *most)
        shape = errand.shape
        if errand.agent == "claude":
            return ("--permission-mode", "default", "--json-schema", shape, *most)
        if errand.agent == "codex":
            return ("-s", "read-only", "--output-schema", str(self.progress.write_schema(shape)))
        return self.start.options if errand.agent == "scripted" else ()

    def _purse(self, errand: Errand) -> tuple[str, ...]:
        """What keeps a run itself from spending more than is left, where its CLI can be told."""
        if errand.agent != "claude" or not self.start.cost:
            return ()
        left = self.start.cost - ledger(self.progress.notebook.newest()).cost
        return ("--max-budget-usd", f"{max(0.01, left):.2f}")

    async def end(self, task: str) -> None:
        """End a run and everything it started."""
        with contextlib.suppress(HostError):
            for place in await self._host.find(task) if task else ():
                await self._host.stop(place.id)

    async def report(self, task: str) -> Report:
        """What came of a run; what it said goes into a file that people share."""
        report = await check(self.state, task)
        return replace(report, summary=self._masked(report.summary), why=self._masked(report.why))

    async def judge(self, plan: Plan, step: Step, report: Report) -> Judgement:
        """What an attempt did, held against what its step asked for."""
        base = await self._baseline(step)
        judgement = await verify(self.site, step, report, base, self.halted)
        if judgement.verified and self.start.reviewer:
            judgement = await self._reviewed(plan, step, report.task, judgement)
        return replace(judgement, evidence=self._masked(judgement.evidence))

    async def _reviewed(self, plan: Plan, step: Step, task: str, judgement: Judgement) -> Judgement:
        """The judgement with a reviewer's verdict."""
        errand = Errand(
            task=review_task(task),
            agent=self.start.reviewer,
            told=reviewer_told(plan, step, judgement.changed),
            timeout=self.start.timeout,
            shape=review_shape(),
        )
        review, seen = await reviewed(
            self.state,
            errand.task,
            fire=lambda: self.fire(errand, lambda _: None),
            answer=self.answer,
            halted=self.halted,
        )
        said = f"{judgement.evidence} {review.evidence}" if review.accepted else review.evidence
        return replace(judgement, verified=review.accepted, evidence=said, review=seen)

    def _masked(self, text: str) -> str:
        """Without keys, and no longer than somebody reads."""
        known = secret_values(self.progress.environment() or os.environ)
        shown = redact(text[: 2 * LONGEST], secrets=known)
        return shown if len(shown) <= LONGEST else shown[:LONGEST] + "…"

    async def answer(self, task: str) -> object:
        """What a planner answered."""
        report = await check(self.state, task)
        places = await self._host.find(task)
        printed = await self._host.output(places[0].id) if places else ""
        return structured_output(printed, report.agent) or json_in(report.summary)

    def commit(self, paths: tuple[str, ...], message: str, task: str) -> str:
        """Commit these files, once for that task; the hash."""
        return commit(self.site.cwd, paths, message, task, env=self.progress.environment())

    def committed(self, task: str, words: str) -> str:
        """The commit that was made for that task, if it was told these words; empty: none was."""
        try:
            told = step_told(Firings(self.state).firing(task).instruction)
        except UnknownTask:
            return ""
        same = told == words  # a step that was reworded since is another one
        return committed(self.site.cwd, task, env=self.progress.environment()) if same else ""

    def publish(self, plan: Plan) -> str:
        """Write the report, then push; a push that is refused is told, and all is done the same."""
        said = []
        if self.start.report:
            write_whole(Path(self.start.report), report_of(plan).encode("utf-8", "replace"))
            said.append(f"reported in {self.start.report}")
        if self.start.push:
            try:
                push(self.site.cwd, env=self.progress.environment())
                said.append("pushed")
            except KoboshiError as error:
                said.append(f"not pushed: {self._masked(str(error))}")
        return "; ".join(said)

    def tidy(self) -> None:
        """Remove the snapshots of the steps."""
        with contextlib.suppress(KoboshiError):
            prune(self.site.cwd, self.site.owner, keep=0)
