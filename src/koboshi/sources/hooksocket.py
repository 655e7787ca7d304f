"""The unix socket that the hook shim sends to: one line a connection, answered with `+`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from koboshi.core.observations import HookFired, StatusLineSeen

from .envelopes import LOST, MOST, unpack

#: Seconds for a whole line; the shim has all of it when it connects.
PATIENCE = 2.0
#: Connections at a time; the shim goes to its spool when it gets no answer.
CROWD = 32
#: Bytes of a path that every system takes for a socket.
LONGEST = 100

Take = Callable[[HookFired | StatusLineSeen], None]


@asynccontextmanager
async def hook_socket(path: Path, agent: str, take: Take) -> AsyncIterator[bool]:
    """Listen there until the end of the block; False when the path is too long for a socket."""
    if len(os.fsencode(path)) > LONGEST:
        yield False
        return
    crowd = asyncio.Semaphore(CROWD)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(*LOST):
            if crowd.locked():
                return
            async with crowd, asyncio.timeout(PATIENCE):
                await _answer(reader, writer, agent, take)

    _clear(path)
    # Nobody else may speak for the agent, not even between the two calls.
    mask = os.umask(0o177)
    try:
        server = await asyncio.start_unix_server(answer, str(path), limit=MOST)
    finally:
        os.umask(mask)
    try:
        yield True
    finally:
        server.close()
        _clear(path)


async def _answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, agent: str, take: Take
) -> None:
    line = await reader.readuntil(b"\n")
    seen = unpack(line, agent=agent, utc=time.time())
    if seen is not None:
        take(seen)
    writer.write(b"+")
    await writer.drain()


def _clear(path: Path) -> None:
    """Remove a socket that a dead listener left; the agent's lock says that it is dead."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()
