"""Reach: the desk of one process, as the owner's file has it now.

The file is looked at every few seconds. A bad edit keeps what was good, and says so once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from koboshi.config.model import OUTSIDE, File
from koboshi.config.owned import Owned, owned, stamp
from koboshi.notices.desk import Desk

from .noticing import still_asked

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.notices.desk import Told

    from .supervisor import Supervisor

log = logging.getLogger(__name__)

#: Seconds between two looks at the owner's file.
LOOK = 5.0


class Reach:
    """How people are reached; made inside a running loop."""

    def __init__(
        self,
        folder: Path,
        config: Path,
        *,
        who: Callable[[str], Supervisor | None],
        told: Told = lambda *_: None,
    ) -> None:
        self._config, self._who = config, who
        self._loop = asyncio.get_running_loop()
        self.desk = Desk(folder, told=lambda utc, text: self._say(told, utc, text))
        self.desk.needed = self._needed
        self._stamp = (-1, -1)
        self._task: asyncio.Task[None] | None = None
        self.owned = Owned(file=File())

    def open(self) -> None:
        """Read the owner's file and go on reading it."""
        self._stamp = stamp(self._config)
        self._use(owned(self._config), first=True)
        self._task = self._loop.create_task(self._mind())

    async def close(self) -> None:
        """Leave; what is still to be told is on disk."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self.desk.close()

    async def _mind(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            seen = await asyncio.to_thread(stamp, self._config)
            if seen != self._stamp:
                self._stamp = seen
                self._use(await asyncio.to_thread(owned, self._config), first=False)

    def _use(self, found: Owned, *, first: bool) -> None:
        wrong = [each for each in found.mistakes if _is_outside(each.key)]
        for each in wrong:
            log.warning("not used", extra={"action": "configure", "reason": str(each)})
        if wrong and not first:
            log.warning("the channels stay as they were", extra={"action": "configure"})
            return
        self.owned = found
        self.desk.open(found.file.notify)

    def _needed(self, agent: str, keys: tuple[str, ...]) -> tuple[str, ...] | None:
        """Asked by a thread; a world is never changed in place."""
        supervisor = self._who(agent)
        if supervisor is None:
            return None
        return still_asked(supervisor.world, supervisor.runtime.now(), keys)

    def _say(self, told: Told, utc: float, text: str) -> None:
        """What the threads of the desk tell, in the loop."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens
            self._loop.call_soon_threadsafe(told, utc, text)


def _is_outside(key: str) -> bool:
    """Whether a mistake is about what reaches beyond the agents; a broken file is, too."""
    return not key or key.partition(".")[0] in OUTSIDE
