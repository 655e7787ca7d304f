"""Uploading: bundles brought to storage; one that does not answer holds up nobody.

The first try is made at once, the next ones by the courier's own task: again after 5 s, 10 s … 15
minutes, for three days, also by a daemon that was started meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from koboshi.incidents.uploads import upload
from koboshi.incidents.waiting import Parcel, Waiting

log = logging.getLogger(__name__)

#: Seconds between two looks at what is due.
LOOK = 2.0

Send = Callable[[Path, str], Awaitable[str]]
#: Told of every upload that came out later: the parcel, and why it was given up, or nothing.
Told = Callable[[Parcel, str], None]


class Courier:
    """Brings the bundles of one process out."""

    def __init__(
        self,
        folder: Path,
        address: Callable[[], str],
        told: Told,
        *,
        mask: Callable[[str], str] = lambda text: text,
        send: Send = upload,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._waiting = Waiting(folder)
        self._address, self._told, self._mask = address, told, mask
        self._send, self._now = send, now
        self._busy: set[str] = set()

    async def bring(self, path: Path, agent: str, key: str) -> str:
        """Try it now; in words what came of it. What did not work is tried again."""
        now = self._now()
        parcel = Parcel(path=str(path), agent=agent, key=key, since=now, due=now)
        try:
            given_up = self._waiting.put(parcel)
        except OSError as error:
            given_up = ()
            log.warning("upload not kept", extra={"action": "upload", "reason": str(error)})
        for each in given_up:
            self._told(each, "too many are waiting")
        why = await self._try(parcel)
        return f"not uploaded yet, and tried again: {why}" if why else "uploaded"

    async def go_on(self) -> None:
        """Bring out what waits, for ever."""
        while True:
            await self.round()
            await asyncio.sleep(LOOK)

    async def round(self) -> None:
        """Everything that is due, one after the other."""
        for parcel in self._waiting.parcels():
            if parcel.due > self._now() or parcel.name in self._busy:
                continue
            if why := self._void(parcel):
                self._waiting.drop(parcel)
                self._told(parcel, why)
            elif not await self._try(parcel):
                self._told(parcel, "")

    def _void(self, parcel: Parcel) -> str:
        if not self._address():
            return "no storage is named any more"
        return "" if Path(parcel.path).exists() else "the bundle is not there any more"

    async def _try(self, parcel: Parcel) -> str:
        self._busy.add(parcel.name)
        try:
            why = self._mask(await self._send(Path(parcel.path), self._address()))
        finally:
            self._busy.discard(parcel.name)
        if not why:
            self._waiting.drop(parcel)
        elif self._waiting.failed(parcel, why, self._now()) is None:
            self._told(parcel, f"given up after {parcel.tries + 1} tries: {why}")
        elif not parcel.tries:
            reason = f"{Path(parcel.path).name}: {why}"
            log.warning("not uploaded", extra={"action": "upload", "reason": reason})
        return why
