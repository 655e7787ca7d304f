"""An order about what an agent knows: note it down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.actions import Checkpoint, Mode
from koboshi.core.events import ActionFinished, Order, OrderGiven
from koboshi.errors import InputError
from koboshi.rules.context import MUTE

from .following import watched
from .requests import NameArgs

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Event
    from koboshi.core.view import View
    from koboshi.daemon.wards import Ward

    Up = Callable[[str], Awaitable[tuple[Ward, World]]]


class Keeping:
    """Verbs over agents that are up."""

    def __init__(self, up: Up) -> None:
        self._up = up

    def table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        """Name → verb."""
        return {"save": self.save}

    async def save(self, args: dict[str, Any]) -> dict[str, Any]:
        """Have its work noted down when it is at rest."""
        asked = msgspec.convert(args, type=NameArgs)
        ward, world = await self._up(asked.name)
        _check(world.view)
        if world.view.settings.save_every <= 0:
            hint = "'save_every' in koboshi.toml switches them on"
            raise InputError(f"notes of {asked.name} are switched off", hint=hint)
        return await watched(ward, OrderGiven(order=Order.SAVE, by="person"), _ended, asked.wait)


def _check(view: View) -> None:
    """Nothing can be written down that nobody knows, and nothing is typed by who only looks."""
    name = view.context.agent
    if view.context.agent_type in MUTE:
        raise InputError(f"nothing is known of {name} that could be written down")
    if view.settings.mode is Mode.OBSERVE:
        hint = f"'koboshi mode {name} keep' lets koboshi"
        raise InputError(f"{name} is only observed", hint=hint)


def _ended(event: Event) -> str | None:
    body = event.body
    if isinstance(body, ActionFinished) and isinstance(body.action, Checkpoint):
        return body.outcome.ending.value
    return None
