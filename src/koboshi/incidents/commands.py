"""Programs of the owner's: argv, JSON on standard input, a time limit, and what they printed.

Rule 1: no shell unless the owner wrote a line for one. What an agent printed is only ever in the
JSON, never in a word of a command line.
Rule 2: what is over its time is killed with all it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

#: Bytes of its output that are read, and characters of it that are kept (the end of it).
MOST, KEPT = 64 << 10, 800


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a program came out; `code` is None when it could not be started or was killed."""

    code: int | None
    said: str

    @property
    def fine(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0

    def __str__(self) -> str:
        how = "" if self.code is None else f"ended with {self.code}"
        return ": ".join(part for part in (how, self.said) if part)


def argv_of(run: tuple[str, ...], shell: str) -> tuple[str, ...]:
    """What is started."""
    if shell:
        return ("/bin/sh", "-c", shell)
    return (os.path.expanduser(run[0]), *run[1:])  # noqa: PTH111 - `Path` would eat `./`


async def ran(
    argv: tuple[str, ...],
    facts: bytes,
    *,
    timeout: float,  # noqa: ASYNC109 - kills what is over its time, too
    cwd: Path,
    env: Mapping[str, str],
    mask: Callable[[str], str],
) -> Ran:
    """Run it and wait for it."""
    try:
        child = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ran(code=None, said=f"could not be started: {error}")
    said = bytearray()
    try:
        async with asyncio.timeout(timeout):
            await _talk(child, facts, said)
            code: int | None = await child.wait()
        late = ""
    except TimeoutError:
        code, late = None, f"killed after {timeout:g} s"
    finally:
        if child.returncode is None:
            _kill(child)
    await child.wait()
    printed = " ".join(mask(said.decode("utf-8", "replace")).split())[-KEPT:]
    return Ran(code=code, said=": ".join(part for part in (late, printed) if part))


async def _talk(child: asyncio.subprocess.Process, facts: bytes, said: bytearray) -> None:
    """Give it the facts and take what it prints; one that does not read them is fine."""
    assert child.stdin is not None  # noqa: S101 - for the type checker
    assert child.stdout is not None  # noqa: S101
    with contextlib.suppress(ConnectionError):
        child.stdin.write(facts)
        await child.stdin.drain()
    child.stdin.close()
    while piece := await child.stdout.read(1 << 16):
        said += piece
        del said[:-MOST]


def _kill(child: asyncio.subprocess.Process) -> None:
    """All of its session: nothing of it works on after its time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
