"""Verbs for whoever shows agents to people: what changed, the terminal, the past.

Reading never holds an agent up: journals are read in a thread, one at a time, and every answer has
a limit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.errors import InputError, UnknownAgent
from koboshi.reports.spending import Asked, spent
from koboshi.store.notes import notes_in
from koboshi.store.paths import known_journal_dir
from koboshi.store.queries import about_event, chain_facts, event_number, recent
from koboshi.store.sessions import remembered
from koboshi.store.shelves import DiskShelf
from koboshi.store.timelines import LONGEST, timeline

from . import report
from .following import brief
from .incidents import Incidents
from .requests import FollowArgs, NameArgs, PictureArgs, TimelineArgs, WhyArgs
from .ruling import Ruling

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.daemon.house import House
    from koboshi.daemon.wards import Ward
    from koboshi.hosts.base import Place
    from koboshi.reports.values import Spent

    from .masking import Masks

    PlaceOf = Callable[[Ward], Awaitable[Place]]

#: Seconds: the longest that a caller may wait for news.
LONGEST_WAIT = 30.0
#: Seconds that changes are gathered before they are told: a person does not see less.
GATHERED = 0.1
#: Decisions that are told at once at most.
DECISIONS = 200


class Showing:
    """Looks at a house on behalf of people."""

    def __init__(self, house: House, place_of: PlaceOf, masks: Masks) -> None:
        self._house = house
        self._masks = masks
        self._place_of = place_of
        self._reading = asyncio.Lock()

    def table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        """Name → verb."""
        incidents = Incidents(self._house)
        return {
            "follow": self.follow,
            "picture": self.picture,
            "timeline": self.timeline,
            "why": self.why,
            "history": self.history,
            "notes": self.notes,
            "spending": self.spending,
            **incidents.table(),
            **Ruling(self._house, incidents).table(),
        }

    # -- now -----------------------------------------------------------------------------------

    async def follow(self, args: dict[str, Any]) -> dict[str, Any]:
        """Who changed since that number, briefly; everybody for a number of another daemon's."""
        asked = msgspec.convert(args, type=FollowArgs)
        changes = self._house.changes
        if asked.epoch != changes.epoch:
            return self._told(None)
        if changes.count <= asked.after:
            await changes.after(asked.after, min(asked.wait, LONGEST_WAIT))
            await asyncio.sleep(GATHERED)
        return self._told(changes.since(asked.after))

    def _told(self, names: list[str] | None) -> dict[str, Any]:
        changes, agents, gone = self._house.changes, [], []
        count = changes.count
        everybody = [entry.agent for entry in self._house.roster.entries()] if names is None else []
        for name in everybody if names is None else names:
            try:
                agents.append(self._brief(name))
            except UnknownAgent:
                gone.append(name)
        full = names is None
        return {
            "epoch": changes.epoch,
            "count": count,
            "full": full,
            "agents": agents,
            "gone": gone,
            "news": self._house.news.told(),
        }

    def _brief(self, name: str) -> dict[str, Any]:
        ward = self._house.wards.get(name)
        if ward is not None:
            return brief(ward)
        return report.brief(self._house.roster.entry(name), None, None, "released")

    async def picture(self, args: dict[str, Any]) -> dict[str, Any]:
        """The terminal with its colours, once it was looked at after that number.

        Secrets are masked, names are not: who sees this may know whose agents these are.
        """
        asked = msgspec.convert(args, type=PictureArgs)
        ward, looks = self._house.ward(asked.name), self._house.looks
        known = asked.epoch == looks.epoch
        if known:
            await looks.after(asked.after, min(asked.wait, LONGEST_WAIT), asked.name)
        count = looks.of(asked.name)
        numbers = {"agent": asked.name, "epoch": looks.epoch, "count": count}
        if known and count <= asked.after:
            return {**numbers, "screen": None}
        seen = await ward.host.look(await self._place_of(ward))
        screen: dict[str, Any] = msgspec.to_builtins(seen)
        for key in ("text", "ansi", "title"):
            screen[key] = self._masks.text(asked.name, screen[key] or "", cols=seen.cols)
        return {**numbers, "screen": screen}

    # -- the past ------------------------------------------------------------------------------

    async def timeline(self, args: dict[str, Any]) -> dict[str, Any]:
        """Statuses, marks and context use of the last so many seconds."""
        asked = msgspec.convert(args, type=TimelineArgs)
        if not 0 < asked.seconds <= LONGEST:
            raise InputError(f"expected up to {LONGEST:g} seconds, not {asked.seconds:g}")
        folder, now = self._journal(asked.name), time.time()
        told = await self._read(lambda: timeline(folder, now - asked.seconds, now))
        return {"agent": asked.name, **told}

    async def why(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """The last decisions, or those about an event, oldest first."""
        asked = msgspec.convert(args, type=WhyArgs)
        shelf = DiskShelf(self._journal(asked.name))
        count = max(1, min(asked.count, DECISIONS))
        if asked.event:
            number = event_number(asked.event)
            story = await self._read(lambda: about_event(shelf, number))
        else:
            story = await self._read(lambda: recent(shelf, count))
        return [chain_facts(chain) for chain in story.chains[-DECISIONS:]]

    async def history(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """The runs, oldest first, as they were last written down."""
        folder = self._journal(msgspec.convert(args, type=NameArgs).name).parent
        return [past.facts() for past in await self._read(lambda: remembered(folder))]

    async def notes(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """The hand-over notes, newest first."""
        folder = self._journal(msgspec.convert(args, type=NameArgs).name).parent
        return [note.facts() for note in await self._read(lambda: notes_in(folder / "notes"))]

    async def spending(self, args: dict[str, Any]) -> dict[str, Any]:
        """Tokens and money of the last so many seconds, as the agent's CLI writes them down."""
        asked = msgspec.convert(args, type=TimelineArgs)
        if not 0 < asked.seconds <= LONGEST:
            raise InputError(f"expected up to {LONGEST:g} seconds, not {asked.seconds:g}")
        entry, folder = self._house.roster.entry(asked.name), self._journal(asked.name).parent
        until = time.time()
        since = until - asked.seconds

        def read() -> Spent | None:
            runs = [past for past in remembered(folder) if past.ended is None or past.ended > since]
            sessions = dict.fromkeys(each for past in runs for each in past.sessions)
            environment = self._house.roster.environment(asked.name) or {}
            whose = Asked(
                environment=environment,
                sessions=tuple(sessions),
                folder=entry.cwd,
                since=since,
                until=until,
            )
            return spent(entry.agent_type, whose)

        used = await self._read(read)
        told = {"read": used.read, "written": used.written, "cost": used.cost} if used else None
        return {"agent": asked.name, "since": since, "until": until, "spent": told}

    def _journal(self, name: str) -> Path:
        self._house.roster.entry(name)  # or an error that names the known ones
        return known_journal_dir(self._house.state, name)

    async def _read(self, read: Callable[[], Any]) -> Any:  # noqa: ANN401 - what was read
        async with self._reading:
            return await asyncio.to_thread(read)
