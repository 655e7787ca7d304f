"""Verbs about rules: which hold, what each came to, and a person's word about one."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.daemon import standing
from koboshi.errors import InputError
from koboshi.incidents.findings import LONGEST
from koboshi.store.manifests import config_dir
from koboshi.store.switches import switch

from .requests import RuleArgs, RulesArgs

if TYPE_CHECKING:
    from koboshi.daemon.house import House

    from .incidents import Incidents

log = logging.getLogger(__name__)


class Ruling:
    """The rules of a house."""

    def __init__(self, house: House, incidents: Incidents) -> None:
        self._house, self._incidents = house, incidents

    def table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        """Name → verb."""
        return {"rules": self.rules, "rule": self.rule}

    async def rules(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """Every rule, by code, with what it came to lately."""
        asked = msgspec.convert(args, type=RulesArgs)
        if not 0 < asked.seconds <= LONGEST:
            raise InputError(f"expected up to {LONGEST:g} seconds, not {asked.seconds:g}")
        return await self._told(asked.seconds)

    async def rule(self, args: dict[str, Any]) -> dict[str, Any]:
        """Let a rule observe or act from now on, or be as its file has it; in force when told."""
        asked = msgspec.convert(args, type=RuleArgs)
        listed = await asyncio.to_thread(standing.standings, config_dir(), self._folders())
        found = standing.named(listed, asked.code)
        code = found.rule.code
        if not found.settable:
            why = "it is not enabled" if not found.enabled else "the loop of plans is made of it"
            raise InputError(f"{code} can neither observe nor act: {why}")
        switch(self._house.state, code, asked.mode, time.time())
        log.info("a rule was switched", extra={"action": "rule", "reason": f"{code} {asked.mode}"})
        await self._reread()
        self._house.news.ruled()  # also where nobody is looked after
        told = await self._told(RulesArgs().seconds)
        return next(each for each in told if each["code"] == code)

    async def _reread(self) -> None:
        """Let every supervisor look now; one that cannot looks by itself, a moment later."""
        found = [ward.supervisor for ward in self._house.wards.values() if ward.supervisor]
        looks = [each.reread() for each in found if each.reread is not None]
        await asyncio.gather(*looks, return_exceptions=True)

    async def _told(self, seconds: float) -> list[dict[str, Any]]:
        state, folders, since = self._house.state, self._folders(), time.time() - seconds
        async with self._incidents.reading() as readers:
            return await asyncio.to_thread(
                lambda: standing.told(state, config_dir(), folders, readers(), since=since)
            )

    def _folders(self) -> list[str]:
        return [entry.cwd for entry in self._house.roster.entries() if entry.watched]
