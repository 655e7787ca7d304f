"""Check: how a fired task is doing, or what came of it, with what it changed.

A judgement is made once and written down: the project goes on changing after a run has ended, and
whoever asks a second time means that run.
"""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import asdict, replace
from pathlib import Path

from koboshi.adapters.doings import doings, latest
from koboshi.adapters.headless import DENIED, NO_RESULT, Result, result
from koboshi.adapters.resets import reset_of
from koboshi.config.durations import shown
from koboshi.errors import GitError, HostError, UnknownTask
from koboshi.hosts.headless import STILLBORN, Finished, HeadlessHost, Running
from koboshi.store.firings import Firing, Firings, Report, Touched
from koboshi.store.snapshots import Skipped, between, prune, take

from .permitting import Judged, breaches, notes, subject_of

#: The name of the snapshot from after, among those of the task.
AFTER = "after"
#: Seconds that git may take to say what differs.
PATIENCE = 60.0
#: Bytes at the end of its output in which a call is looked for.
TAIL = 64 << 10
#: Seconds between two looks at a run that is waited for; a look reads two small files.
EVERY = 0.2


async def check(state: Path, task: str) -> Report:
    """How that task is doing; UnknownTask when there is none."""
    firings = Firings(state)
    firing = firings.firing(task)
    known = firings.settled(task)
    if known is not None:
        return known
    host = HeadlessHost(state_dir=state)
    places = await host.find(task)
    if not places:
        return _unborn(firing)
    seen = await host.check(places[0].id)
    if isinstance(seen, Running):
        return Report(
            task=task, state="running", agent=firing.agent, seconds=seen.seconds, pid=seen.pid
        )
    if seen.overdue:
        await host.stop(places[0].id)  # what it started may have outlived it
    printed = await host.output(places[0].id)
    errors = await host.output(places[0].id, "stderr")
    diff = await asyncio.to_thread(_diff, firing)
    report = judged(firing, seen, printed, errors, diff, notes(state, task))
    wrong = await breaches(doings(printed, firing.agent), firing.agent, firing.cwd)
    if wrong:
        report = broke(report, wrong)
    firings.settle(report)
    return report


async def doing(state: Path, task: str) -> str:
    """What it is at, such as `Edit calc.py`; empty: it has done nothing that it told of."""
    try:
        firing = Firings(state).firing(task)
        host = HeadlessHost(state_dir=state)
        places = await host.find(task)
        printed = await host.tail(places[0].id, TAIL) if places else ""
    except (UnknownTask, HostError, OSError):
        return ""
    call = latest(printed, firing.agent)
    if call is None:
        return ""
    about = subject_of(call).removeprefix(firing.cwd.rstrip("/") + "/")
    return f"{call['tool_name']} {about}".strip()


async def settled(state: Path, task: str) -> Report:
    """Wait for its end."""
    while True:
        report = await check(state, task)
        if report.state != "running":
            return report
        await asyncio.sleep(EVERY)


def judged(
    firing: Firing,
    seen: Finished,
    printed: str,
    errors: str,
    diff: tuple[Touched, ...] | None,
    judgements: tuple[Judged, ...] = (),
) -> Report:
    """What came of a run that ended: its own words count, its exit code only against it."""
    said = result(printed, firing.agent, errors=errors)
    said = _kept_from(said, judgements)
    exit_code = -seen.signal if seen.signal is not None else seen.code
    error, why = _why(firing, seen, said, errors)
    ended = firing.created + (seen.seconds or 0.0)
    limit = reset_of(printed, firing.agent, said.summary, ended) if said.error else None
    if limit is not None and error == said.error:
        error, why = "usage_limit", said.summary
    return Report(
        task=firing.task,
        state="failed" if error else "finished",
        agent=firing.agent,
        seconds=seen.seconds,
        exit=exit_code,
        why=why,
        error=error,
        summary=said.summary,
        session=said.session,
        cost=said.cost,
        tokens=said.tokens.input + said.tokens.output if said.tokens else None,
        ended=ended,
        resets=limit.at if limit else None,
        denied=said.permission_denials,
        diff=diff,
    )


def _kept_from(said: Result, judgements: tuple[Judged, ...]) -> Result:
    """With all that it was kept from: not every CLI tells what a hook denied."""
    told = _explained(said.permission_denials, judgements)
    denied = (each.told for each in judgements if each.stance == "deny")
    told = tuple(dict.fromkeys((*told, *denied)))
    if told and said.ok:
        said = replace(said, ok=False, error=DENIED)
    return replace(said, permission_denials=told)


def _explained(denied: tuple[str, ...], judgements: tuple[Judged, ...]) -> tuple[str, ...]:
    """The denied calls with what the policy had said to them; a name alone where it said nothing.

    A CLI names the tool, not the call: those of that tool that were not allowed are told in turn.
    """
    left = [each for each in judgements if each.stance != "allow"]
    told = []
    for name in reversed(denied):  # the last ones are told of last, and none is left out
        found = next((each for each in reversed(left) if each.tool == name), None)
        if found is not None:
            left.remove(found)
        told.append(found.told if found else name)
    return tuple(dict.fromkeys(reversed(told)))


def broke(report: Report, wrong: tuple[str, ...]) -> Report:
    """The report of a run that did what the owner's policy denies: no success, whatever it says."""
    why = f"it did what the policy denies: {'; '.join(wrong)}"
    if report.state == "failed":
        return replace(report, breaches=wrong, why=f"{report.why}; {why}")
    return replace(report, state="failed", error="policy", why=why, breaches=wrong)


def _why(firing: Firing, seen: Finished, said: Result, errors: str) -> tuple[str, str]:
    """Why it failed, as a word and in words; two empty ones where it did not."""
    if seen.overdue:
        return "timeout", f"it took longer than {shown(firing.timeout or 0.0)}"
    if seen.error:
        return "lost", seen.error
    if said.error == DENIED:
        return DENIED, f"it was not allowed: {'; '.join(said.permission_denials)}"
    last = errors.strip().splitlines()[-1:] or [""]
    if said.error == NO_RESULT:
        return NO_RESULT, f"it {_ending(seen)} without a result{': ' if last[0] else ''}{last[0]}"
    if said.error:
        return said.error, f"{said.error}: {said.summary}" if said.summary else said.error
    if seen.code != 0:
        return "exit", f"it {_ending(seen)}{': ' if last[0] else ''}{last[0]}"
    return "", ""


def _ending(seen: Finished) -> str:
    if seen.signal is not None:
        try:
            return f"was ended by {signal.Signals(seen.signal).name}"
        except ValueError:
            return f"was ended by signal {seen.signal}"
    return f"ended with exit code {seen.code}"


def _unborn(firing: Firing) -> Report:
    """Written down, and no run is there: it is about to begin, or whoever fired it died."""
    if time.time() - firing.created < STILLBORN:
        return Report(task=firing.task, state="running", agent=firing.agent, seconds=0.0)
    why = "it was never started: whoever fired it ended before that"
    return Report(task=firing.task, state="failed", agent=firing.agent, why=why, error="unborn")


def _diff(firing: Firing) -> tuple[Touched, ...] | None:
    """What differs from before; None where there is no before, or git cannot tell."""
    if not firing.before:
        return None
    cwd = Path(firing.cwd)
    taken = take(cwd, firing.task, AFTER, patience=PATIENCE)
    if isinstance(taken, Skipped):
        return None
    try:
        found = between(cwd, firing.before, taken.commit, patience=PATIENCE)
        prune(cwd, firing.task, keep=0, patience=PATIENCE)
    except GitError:
        return None
    return tuple(Touched(**asdict(change)) for change in found)
