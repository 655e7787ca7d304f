"""When to look again at a terminal: when its bell rings, or, where it has none, by the clock."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from koboshi.hosts.bells import Belfry, Bell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

#: (what has been still for so many seconds, is looked at every so many seconds)
PACES = ((10.0, 0.2), (60.0, 0.5), (300.0, 1.0), (float("inf"), 2.0))
#: Seconds until a bell that is not attached is tried again; doubles while it does not help.
RETRY, RETRY_MOST = 1.0, 30.0
#: Seconds after which what rang is looked at once more, where a ring may be earlier than what it
#: is for. More than a second: who prints a line a second is looked at by then in any case.
ONCE_MORE = 1.5


class Pace:
    """When to look again at what cannot ring: often while something moves, else less and less."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown: object = None
        self._moved_at = self._looked_at = float("-inf")

    def saw(self, shown: object) -> None:
        """A look showed that; only whether it is the same as before matters."""
        self._looked_at = self._clock()
        if shown != self._shown:
            self._shown, self._moved_at = shown, self._looked_at

    def due(self) -> float:
        """Seconds until the next look; a terminal that was never looked at is due."""
        now = self._clock()
        still = now - self._moved_at
        every = next(every for most, every in PACES if still < most or most == float("inf"))
        return max(0.0, self._looked_at + every - now)

    async def stirred(self, patience: float) -> bool:
        """Wait until a look is due; False when that is not within the patience."""
        due = self.due()
        await asyncio.sleep(min(due, max(0.0, patience)))
        return due <= patience


class Ear:
    """One terminal: its bell while it has one, and the pace for when it has none."""

    def __init__(
        self, folder: Path, belfry: Belfry, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.pace = Pace(clock)
        self._clock = clock
        self._bell: Bell | None = None
        with contextlib.suppress(OSError):  # a folder that is gone, a file system without FIFOs
            self._bell = Bell(folder, belfry)
        self._try_at = clock()
        self._pause = RETRY
        self._news = True  # what there was before nobody has been told
        self._again_at = float("inf")

    @property
    def fifo(self) -> Path | None:
        """Where to ring; None where that cannot be."""
        return self._bell.path if self._bell else None

    async def stirred(self, patience: float, attach: Callable[[], Awaitable[None]]) -> bool:
        """Wait for the bell; `attach` hangs it up, and raises when the terminal is gone."""
        bell = self._bell
        if bell is not None and bell.rang():
            return self._heard(bell)
        if bell is None or not bell.attached:
            return await self._without(patience, attach)
        if self._news:  # the rope of an earlier supervisor is still there
            self._news = False
            return True
        self._pause = RETRY
        await bell.wait(max(0.0, min(patience, self._again_at - self._clock())))
        if bell.closed or bell.rang() or not bell.attached:
            return self._heard(bell)
        if self._clock() < self._again_at:
            return False
        self._again_at = float("inf")
        return True

    async def _without(self, patience: float, attach: Callable[[], Awaitable[None]]) -> bool:
        """By the clock, until the bell hangs again."""
        if self._clock() < self._try_at:
            return await self.pace.stirred(patience)
        await self._again(attach)
        self._news = False
        return True  # what was printed before did not ring

    def _heard(self, bell: Bell) -> bool:
        self._news = False
        self._again_at = self._clock() + ONCE_MORE if bell.told else float("inf")
        return True

    def listen(self, device: str) -> bool:
        """Let the kernel ring for what is written to that device; False where it does not."""
        return self._bell is not None and self._bell.listen(device)

    def typed(self) -> None:
        """Something was typed: what the kernel echoes of it is not written, and does not ring."""
        self._news = True

    async def _again(self, attach: Callable[[], Awaitable[None]]) -> None:
        # Never at once: under a flood that we cannot follow each one would end in an instant.
        self._try_at = self._clock() + self._pause
        self._pause = min(self._pause * 2, RETRY_MOST)
        await attach()

    def close(self) -> None:
        """Listen no more."""
        bell, self._bell = self._bell, None
        if bell is not None:
            bell.close()
