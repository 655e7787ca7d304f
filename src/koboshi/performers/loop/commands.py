"""A verify command: a line of the plan for a shell, to its end or its time limit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: Seconds that one command may take.
PATIENCE = 900.0
#: Seconds between two looks for a stop, and from SIGTERM to SIGKILL.
EVERY, LEAVES = 0.1, 2.0
#: Bytes of output that are kept, from the end: what failed is said last.
KEPT = 1 << 18


class Halted(Exception):
    """Somebody said stop in the middle of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended."""

    command: str
    code: int | None  #: negative: the signal; None: it took too long
    output: str

    @property
    def well(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0


async def run(
    command: str,
    cwd: Path,
    *,
    halted: Callable[[], str],
    patience: float = PATIENCE,
    env: dict[str, str] | None = None,
) -> Ran:
    """Run it in a shell, with nobody at its keyboard; all it started ends with it.

    `env` is the environment that its plan was started in; None: ours.
    """
    with tempfile.TemporaryFile() as out:
        child = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            code = await _ended(child, time.monotonic() + patience, halted)
        finally:
            await _swept(child)
        size = out.seek(0, os.SEEK_END)
        out.seek(max(0, size - KEPT))
        return Ran(command=command, code=code, output=out.read().decode(errors="replace"))


async def _ended(
    child: asyncio.subprocess.Process, deadline: float, halted: Callable[[], str]
) -> int | None:
    while True:
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(child.wait()), EVERY)
        if why := halted():
            raise Halted(why)
        if time.monotonic() > deadline:
            return None


async def _swept(child: asyncio.subprocess.Process) -> None:
    """End whatever is left of it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(child.wait()), LEAVES)
