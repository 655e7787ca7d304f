"""Verbs about what waits for a person: of dialogs, of hooks that wait, of an agent's own tool."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.errors import KoboshiError

from . import asking
from .requests import AnswerArgs

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.daemon.house import House
    from koboshi.daemon.wards import Ward
    from koboshi.hosts.base import Place

    from .errands import Errands
    from .masking import Masks


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Over all agents of a house."""

    house: House
    masks: Masks
    errands: Errands
    up: Callable[[str], Awaitable[tuple[Ward, World]]]
    place_of: Callable[[Ward], Awaitable[Place]]

    def table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        """Name → verb."""
        return {"questions": self.questions, "answer": self.answer}

    async def questions(self, args: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: ARG002
        """What waits for a person, oldest first, with what each agent shows of it."""
        found = []
        for ward in list(self.house.wards.values()):
            supervisor = ward.supervisor
            if supervisor is None:
                continue
            view, now = supervisor.world.view, supervisor.runtime.now()
            for question in asking.open_in(view):
                line = supervisor.hands.held(question.ticket) if question.ticket else None
                shown = asking.shown_by_hook(line.payload) if line else await self._rows(ward)
                found.append({**asking.facts_of(view, question, now), "shown": shown})
            found += ward.asks.questions(view.run.number)
        return sorted(found, key=lambda each: float(each["since"]))

    async def _rows(self, ward: Ward) -> list[str]:
        with contextlib.suppress(KoboshiError):
            seen = await ward.host.look(await self.place_of(ward))
            return [row.rstrip() for row in seen.text.rstrip().split("\n")][-asking.ROWS :]
        return []

    async def answer(self, args: dict[str, Any]) -> dict[str, Any]:
        """Have a question answered; what came of it, or that it is too late."""
        asked = msgspec.convert(args, type=AnswerArgs)
        if ":ask" in asked.id:
            return await self.errands.reply(asked.id, asked.text, self.masks.meant)
        name, number = asking.parsed(asked.id)
        ward, world = await self.up(name)
        offered = [o.text for q in asking.open_in(world.view) for o in q.prompt.options]
        text = self.masks.meant(name, asked.text, offered)
        return await asking.answered(ward, world, number, text, asked.wait)
