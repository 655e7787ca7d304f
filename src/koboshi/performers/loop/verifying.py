"""Verify: what an attempt did, held against what its step asked for. Words do not count.

Only what is new since the step began counts against it: a test that failed before may go on
failing, and what a person had not committed is not the step's work.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import GitError
from koboshi.plans.failures import failures, new_failures
from koboshi.plans.globs import outside
from koboshi.plans.instructions import NOTHING
from koboshi.plans.values import Step
from koboshi.store.firings import Report
from koboshi.store.progress import Baseline
from koboshi.store.snapshots import Skipped, between, take

from .commands import Ran, run

#: Failures that are named in the evidence; the rest is counted.
NAMED = 8
#: Seconds that git may take.
PATIENCE = 60.0

Halted = Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where a plan works, and what there is not a step's work."""

    cwd: Path
    owner: str  #: in whose name snapshots are taken
    owns: Callable[[Path], bool] = lambda _: False  #: whether that is the plan file
    env: dict[str, str] | None = None  #: that the plan was started in; None: ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether a step was done, why, and which files it changed."""

    verified: bool
    evidence: str
    changed: tuple[str, ...] = ()  #: relative to where the plan works
    review: Report | None = None  #: of the run that looked at it, too


async def baseline(site: Site, step: Step, halted: Halted) -> Baseline:
    """How things are before the step: a snapshot, and what of its commands fails already."""
    before = await asyncio.to_thread(snapshot, site, f"step-{step.number}-before")
    failed = {}
    for command in step.verify:
        ran = await run(command, site.cwd, halted=halted, env=site.env)
        if not ran.well:
            failed[command] = failures(ran.output)
    return Baseline(text=step.text, before=before, failed=failed)


async def verify(
    site: Site, step: Step, report: Report, base: Baseline, halted: Halted
) -> Judgement:
    """The judgement on an attempt; all that is wrong is named, not only the first."""
    changed = await asyncio.to_thread(changes, site, step, base)
    wrong = [*_run_faults(report), *_change_faults(step, changed)]
    for command in step.verify:
        ran = await run(command, site.cwd, halted=halted, env=site.env)
        wrong += _command_faults(ran, base.failed.get(command))
    if wrong:
        return Judgement(verified=False, evidence=" ".join(wrong), changed=changed)
    tests = f", {len(step.verify)} command(s) succeeded" if step.verify else ""
    said = f"{len(changed)} file(s) changed{tests}."
    return Judgement(verified=True, evidence=said, changed=changed)


def snapshot(site: Site, name: str) -> str:
    """A snapshot's commit; raises where there can be none."""
    taken = take(site.cwd, site.owner, name, patience=PATIENCE)
    if isinstance(taken, Skipped):
        raise GitError(f"no snapshot of {site.cwd}: {taken.reason}")
    return taken.commit


def changes(site: Site, step: Step, base: Baseline) -> tuple[str, ...]:
    """The files that differ from before the step, but for the plan itself."""
    after = snapshot(site, f"step-{step.number}-after")
    top = _top(site.cwd)
    cwd = os.path.realpath(site.cwd)
    found = []
    for change in between(site.cwd, base.before, after, patience=PATIENCE):
        full = os.path.join(top, change.path)  # noqa: PTH118 - both are strings already
        if not site.owns(Path(os.path.realpath(full))):
            found.append(os.path.relpath(full, cwd))
    return tuple(found)


def _top(cwd: Path) -> str:
    """The worktree that the folder is in."""
    folder = Path(os.path.realpath(cwd))
    found = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
    return str(found)


def _run_faults(report: Report) -> list[str]:
    if report.state == "finished":
        return []
    return [f"The run failed: {report.why}."]


def _change_faults(step: Step, changed: tuple[str, ...]) -> list[str]:
    if step.touch == (NOTHING,):
        return [f"No change was expected, and there is: {_listed(changed)}."] if changed else []
    if not changed:
        return ["No file was changed."]
    strayed = outside(changed, step.touch)
    if not strayed:
        return []
    return [f"Changed outside of what it may touch ({', '.join(step.touch)}): {_listed(strayed)}."]


def _command_faults(ran: Ran, before: tuple[str, ...] | None) -> list[str]:
    if ran.well:
        return []
    how = "took too long" if ran.code is None else f"ended with exit code {ran.code}"
    found = failures(ran.output)
    if before and found:  # without names nobody can tell an old failure from the step's own
        found = new_failures(before, found)
        if not found:
            return []  # it failed before, and nothing else fails now
        how += ", with failures that were not there before"
    last = ran.output.strip().splitlines()[-1:]
    return [f"`{ran.command}` {how}: {_listed(found or tuple(last) or ('no output',))}."]


def _listed(rows: tuple[str, ...]) -> str:
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    return "; ".join(rows[:NAMED]) + more
