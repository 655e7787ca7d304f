"""The door: a unix socket, mode 0600, one request and one answer per connection.

Rule 1: whoever knocks is checked: the socket's folder is private, and on Linux the caller's user.
Rule 2: no request can hold the daemon up: sizes and times are bounded, errors are answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import stat
import struct
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from koboshi import _version
from koboshi.errors import KoboshiError
from koboshi.store.shelves import make_private

log = logging.getLogger(__name__)

Verb = Callable[[dict[str, Any]], Awaitable[Any]]

#: Bytes of a request: a message may be long, an environment longer.
LONGEST = 4 << 20
#: Seconds for a request to arrive.
ARRIVES = 10.0
#: Seconds between two looks whether the socket is still where it was put.
STILL_THERE = 5.0
#: Callers at a time.
CALLERS = 64


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """A request."""

    verb: str
    args: dict[str, Any] = {}


class Door:
    """Listens, and answers by the table of verbs."""

    def __init__(self, path: Path, verbs: Mapping[str, Verb]) -> None:
        self._path = path
        self._verbs = verbs
        self._server: asyncio.Server | None = None
        self._inode = 0
        self._callers = 0

    async def open(self) -> None:
        """Listen. Who holds the daemon's lock may take a socket away that a dead one left."""
        make_private(self._path.parent)
        check_private(self._path.parent)
        self._path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)  # 0600 from the first moment, not a moment later
        try:
            listener.bind(os.fspath(self._path))
        finally:
            os.umask(mask)
        self._inode = self._path.stat().st_ino
        self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=LONGEST)

    async def close(self) -> None:
        """Listen no more."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        if self._there():
            self._path.unlink(missing_ok=True)

    async def keep_open(self) -> None:
        """Put the socket back when somebody cleared it away; a daemon nobody reaches is none."""
        while True:
            await asyncio.sleep(STILL_THERE)
            if not self._there():
                log.warning("the control socket was removed; it is put back")
                with contextlib.suppress(OSError):
                    await self.close()
                    await self.open()

    def _there(self) -> bool:
        try:
            return self._path.stat().st_ino == self._inode
        except OSError:
            return False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._callers += 1
        try:
            reply = await self._reply(reader, writer)
            writer.write(msgspec.json.encode({**reply, "version": _version.__version__}) + b"\n")
            await writer.drain()
        except (OSError, asyncio.CancelledError):
            log.debug("a caller left")
        finally:
            self._callers -= 1
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _reply(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> dict[str, Any]:
        try:
            if not same_user(writer.get_extra_info("socket")):
                return _error("this daemon belongs to another user", code=4)
            if self._callers > CALLERS:
                return _error("too many callers at once", hint="try again", code=4)
            async with asyncio.timeout(ARRIVES):
                line = await reader.readline()
            asked = msgspec.json.decode(line, type=Asked)
            verb = self._verbs.get(asked.verb)
            if verb is None:
                known = ", ".join(sorted(self._verbs))
                return _error(f"expected one of {known}, not {asked.verb!r}", code=2)
            return {"ok": await verb(asked.args)}
        except KoboshiError as error:
            return _error(str(error), hint=error.hint, code=error.exit_code)
        except (msgspec.MsgspecError, ValueError, TimeoutError) as error:
            return _error(f"expected a request as a line of JSON: {error}", code=2)
        except OSError as error:
            where = error.filename or self._path.parent.parent
            return _error(f"{where}: {error.strerror}", hint="'koboshi doctor' looks", code=4)
        except Exception as error:
            log.exception("a request failed")
            return _error(f"the daemon failed: {type(error).__name__}: {error}", code=1)


def _error(message: str, *, hint: str = "", code: int) -> dict[str, Any]:
    return {"error": {"message": message, "hint": hint, "code": code}}


def check_private(folder: Path) -> None:
    """Refuse a folder that another user made or can enter: /tmp is everybody's."""
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not private or found.st_mode & 0o077:
        raise KoboshiError(
            f"{folder} must be a folder that only its owner can enter",
            hint=f"chmod 700 {folder}, or remove it if it is not yours",
        )


def same_user(connection: socket.socket) -> bool:
    """Whether the caller runs under our user; where that cannot be asked the folder decides."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    size = struct.calcsize("3i")
    content = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    _, uid, _ = struct.unpack("3i", content)
    return bool(uid in (os.getuid(), 0))
