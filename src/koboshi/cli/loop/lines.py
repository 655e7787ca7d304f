"""The line that tells how a plan goes, while it goes."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.cli.printing import clip, columns, plain
from koboshi.performers.loop.checking import doing

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.plans.course import Course
    from koboshi.plans.moves import Advice

#: Seconds between two looks at what the agent prints.
LOOK = 1.0
#: Cells of the bar at the most; a plan of many steps leaves room for words.
BAR = 20


class ProgressLine:
    """One line that is written over on a terminal, and one per decision elsewhere."""

    def __init__(self, state: Path) -> None:
        self._live = sys.stderr.isatty()
        self._doing = Doing(state)

    def tell(self, view: Course, rule: Rule | None, advice: Advice | None) -> None:
        """How it goes."""
        if rule is not None and advice is not None:
            self._write(plain(f"{rule.code} {advice.message}"), last=True)
        elif self._live and view.running is not None:
            words = progress(view, self._doing.of(view.plan.current.task_id), time.time())
            self._write(clip(plain(words), columns() or 100), last=False)

    def say(self, text: str) -> None:
        """A line that stays."""
        self._write(text, last=True)

    def _write(self, text: str, *, last: bool) -> None:
        start = "\r\x1b[K" if self._live else ""
        sys.stderr.write(start + text + ("\n" if last else ""))
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._live:
            self._write("", last=False)


class Doing:
    """What a run is at, looked at now and then and never waited for."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._task, self._known, self._due = "", "", 0.0
        self._looking: threading.Thread | None = None

    def of(self, task: str) -> str:
        """As it was at the last look."""
        if task != self._task:
            self._task, self._known, self._due = task, "", 0.0
        busy = self._looking is not None and self._looking.is_alive()
        if task and not busy and time.monotonic() >= self._due:
            self._due = time.monotonic() + LOOK
            # It is called from within a keeper's event loop, which must not wait for it.
            self._looking = threading.Thread(target=self._look, args=(task,), daemon=True)
            self._looking.start()
        return self._known

    def _look(self, task: str) -> None:
        found = asyncio.run(doing(self._state, task))
        if task == self._task:
            self._known = found


def progress(view: Course, doing: str, utc: float) -> str:
    """`██▒░ step 3/4 · attempt 1 · 04:12 · working: Edit calc.py`."""
    step, plan = view.running, view.plan
    if step is None:
        return ""
    total = len(plan.steps)
    done = sum(each.state.value in ("DONE", "SKIPPED") for each in plan.steps)
    cells = min(total, BAR)
    full = min(done * cells // total, cells - 1)
    bar = "█" * full + "▒" + "░" * (cells - full - 1)
    minutes, seconds = divmod(int(max(0.0, utc - _since(plan.current.spawned, utc))), 60)
    at = doing or step.text.splitlines()[0]
    return (
        f"{bar} step {step.number}/{total} · attempt {max(1, view.tried(step))}"
        f" · {minutes:02d}:{seconds:02d} · working: {at}"
    )


def _since(spawned: str, utc: float) -> float:
    """When the run began, by the file: whoever resumes shows the same."""
    try:
        return datetime.fromisoformat(spawned).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return utc
