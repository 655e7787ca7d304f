"""Pulses: who changed, by number. Whoever shows agents to many asks "what since number 41?".

A number costs an agent's step next to nothing, keeps no queue for a reader that is slow, and a
reader that was away misses nothing but the states in between.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets


class Pulse:
    """Counts changes, and wakes whoever waits for the next one."""

    def __init__(self) -> None:
        #: Numbers of another daemon mean nothing here.
        self.epoch = secrets.token_hex(8)
        self.count = 0
        self._last: dict[str, int] = {}
        self._waiting: set[asyncio.Event] = set()

    def beat(self, name: str) -> None:
        """Something about that one changed."""
        self.count += 1
        self._last[name] = self.count
        self._wake()

    def stir(self) -> None:
        """Wake whoever waits: none of those it counts changed, but something told beside them."""
        self.count += 1
        self._wake()

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()

    def of(self, name: str) -> int:
        """The number of its last change; 0: none yet."""
        return self._last.get(name, 0)

    def since(self, count: int) -> list[str]:
        """Who changed after that number."""
        return [name for name, at in self._last.items() if at > count]

    async def after(self, count: int, seconds: float, name: str | None = None) -> None:
        """Wait for a change after that number: of that one, or of anybody."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while (self.count if name is None else self.of(name)) <= count:
                        event.clear()
                        await event.wait()
        finally:
            self._waiting.discard(event)
