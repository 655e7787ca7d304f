"""Fire: start an agent without a terminal, detached, and come back with its TASK_ID at once.

Rule 1: what is fired, and where it began, is on disk before the agent runs.
Rule 2: the run ends by itself when its time is over; nobody of ours has to live for that.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from koboshi.adapters.equipment import Equipment
from koboshi.adapters.headless import JUDGES
from koboshi.adapters.permits import Desk, permitted
from koboshi.adapters.registry import adapter
from koboshi.errors import InputError
from koboshi.hosts.base import Launch
from koboshi.hosts.headless import HeadlessHost
from koboshi.performers.equipping import Texts
from koboshi.store.firings import Firing, Firings, new_task
from koboshi.store.shelves import write_whole
from koboshi.store.snapshots import Skipped, take

from .permitting import command

#: Seconds that the snapshot from before may take; a larger project is fired at without one.
SNAPSHOT = 15.0
#: Bytes of the longest instruction: Linux takes 128 KiB in one word of a command line.
LONGEST = 100_000
#: Those that people have.
FIRED = tuple(name for name in JUDGES if name != "scripted")
#: The name of the snapshot from before, among those of the task.
BEFORE = "before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What is to be fired."""

    instruction: str
    agent: str
    cwd: Path
    program: tuple[str, ...] = ()  #: the CLI with options of its own; empty: its name
    timeout: float | None = None
    task: str = ""  #: an id that was given out before
    environment: Mapping[str, str] | None = None  #: of who asks; None: our own
    compared: bool = True  #: whether it shall be told what it changed


async def fire(state: Path, charge: Charge, ready: Callable[[int], None] | None = None) -> Firing:
    """Start it; raises, with nothing started, where it cannot be. `ready` is told its pid first."""
    program = _check(charge)
    task = charge.task or new_task()
    before, why_none = "", "nobody asked for it"
    if charge.compared:
        before, why_none = await asyncio.to_thread(_before, charge.cwd, task)
    firing = Firing(
        task=task,
        agent=charge.agent,
        instruction=charge.instruction,
        cwd=str(charge.cwd),
        created=time.time(),
        timeout=charge.timeout,
        before=before,
        why_none=why_none,
    )
    Firings(state).keep(firing)
    known = adapter(charge.agent)
    made = _judged(state, firing, program, charge.environment)
    launch = Launch(
        agent=task,
        run=1,
        argv=known.headless_argv(program=made.argv, prompt=charge.instruction),
        cwd=str(charge.cwd),
        env={**known.env(made.argv), **made.env},
        base=None if charge.environment is None else dict(charge.environment),
        limit=charge.timeout,
    )
    await HeadlessHost(state_dir=state).start(launch, ready)
    return firing


def _check(charge: Charge) -> tuple[str, ...]:
    """The program's words, if it can be started so."""
    if charge.agent not in JUDGES:
        raise InputError(f"expected one of {', '.join(JUDGES)}, not {charge.agent!r}")
    if not charge.instruction.strip():
        raise InputError("expected an instruction, and it is empty")
    if "\0" in charge.instruction or len(charge.instruction.encode(errors="replace")) > LONGEST:
        raise InputError(f"expected an instruction of at most {LONGEST} bytes, without NULs")
    if not charge.cwd.is_dir():
        raise InputError(f"expected a folder, not {str(charge.cwd)!r}")
    program = charge.program or (charge.agent,)
    path = None if charge.environment is None else charge.environment.get("PATH", "")
    return (at_hand(program[0], path), *program[1:])


def at_hand(name: str, path: str | None = None) -> str:
    """Where that program is; raises, with those that are there, where it is nowhere."""
    found = shutil.which(name, path=path)
    if found is None:
        others = [each for each in FIRED if shutil.which(each, path=path)]
        hint = f"'--agent' takes one that is: {', '.join(others)}" if others else ""
        hint = hint or f"none of {', '.join(FIRED)} is"
        raise InputError(f"{name!r} was not found: is it installed?", hint=hint)
    return found


def _judged(
    state: Path, firing: Firing, program: tuple[str, ...], environment: Mapping[str, str] | None
) -> Equipment:
    """The program with what has its calls judged by the owner's policy, where it can."""
    folder = Firings(state.absolute()).folder(firing.task)
    line = command(state.absolute(), firing.task)
    env = os.environ if environment is None else environment
    desk = Desk(command=line, folder=str(folder), cwd=firing.cwd, texts=Texts(), env=env)
    made = permitted(firing.agent, program, desk)
    for name, text in made.files.items():
        write_whole(Path(name), text.encode("utf-8", "replace"))
    return made


def _before(cwd: Path, task: str) -> tuple[str, str]:
    """A snapshot of the folder as it is, or why there is none."""
    taken = take(cwd, task, BEFORE, patience=SNAPSHOT)
    return ("", taken.reason) if isinstance(taken, Skipped) else (taken.commit, "")
