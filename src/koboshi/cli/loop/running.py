"""Work through a plan in this terminal, with a line that tells how it goes."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.plans import Plan
    from koboshi.plans.course import Advice, Course
    from koboshi.store.progress import Start


def work(start: Start) -> None:
    """Until DONE; FAILED and WAITING are said, with what can be done, and end with 1."""
    import asyncio

    from koboshi.cli.printing import complain
    from koboshi.daemon.lock import agent_lock
    from koboshi.daemon.loop.keeper import Keeper
    from koboshi.errors import KoboshiError
    from koboshi.plans import PlanStatus
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import printable

    line = _Line()
    keeper = Keeper(state_dir(), start, tell=line.tell)
    with agent_lock(keeper.progress.lock):  # or an error that names who works on it
        keeper.progress.keep_start(start, printable(dict(os.environ)))
        keeper.progress.stop_file.unlink(missing_ok=True)
    if why := keeper.halted():
        raise KoboshiError(f"nothing is begun while {why}", hint="remove it first")
    try:
        plan = asyncio.run(keeper.run())
    except KeyboardInterrupt:
        line.end()
        complain("left alone; its agent works on", "'koboshi loop resume' or 'koboshi loop stop'")
        raise
    line.end()
    if plan.status is not PlanStatus.DONE:
        raise KoboshiError(_why(plan), hint=plan.next_action)
    _summary(plan)


def _why(plan: Plan) -> str:
    return f"the plan is {plan.status.value}: {plan.last_action}"


def _summary(plan: Plan) -> None:
    from koboshi.cli.printing import paint, plain, say

    say(f"{paint('DONE', 'green')}, {len(plan.steps)} steps")
    for step in plan.steps:
        result = plan.results.get(step.number)
        made = f" {result.commit}" if result and result.commit else ""
        said = f": {result.summary}" if result and result.summary else ""
        say(plain(f"  {step.number}{made} {step.text}{said}".replace("\n", " ")))


class _Line:
    """One line that is written over on a terminal, and one per decision elsewhere."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._task = ""
        self._live = sys.stderr.isatty()

    def tell(self, view: Course, rule: Rule | None, advice: Advice | None) -> None:
        """How it goes."""
        from koboshi.cli.printing import clip, columns, plain

        if rule is not None and advice is not None:
            self._write(plain(f"{rule.code} {advice.message}"), last=True)
        elif self._live and view.running is not None:
            self._write(clip(plain(self._progress(view)), columns() or 100), last=False)

    def _progress(self, view: Course) -> str:
        step = view.running
        if step is None:
            return ""
        if view.plan.current.task_id != self._task:
            self._task, self._began = view.plan.current.task_id, time.monotonic()
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        total = len(view.plan.steps)
        done = sum(each.state.value in ("DONE", "SKIPPED") for each in view.plan.steps)
        bar = "█" * done + "▒" + "░" * (total - done - 1)
        return (
            f"{bar} step {step.number}/{total} · attempt {view.tried(step)}"
            f" · {minutes:02d}:{seconds:02d} · {step.text.splitlines()[0]}"
        )

    def _write(self, text: str, *, last: bool) -> None:
        start = "\r\x1b[K" if self._live else ""
        sys.stderr.write(start + text + ("\n" if last else ""))
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._live:
            self._write("", last=False)
