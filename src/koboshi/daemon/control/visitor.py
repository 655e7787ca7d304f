"""The other side of the door for whoever shows many agents: asked without holding anybody up.

A connection for each question. The daemon is not started from here.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Protocol

from koboshi.errors import DaemonError

from .client import Refused, door

if TYPE_CHECKING:
    from pathlib import Path

#: Seconds for an answer, beside what was asked to be waited for.
ANSWERS = 10.0
#: Bytes of an answer: a board of a thousand agents has two million.
LONGEST = 64 << 20


class Asked(Protocol):
    """Who knows of the agents."""

    async def ask(self, verb: str, *, patience: float = ANSWERS, **args: Any) -> Any:  # noqa: ANN401
        """The answer to one verb of the control API; `Refused` or `DaemonError` otherwise."""
        ...


class Visitor:
    """Asks the daemon of one state folder."""

    def __init__(self, state: Path) -> None:
        self._path = door(state)

    async def ask(self, verb: str, *, patience: float = ANSWERS, **args: Any) -> Any:  # noqa: ANN401
        """Knock, ask, hear the answer."""
        line = json.dumps({"verb": verb, "args": args}).encode() + b"\n"
        try:
            async with asyncio.timeout(patience):
                reply = await self._reply(line)
        except TimeoutError:
            raise DaemonError(f"the daemon did not answer within {patience:g} seconds") from None
        except (OSError, ValueError) as error:
            raise DaemonError("the daemon is not there", hint="'koboshi daemon start'") from error
        if "error" in reply:
            said = reply["error"]
            raise Refused(said["message"], hint=said["hint"], exit_code=said["code"])
        return reply["ok"]

    async def _reply(self, line: bytes) -> dict[str, Any]:
        reader, writer = await asyncio.open_unix_connection(self._path, limit=LONGEST)
        try:
            writer.write(line)
            await writer.drain()
            reply: dict[str, Any] = json.loads(await reader.readline())
            return reply
        finally:
            writer.close()
