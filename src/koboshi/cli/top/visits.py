"""The daemon, asked without holding the board up; and what is new there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from koboshi.daemon.control.client import Refused, door
from koboshi.errors import DaemonError

#: Seconds for an answer, beside what it was asked to wait.
ANSWERS = 10.0
#: Seconds that the daemon waits for news before it says that there are none.
NEWS = 20.0
#: Seconds between two looks at a daemon that cannot be followed, or is not there.
AGAIN = 1.0
#: Bytes of an answer: a board of a thousand agents has two million.
LONGEST = 64 << 20


class Asked(Protocol):
    """Who knows of the agents."""

    async def ask(self, verb: str, *, patience: float = ANSWERS, **args: Any) -> Any:  # noqa: ANN401
        """The answer to a verb of the control API; an error of ours otherwise."""
        ...


class Visitor:
    """Asks the daemon of one state folder; it is not started from here."""

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


@dataclass(slots=True)
class News:
    """What the board shows: all agents by name, or why nothing new is known."""

    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    trouble: str = ""


async def news(daemon: Asked) -> AsyncIterator[News]:
    """The board, again at every change, for ever; a daemon that went away is waited for.

    A daemon that is followed tells at once and only what changed; one that cannot be is asked for
    all once a second.
    """
    known = News()
    epoch, after, follows = "", 0, True
    while True:
        try:
            if follows:
                args = {"epoch": epoch, "after": after, "wait": NEWS}
                told = await daemon.ask("follow", patience=NEWS + ANSWERS, **args)
                epoch, after = told["epoch"], told["count"]
                known = _merged(known, told)
            else:
                found = await daemon.ask("ls")
                known = News(agents={each["agent"]: each for each in found})
        except Refused as error:
            follows = follows and "follow" in str(error).partition(", not ")[0]
            if follows:
                yield News(agents=known.agents, trouble=str(error))
                await asyncio.sleep(AGAIN)
            continue
        except DaemonError as error:
            known, epoch = News(agents=known.agents, trouble=str(error)), ""
        yield known
        if known.trouble or not follows:
            await asyncio.sleep(AGAIN)


def _merged(known: News, told: dict[str, Any]) -> News:
    agents = {} if told["full"] else dict(known.agents)
    agents.update((each["agent"], each) for each in told["agents"])
    for name in told["gone"]:
        agents.pop(name, None)
    return News(agents=agents)
