"""`koboshi run --host pty`: the agent in this very terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from koboshi.config.resolve import Subject, resolve
from koboshi.config.variables import relevant
from koboshi.core.actions import Mode
from koboshi.daemon.foreground import run_foreground
from koboshi.daemon.lock import AgentLocked, agent_lock
from koboshi.daemon.settling import insist
from koboshi.daemon.solo import Post
from koboshi.errors import InputError
from koboshi.performers import Program
from koboshi.store.manifests import config_dir
from koboshi.store.paths import check_name, journal_dir, state_dir
from koboshi.store.roster import Roster

from .config import note

#: Agents of one program in that many terminals have a name each.
MOST = 100


def run_here(
    name: str | None, kind: str, cwd: Path, mode: str | None, command: tuple[str, ...]
) -> int:
    """Run the agent here and look after it; what to exit with."""
    state = state_dir()
    agent = check_name(name) if name else _free(state, Path(command[0]).name)
    subject = Subject(
        agent=agent,
        agent_type=kind,
        cwd=str(cwd),
        variables=relevant(os.environ),
        mode=Mode[mode.upper()] if mode else None,
    )
    found = resolve(subject, config_dir())
    note({"notes": insist(found)})
    post = Post(
        agent=agent,
        agent_type=kind,
        program=Program(argv=command, cwd=str(cwd)),
        state=state,
        settings=found.settings,
        answers=found.answers,
    )
    return asyncio.run(run_foreground(post))


def _free(state: Path, program: str) -> str:
    """The program's name, with a number where that agent is in another terminal."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in program)
    stem = stem.strip("._-")[:40] or "agent"
    taken = {entry.agent for entry in Roster(state).entries()}
    for number in range(1, MOST):
        agent = stem if number == 1 else f"{stem}-{number}"
        if agent in taken:
            continue
        with (
            contextlib.suppress(AgentLocked),
            agent_lock(journal_dir(state, agent).parent / "lock"),
        ):
            return agent
    raise InputError("expected a --name; all that could be thought of are taken")
