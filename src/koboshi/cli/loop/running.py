"""Work through a plan in this terminal, with a line that tells how it goes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from koboshi.plans import Plan
    from koboshi.store.progress import Start


#: Seconds between two looks at a plan that the daemon works on; and without anybody at work on it
#: before it is worked on here: a daemon that is starting again takes it up by itself.
LOOK, ALONE = 0.2, 5.0
#: Seconds for whoever works on a plan to stop: an agent that is deaf to SIGTERM is killed by then.
HEARD = 20.0


def work(start: Start, begin: Callable[[], object] = lambda: None) -> None:
    """Until DONE; FAILED and WAITING are said, with what can be done, and end with 1.

    `begin` sets the plan going, once nobody else can take it up.
    """
    import asyncio

    from koboshi.cli.printing import complain
    from koboshi.daemon.lock import agent_lock
    from koboshi.daemon.loop.keeper import Keeper
    from koboshi.errors import KoboshiError
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import printable

    from .lines import ProgressLine

    line = ProgressLine(state_dir())
    keeper = Keeper(state_dir(), start, tell=line.tell)
    with agent_lock(keeper.progress.lock):  # or an error that names who works on it
        keeper.progress.stop_file.unlink(missing_ok=True)
        if why := keeper.halted():
            raise KoboshiError(f"nothing is begun while {why}", hint="remove it first")
        keeper.progress.keep_start(start, printable(dict(os.environ)))
        begin()
        keeper = Keeper(state_dir(), start, tell=line.tell)  # as the file is now
        try:
            plan = asyncio.run(keeper.walk())
        except KeyboardInterrupt:
            line.end()
            complain("left alone; its agent works on", _who_goes_on())
            raise
    line.end()
    _tell_end(plan)


def follow(start: Start) -> bool:
    """Show how the daemon works on the plan, to its end; False where it does not work on it."""
    from koboshi.plans import PlanStatus
    from koboshi.plans.course import Course, TaskSeen
    from koboshi.store.paths import plans_dir, state_dir
    from koboshi.store.planfile import PlanFile
    from koboshi.store.progress import Progress

    from .lines import ProgressLine

    file = PlanFile(Path(start.path), plans_dir(state_dir()))
    progress, line, seen = (
        Progress(state_dir(), file.path),
        ProgressLine(state_dir()),
        time.monotonic(),
    )
    if not _kept_by_daemon(progress.lock) or not progress.kept():
        return False
    line.say("the daemon works on it; Ctrl-C leaves it to that")
    plan = file.read()
    while plan.status is PlanStatus.RUNNING:
        if progress.kept():
            seen = time.monotonic()
        elif time.monotonic() - seen > ALONE:
            return False
        task = TaskSeen(task=plan.current.task_id, state="running")
        line.tell(Course(plan=plan, task=task), None, None)
        time.sleep(LOOK)
        plan = file.read()
    line.end()
    _tell_end(plan)
    return True


def halt(start: Start) -> None:
    """Wait until whoever works on the plan has heard the stop; do it here where nobody does."""
    import asyncio

    from koboshi.daemon.lock import AgentLocked
    from koboshi.daemon.loop.keeper import Keeper
    from koboshi.errors import KoboshiError
    from koboshi.plans import PlanStatus
    from koboshi.store.paths import state_dir

    deadline = time.monotonic() + HEARD
    while time.monotonic() < deadline:
        keeper = Keeper(state_dir(), start, tell=lambda *_: None)
        if keeper.view.plan.status is not PlanStatus.RUNNING:
            return
        try:
            asyncio.run(keeper.run())  # it finds the word, ends the agent, and leaves
        except AgentLocked:
            time.sleep(LOOK)  # somebody works on it, and hears it, too
    raise KoboshiError(
        f"the plan still runs after {HEARD:g} s, and somebody works on it",
        hint="the word is left for them; 'koboshi loop show' tells what became of it",
    )


def _kept_by_daemon(lock: Path) -> bool:
    """Whether the daemon was the last to take that lock."""
    from koboshi.daemon.control.client import LOCK
    from koboshi.store.paths import state_dir

    try:
        return lock.read_bytes() == (state_dir() / LOCK).read_bytes()
    except OSError:
        return False


def _who_goes_on() -> str:
    from koboshi.daemon.control.client import call_running
    from koboshi.errors import KoboshiError
    from koboshi.store.paths import state_dir

    try:
        daemon = call_running(state_dir(), "ping", patience=1.0)
    except KoboshiError:
        daemon = None
    if daemon is not None:
        return "the daemon goes on with it; 'koboshi loop stop' ends it"
    return "'koboshi loop resume' or 'koboshi loop stop'"


def _tell_end(plan: Plan) -> None:
    from koboshi.errors import KoboshiError
    from koboshi.plans import PlanStatus

    if plan.status is not PlanStatus.DONE:
        raise KoboshiError(_why(plan), hint=plan.next_action)
    _summary(plan)


def _why(plan: Plan) -> str:
    return f"the plan is {plan.status.value}: {plan.last_action}"


def _summary(plan: Plan) -> None:
    from koboshi.cli.printing import paint, plain, say
    from koboshi.wording import many

    say(f"{paint('DONE', 'green')}, {many(len(plan.steps), 'step')}")
    for step in plan.steps:
        result = plan.results.get(step.number)
        made = f" {result.commit}" if result and result.commit else ""
        said = f": {result.summary}" if result and result.summary else ""
        say(plain(f"  {step.number}{made} {step.text}{said}".replace("\n", " ")))
