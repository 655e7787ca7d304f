"""The unix socket that the hook shim sends to: one line a connection, answered with `+`.

A shim that waits for an answer is told `~` at once and every second while its line is held, then
`=`, the answer on one line, and says `+` when it has it; or `+`: there will be none.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from koboshi.observations import HookFired, StatusLineSeen

from .envelopes import LOST, MOST, unpack
from .holding import TAKES, Held, Holding

#: Seconds for a whole line; the shim has all of it when it connects.
PATIENCE = 2.0
#: Connections at a time; the shim goes to its spool when it gets no answer.
CROWD = 32
#: Bytes of a path that every system takes for a socket.
LONGEST = 100

Take = Callable[[HookFired | StatusLineSeen], None]


@asynccontextmanager
async def hook_socket(
    path: Path, agent: str, take: Take, holding: Holding | None = None
) -> AsyncIterator[bool]:
    """Listen there until the end of the block; False when the path is too long for a socket."""
    if len(os.fsencode(path)) > LONGEST:
        yield False
        return
    crowd = asyncio.Semaphore(CROWD)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(*LOST):
            if crowd.locked():
                return
            async with crowd:
                await _answer(reader, writer, _heard(agent, take, holding))

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


Begin = Callable[[bytes], tuple[Holding, Held] | None]


def _heard(agent: str, take: Take, holding: Holding | None) -> Begin:
    """Who takes a line; what is to be held, and by whom, if it is."""

    def heard(line: bytes) -> tuple[Holding, Held] | None:
        seen = unpack(line, agent=agent, utc=time.time())
        if isinstance(seen, HookFired) and seen.waits and holding is not None:
            held = holding.begin(seen)
            return (holding, held) if held is not None else None
        if seen is not None:
            take(seen)
        return None

    return heard


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, begin: Begin) -> None:
    async with asyncio.timeout(PATIENCE):
        held = begin(await reader.readuntil(b"\n"))
    if held is not None:
        await _hold(reader, writer, *held)
        return
    await _send(writer, b"+")


async def _hold(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, holding: Holding, held: Held
) -> None:
    """Keep the line until there is a word for it, or there will be none."""
    why = "it was not answered in time"
    try:
        await _send(writer, b"~")
        word = await holding.word(held, lambda: _send(writer, b"~"))
        await _send(writer, b"=" + word + b"\n" if word else b"+")
        if word:
            async with asyncio.timeout(TAKES):
                held.took(taken=await reader.read(1) == b"+")
    except LOST as error:
        why = f"its line broke: {error!r}"
    finally:
        holding.end(held, why)


async def _send(writer: asyncio.StreamWriter, words: bytes) -> None:
    writer.write(words)
    async with asyncio.timeout(PATIENCE):
        await writer.drain()


def _clear(path: Path) -> None:
    """Remove a socket that a dead listener left; the agent's lock says that it is dead."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()
