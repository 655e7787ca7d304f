"""The rules of an agent: built in, brought by plug-ins, and those of the files as they are now.

What a person said of single rules (`store/switches.py`) goes over all of them. The files are looked
at every few seconds. A bad edit keeps the rules that were good, and says where the mistake is.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.config.load import Sheet, read
from koboshi.config.resolve import FILE, merged
from koboshi.errors import InputError
from koboshi.plugins.manager import in_force
from koboshi.store import switches

if TYPE_CHECKING:
    from koboshi.core.rules import Rule

    from .supervisor import Supervisor

log = logging.getLogger(__name__)

#: Seconds between two looks at the files.
LOOK = 2.0
_Stamp = tuple[int, int, int]


class RuleKeeper:
    """Who knows the rules of one agent."""

    def __init__(self, config: Path, cwd: str, state: Path | None = None) -> None:
        own, project = config / FILE, Path(cwd) / FILE
        self._files = (own, project) if own != project else (own,)
        self._state = state
        self._watched = (*self._files, state / switches.FILE) if state else self._files
        self._said: dict[str, switches.Switch] = {}
        self._stamps: tuple[_Stamp, ...] = ()
        self._good: list[Sheet | None] = [None, None]
        self._looked_at = float("-inf")
        self.rules: tuple[Rule, ...] = ()

    def look(self) -> bool:
        """Read the files if they were changed; whether other rules hold now. May take a while."""
        stamps = tuple(map(_stamp, self._watched))
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        for number, file in enumerate(self._files):
            sheet = read(file, foreign=number > 0)
            if sheet is not None and sheet.book.mistakes:
                for mistake in sheet.book.mistakes:
                    said = {"action": "configure", "reason": str(mistake)}
                    log.warning("rules not used; the last good ones hold", extra=said)
            else:
                self._good[number] = sheet
        ours, notes = merged(*self._good)
        for note in notes:
            log.warning("not used", extra={"action": "configure", "reason": note})
        rules = switches.switched(in_force(ours), self._switches())
        before, self.rules = self.rules, rules
        return rules != before

    def _switches(self) -> dict[str, switches.Switch]:
        """What a person said of rules; what was said before, when it cannot be read."""
        if self._state is not None:
            try:
                self._said = switches.switches_in(self._state)
            except InputError as error:
                said = {"action": "configure", "reason": str(error)}
                log.warning("switches not used; the last good ones hold", extra=said)
        return self._said

    def due(self, at: float) -> bool:
        """Whether a file was changed; asked often, and looks now and then."""
        if at - self._looked_at < LOOK:
            return False
        self._looked_at = at
        return tuple(map(_stamp, self._watched)) != self._stamps

    async def renew(self, supervisor: Supervisor) -> None:
        """Read the files, and let the supervisor know the rules."""
        if await asyncio.to_thread(self.look):
            supervisor.obey(self.rules)
            said = {"action": "configure", "reason": f"{len(self.rules)} rules"}
            log.info("rules read again", extra=said)


async def kept(config: Path, cwd: str, state: Path | None = None) -> RuleKeeper:
    """A keeper who has read the files."""
    keeper = RuleKeeper(config, cwd, state)
    await asyncio.to_thread(keeper.look)
    return keeper


def _stamp(file: Path) -> _Stamp:
    try:
        found = file.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
