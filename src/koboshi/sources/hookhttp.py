"""Hooks over HTTP, for CLIs that can post them (`"type": "http"`): loopback only, with a secret.

One request a connection: `POST /<token>/<run>` with the hook's JSON as its body. The answer, `{}`,
says nothing to the agent; or it says what becomes of its question.

Trap: a run keeps its address while no supervisor is there. The port is asked for again, but by then
somebody else may have it, and is posted what the agent does. The shim has no such gap.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import re
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from koboshi.observations import HookFired

from .envelopes import LOST, MOST, object_of
from .holding import Held, Holding

#: Seconds for a whole request.
PATIENCE = 5.0
OK = 200
#: Bytes of the request line and headers.
HEAD = 16 * 1024

_REQUEST = re.compile(rb"POST /([\w-]{1,128})/(\d{1,9}) HTTP/1\.[01]\r\n")
_NOTE = re.compile(r"(\d{1,5}) ([\w-]{32})", re.ASCII)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,9})[ \t]*\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookUrl:
    """Where hooks are posted to: a port that is ours already, and nobody answers yet."""

    door: socket.socket
    port: int
    token: str

    def of(self, run: int) -> str:
        """The address for that run."""
        return f"http://127.0.0.1:{self.port}/{self.token}/{run}"


def reserve(note: Path) -> HookUrl:
    """A port and a secret; those noted there if they can be had: runs that go on know them."""
    port, token = _noted(note)
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind(("127.0.0.1", port))
        except OSError:  # taken; runs that know it are not heard
            door.bind(("127.0.0.1", 0))
        url = HookUrl(door=door, port=door.getsockname()[1], token=token)
        note.touch(0o600)
        note.write_text(f"{url.port} {token}", encoding="ascii")
    except OSError:
        door.close()
        raise
    return url


def _noted(note: Path) -> tuple[int, str]:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if found := _NOTE.fullmatch(note.read_text(encoding="ascii")):
            return int(found[1]), found[2]
    return 0, secrets.token_urlsafe(24)


@asynccontextmanager
async def hook_http(
    url: HookUrl, take: Callable[[HookFired], None], holding: Holding | None = None
) -> AsyncIterator[None]:
    """Answer there until the end of the block."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(*LOST):
            async with asyncio.timeout(PATIENCE):
                status, fired = await _request(reader, url.token)
            held = holding.begin(fired) if holding is not None and fired is not None else None
            if held is not None and holding is not None:
                await _hold(writer, holding, held)
                return
            if holding is None and fired is not None:
                take(fired)
            await _respond(writer, status, b"{}" if status == OK else b"")

    server = await asyncio.start_server(answer, sock=url.door, limit=HEAD)
    try:
        yield
    finally:
        server.close()


async def _hold(writer: asyncio.StreamWriter, holding: Holding, held: Held) -> None:
    """Answer when there is a word; who went away meanwhile is noticed by the answer only."""
    why = "it was not answered in time"
    try:
        word = await holding.word(held, lambda: _alive(writer))
        await _respond(writer, OK, word or b"{}")
        if word:
            held.took(taken=True)  # as far as HTTP tells
    except LOST as error:
        why = f"its line broke: {error!r}"
    finally:
        holding.end(held, why)


async def _alive(writer: asyncio.StreamWriter) -> None:
    if writer.is_closing():
        raise ConnectionResetError("the other end hung up")


async def _respond(writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
    head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
    close = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + close.encode() + body)
    async with asyncio.timeout(PATIENCE):
        await writer.drain()


async def _request(reader: asyncio.StreamReader, token: str) -> tuple[int, HookFired | None]:
    """The status of the answer, and what was posted if it is a hook's."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return 431, None
    request, length = _REQUEST.match(head), _LENGTH.search(head)
    if request is None or not hmac.compare_digest(request[1], token.encode()):
        return 404, None
    if length is None or int(length[1]) > MOST:
        return 413, None
    payload = object_of(await reader.readexactly(int(length[1])))
    if payload is None:
        return 400, None
    return OK, HookFired(payload=payload, run=int(request[2]))
