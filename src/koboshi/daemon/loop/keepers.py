"""Keepers: the daemon's own. Every plan whose file says RUNNING has one; nobody has to say resume.

Rule 1: a keeper waits for git, disks and programs. Each has a thread and an event loop of its own,
so that agents are looked after meanwhile.
Rule 2: never two of one plan. Its lock decides, also against a `koboshi loop` in a terminal; what
that one leaves is taken over.
Rule 3: leaving ends the keeping, never an agent: the next keeper finds it by the file.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.daemon.lock import AgentLocked
from koboshi.errors import KoboshiError
from koboshi.plans import PlanStatus

from .keeper import Keeper
from .registry import Known, Registry

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.plans.course import Course
    from koboshi.plans.moves import Advice
    from koboshi.store.progress import Start

log = logging.getLogger(__name__)

#: Seconds between two looks at which plans there are, and what each says.
LOOK = 0.5
#: Seconds before a keeper that failed is tried again; doubles, up to the second.
AGAIN, AGAIN_MAX = 1.0, 60.0
#: Seconds that keepers may take to leave; one that is in the middle of a commit takes longer, and
#: dies with the process: every deed may be done again.
LEAVES = 3.0


class Kept:
    """One plan, with its keeper in a thread of its own."""

    def __init__(self, state: Path, start: Start, ended: Callable[[], None]) -> None:
        self.start = start
        self.trouble = ""  #: why it could not be kept
        self._state, self._ended = state, ended
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._left = threading.Event()
        name = f"plan {Path(start.path).name}"
        # A daemon in Python's sense: a commit that takes long does not hold the process back.
        self.thread = threading.Thread(target=self._live, name=name, daemon=True)

    def leave(self) -> None:
        """Let go of the plan, soon; its agent works on."""
        self._left.set()
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            try:
                loop.call_soon_threadsafe(task.cancel)
            except RuntimeError:
                return  # it was over

    def _live(self) -> None:
        try:
            asyncio.run(self._keep())
        except asyncio.CancelledError:
            pass
        except AgentLocked:
            said = {"action": "leave", "reason": "somebody else works on it"}
            log.info("a plan was not taken up", extra={**self._about, **said})
        except (KoboshiError, OSError) as error:
            self._failed(str(error))
        except Exception as error:
            # A bug that one plan's file brings out must not take the others down.
            self._failed(f"{type(error).__name__}: {error}")
            log.exception("its keeper failed", extra=self._about)
        finally:
            self._ended()

    async def _keep(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._left.is_set():
            return
        log.info("a plan was taken up", extra={**self._about, "action": "keep"})
        plan = await Keeper(self._state, self.start, tell=self._tell).run()
        said = {"action": "keep", "reason": f"{plan.status.value}: {plan.last_action}"}
        log.info("a plan was left", extra={**self._about, **said})

    def _failed(self, why: str) -> None:
        self.trouble = why
        log.warning("a plan is not kept", extra={**self._about, "action": "wait", "reason": why})

    def _tell(self, _: Course, rule: Rule | None, advice: Advice | None) -> None:
        if rule is not None and advice is not None:
            said = {"action": type(advice.move).__name__, "reason": f"{rule.code} {advice.message}"}
            log.info("a plan goes on", extra={**self._about, **said})

    @property
    def _about(self) -> dict[str, str]:
        return {"agent": f"plan {Path(self.start.path).name}"}


class Keepers:
    """All plans of one state folder, and who of them is kept here."""

    def __init__(
        self, state: Path, *, changed: Callable[[str], None], jobs: Callable[[], int]
    ) -> None:
        self.registry = Registry(state)
        self.jobs = jobs  #: how many at a time
        self.kept: dict[str, Kept] = {}
        self.troubles: dict[str, str] = {}
        self._state, self._changed = state, changed
        self._later: dict[str, tuple[float, float]] = {}  #: id → not before, and the last wait
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Keep plans from now on; those that say RUNNING at once."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Let go of every plan."""
        if self._task is not None:
            self._task.cancel()
        leaving = list(self.kept.values())
        for each in leaving:
            each.leave()
        deadline = time.monotonic() + LEAVES
        for each in leaving:
            await asyncio.to_thread(each.thread.join, max(0.0, deadline - time.monotonic()))

    def nudge(self) -> None:
        """Somebody changed a plan: look now."""
        self._wake.set()

    async def _run(self) -> None:
        while True:
            try:
                self._take_up(await asyncio.to_thread(self.registry.news))
            except OSError as error:
                log.warning("plans cannot be looked for", extra={"reason": str(error)})
            try:
                await asyncio.wait_for(self._wake.wait(), LOOK)
            except TimeoutError:
                continue
            self._wake.clear()

    def _take_up(self, changed: list[str]) -> None:
        for plan in changed:
            self._changed(plan)
        now = time.monotonic()
        for known in self.registry.plans():
            if len(self.kept) >= self.jobs():
                return
            due = self._later.get(known.id, (0.0, 0.0))[0] <= now
            if due and known.status is PlanStatus.RUNNING and known.id not in self.kept:
                self._begin(known)

    def _begin(self, known: Known) -> None:
        if known.held:
            return
        loop = asyncio.get_running_loop()

        def ended() -> None:
            try:
                loop.call_soon_threadsafe(self._over, known.id)
            except RuntimeError:
                return  # the daemon has left

        kept = self.kept[known.id] = Kept(self._state, known.start, ended)
        kept.thread.start()
        self._changed(known.id)

    def _over(self, plan: str) -> None:
        kept = self.kept.pop(plan)
        if kept.trouble:
            wait = min(AGAIN_MAX, 2 * self._later.get(plan, (0.0, AGAIN / 2))[1])
            self._later[plan] = (time.monotonic() + wait, wait)
            self.troubles[plan] = kept.trouble
        else:
            self._later.pop(plan, None)
            self.troubles.pop(plan, None)
        self._changed(plan)
        self.nudge()
