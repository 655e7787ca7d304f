"""Mending: a fresh run without a terminal that is given the prompt about an agent's incident.

Rule 1: one at a time for each agent, and half an hour between two: what prints the same error all
day must not start an agent a minute.
Rule 2: it has the agent's own CLI, folder and environment, none of its options, and an hour.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.adapters.headless import JUDGES
from koboshi.core.actions import Command
from koboshi.core.events import ActionFinished, Ending, Outcome
from koboshi.errors import KoboshiError
from koboshi.performers.loop.checking import check, settled
from koboshi.performers.loop.firing import Charge, fire
from koboshi.store.firings import Firings
from koboshi.store.paths import journal_dir
from koboshi.store.shelves import write_whole

if TYPE_CHECKING:
    from koboshi.core.actions import FixPrompt
    from koboshi.store.firings import Report

    from .solo import Post
    from .supervisor import Supervisor

#: Seconds between the beginnings of two, and those that one may take.
APART, LASTS = 1800.0, 3600.0
#: In the agent's folder: the TASK_ID of the last one.
FILE = "mending"


class Mender:
    """Of one agent."""

    def __init__(self, post: Post, supervisor: Supervisor) -> None:
        self._post, self._supervisor, self._busy = post, supervisor, False
        self._file = journal_dir(post.state, post.agent).parent / FILE

    async def hand(self, action: FixPrompt, prompt: str) -> str:
        """Start one on that prompt; in words what became of it."""
        if self._busy:
            return "not handed over: another prompt is being handed over"
        self._busy = True
        try:
            return await self._handed(action, prompt)
        finally:
            self._busy = False

    async def _handed(self, action: FixPrompt, prompt: str) -> str:
        why = await self._objection()
        if why:
            return f"not handed over: {why}"
        post = self._post
        charge = Charge(
            instruction=prompt,
            agent=post.agent_type,
            cwd=Path(post.program.cwd),
            program=post.program.argv[:1],
            timeout=LASTS,
            environment={**os.environ, **(post.program.env or {})},
        )
        try:
            fired = await fire(post.state, charge)
        except KoboshiError as error:
            return f"not handed over: {error}"
        write_whole(self._file, fired.task.encode())
        self._supervisor.runtime.spawn(self._follow(action, fired.task))
        return f"handed to {fired.task}: 'koboshi check {fired.task}' tells how it is doing"

    async def _objection(self) -> str:
        """Why none is started now; empty: nothing speaks against it."""
        if self._post.agent_type not in JUDGES:
            return f"a {self._post.agent_type} agent has no run without a terminal"
        try:
            task = self._file.read_text(encoding="utf-8").strip()
            begun = Firings(self._post.state).firing(task).created
            report = await check(self._post.state, task)
        except (OSError, ValueError, KoboshiError):
            return ""  # there was none
        if report.state == "running":
            return f"{task} is still at work"
        young = 0.0 <= time.time() - begun < APART
        return f"{task} was begun less than {APART / 60:g} minutes ago" if young else ""

    async def _follow(self, action: FixPrompt, task: str) -> None:
        """What came of it is an event of its own."""
        try:
            report = await settled(self._post.state, task)
        except KoboshiError as error:
            outcome = Outcome(ending=Ending.FAILED, why=f"{task}: {error}")
        else:
            outcome = _outcome(report)
        done = Command(about=action.key, name="[incidents.hand_over]", text=f"hand over to {task}")
        self._supervisor.take(ActionFinished(key=done.key, action=done, outcome=outcome))


def _outcome(report: Report) -> Outcome:
    fine = report.state == "finished"
    said = " ".join((report.summary if fine else report.why or report.summary).split())[:800]
    return Outcome(
        ending=Ending.DONE if fine else Ending.FAILED, why=f"{report.task} {report.state}: {said}"
    )
