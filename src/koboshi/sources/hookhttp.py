"""Hooks over HTTP, for CLIs that can post them (`"type": "http"`): loopback only, with a secret.

One request a connection: `POST /<token>/<run>` with the hook's JSON as its body. The answer, `{}`,
says nothing to the agent.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from koboshi.core.observations import HookFired

from .envelopes import LOST, MOST, object_of

#: Seconds for a whole request.
PATIENCE = 5.0
#: Bytes of the request line and headers.
HEAD = 16 * 1024

_REQUEST = re.compile(rb"POST /([\w-]{1,128})/(\d{1,9}) HTTP/1\.[01]\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,9})[ \t]*\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookUrl:
    """Where hooks are posted to."""

    port: int
    token: str

    def of(self, run: int) -> str:
        """The address for that run."""
        return f"http://127.0.0.1:{self.port}/{self.token}/{run}"


@asynccontextmanager
async def hook_http(take: Callable[[HookFired], None]) -> AsyncIterator[HookUrl]:
    """Listen on a free port of 127.0.0.1 until the end of the block."""
    token = secrets.token_urlsafe(24)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(*LOST):
            async with asyncio.timeout(PATIENCE):
                status = await _answer(reader, token, take)
                body = b"{}" if status == 200 else b""  # noqa: PLR2004 - HTTP
                head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
                close = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                writer.write(head.encode() + close.encode() + body)
                await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=HEAD)
    try:
        yield HookUrl(port=server.sockets[0].getsockname()[1], token=token)
    finally:
        server.close()


async def _answer(
    reader: asyncio.StreamReader, token: str, take: Callable[[HookFired], None]
) -> int:
    """The status of the answer; what was posted is taken when it is a hook's."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return 431
    request, length = _REQUEST.match(head), _LENGTH.search(head)
    if request is None or not hmac.compare_digest(request[1], token.encode()):
        return 404
    if length is None or int(length[1]) > MOST:
        return 413
    payload = object_of(await reader.readexactly(int(length[1])))
    if payload is None:
        return 400
    take(HookFired(payload=payload, run=int(request[2])))
    return 200
