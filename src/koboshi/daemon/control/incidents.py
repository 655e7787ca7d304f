"""Verbs about what was found of agents: incidents, and the files that were made of them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.events import Severity
from koboshi.daemon.noticing import still_asked
from koboshi.errors import InputError
from koboshi.incidents.findings import LONGEST, MOST, Reader, found_in, opened
from koboshi.incidents.kept import KINDS, kept, piece, text_of
from koboshi.reports.stretches import is_ended
from koboshi.store.paths import journal_dir, known_journal_dir

from .requests import IncidentsArgs, NameArgs, PieceArgs

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.daemon.house import House


#: Seconds that an answer is good for others, where nothing was found since; and how many are kept.
SAME, ASKED = 2.0, 8


class Incidents:
    """Looks at what was found in a house. Journals are read in a thread, one caller at a time."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._reading = asyncio.Lock()
        self._readers: dict[str, Reader] = {}
        self._last: dict[tuple[Any, ...], tuple[int, float, list[dict[str, Any]]]] = {}

    def table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        """Name → verb."""
        return {
            "incidents": self.incidents,
            "bundles": self.bundles,
            "prompts": self.prompts,
            "piece": self.piece,
        }

    async def incidents(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """What rules found and what came of it, newest first."""
        asked = msgspec.convert(args, type=IncidentsArgs)
        if not 0 < asked.seconds <= LONGEST:
            raise InputError(f"expected up to {LONGEST:g} seconds, not {asked.seconds:g}")
        if asked.severity not in Severity.__members__:
            raise InputError(f"expected P0, P1 or P2, not {asked.severity!r}")
        names = (asked.name,) if asked.name else self._journals()
        since, least = time.time() - asked.seconds, Severity[asked.severity]
        most = max(1, min(asked.count, MOST))
        if asked.name:
            self._folder(asked.name)
        if not names:
            return []
        state = self._house.state

        def read() -> list[dict[str, Any]]:
            return found_in(
                state,
                names,
                since=since,
                least=least,
                most=most,
                readers=self._readers,
                still=self._still,
            )

        async with self.reading():
            return await self._told((asked.name, asked.seconds, least, most), read)

    async def _told(
        self, asked: tuple[Any, ...], read: Callable[[], list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """What was read; whoever looks on asks the same at the same moment, and gets the same."""
        number = self._house.news.told()["incidents"]
        known = self._last.get(asked)
        if known is not None and known[0] == number and time.monotonic() - known[1] < SAME:
            return known[2]
        begun = time.monotonic()
        told = await asyncio.to_thread(read)
        self._last = {**dict(list(self._last.items())[-ASKED:]), asked: (number, begun, told)}
        return told

    def _still(self, name: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        """What is not over: who has ended as meant, or is well again, asks nobody."""
        ward = self._house.wards.get(name)
        if ward is None:
            return ()  # released
        supervisor = ward.supervisor
        if supervisor is None:
            return keys  # nobody knows
        world = supervisor.world
        if is_ended(world.view):
            return ()
        return still_asked(world, supervisor.runtime.now(), keys)

    @contextlib.asynccontextmanager
    async def reading(self) -> AsyncIterator[Callable[[], list[Reader]]]:
        """Nobody else reads meanwhile; what is given opens the journals, in a thread."""
        async with self._reading:
            names = self._journals()
            # Who was struck from the roster is forgotten, and read anew when the name comes again.
            self._readers = {k: v for k, v in self._readers.items() if k in names}
            yield lambda: opened(self._house.state, names, self._readers)

    def _journals(self) -> tuple[str, ...]:
        """Whoever is on the roster and has begun."""
        state, known = self._house.state, self._house.roster.entries()
        return tuple(each.agent for each in known if journal_dir(state, each.agent).is_dir())

    async def bundles(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """The bundles about an agent, newest first."""
        folder = self._folder(msgspec.convert(args, type=NameArgs).name)
        return [each.facts() for each in await asyncio.to_thread(kept, folder, "bundle")]

    async def prompts(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """The prompts about an agent, newest first, with their words."""
        folder = self._folder(msgspec.convert(args, type=NameArgs).name)

        def read() -> list[dict[str, Any]]:
            found = kept(folder, "prompt")
            return [
                {**each.facts(), "text": text_of(folder, "prompt", each.name)} for each in found
            ]

        return await asyncio.to_thread(read)

    async def piece(self, args: dict[str, Any]) -> dict[str, Any]:
        """A part of a file that koboshi wrote; a large one is had piece by piece."""
        asked = msgspec.convert(args, type=PieceArgs)
        if asked.kind not in KINDS:
            raise InputError(f"expected one of {', '.join(KINDS)}, not {asked.kind!r}")
        folder = self._folder(asked.name)
        found = await asyncio.to_thread(piece, folder, asked.kind, asked.file, asked.offset)
        content = base64.b64encode(found.content).decode()
        return {"content": content, "size": found.size, "mark": found.mark}

    def _folder(self, name: str) -> Path:
        self._house.roster.entry(name)  # or an error that names the known ones
        return known_journal_dir(self._house.state, name).parent
