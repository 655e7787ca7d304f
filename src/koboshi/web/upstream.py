"""The daemon, asked without waiting for others: a connection for each question."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Protocol

from koboshi.daemon.control.client import Refused, door
from koboshi.errors import DaemonError

if TYPE_CHECKING:
    from pathlib import Path

#: Seconds for an answer, beside what was asked to be waited for.
ANSWERS = 10.0
#: Bytes of an answer: a board of a thousand agents has two million.
LONGEST = 64 << 20


class Upstream(Protocol):
    """Who knows of the agents."""

    async def ask(self, verb: str, *, patience: float = ANSWERS, **args: Any) -> Any:  # noqa: ANN401
        """The answer to one verb of the control API; `Refused` or `DaemonError` otherwise."""
        ...


class Daemon:
    """The daemon of one state folder; it is not started from here."""

    def __init__(self, state: Path) -> None:
        self._path = door(state)

    async def ask(self, verb: str, *, patience: float = ANSWERS, **args: Any) -> Any:  # noqa: ANN401
        """Knock, ask, hear the answer."""
        try:
            async with asyncio.timeout(patience):
                reply = await self._reply(json.dumps({"verb": verb, "args": args}))
        except TimeoutError:
            raise DaemonError(f"the daemon did not answer within {patience:g} seconds") from None
        except (OSError, ValueError) as error:
            raise DaemonError("the daemon is not there", hint="'koboshi daemon start'") from error
        if "error" in reply:
            said = reply["error"]
            raise Refused(said["message"], hint=said["hint"], exit_code=said["code"])
        return reply["ok"]

    async def _reply(self, line: str) -> dict[str, Any]:
        reader, writer = await asyncio.open_unix_connection(self._path, limit=LONGEST)
        try:
            writer.write(line.encode() + b"\n")
            await writer.drain()
            reply: dict[str, Any] = json.loads(await reader.readline())
            return reply
        finally:
            writer.close()
