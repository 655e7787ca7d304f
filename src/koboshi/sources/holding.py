"""Hooks that wait for our word: who holds the line, how the word is given, and for how long.

Rule 1: a line is held only while somebody may still say something into it, and never for ever.
Rule 2: a word counts as given when the other end says that it took it. A line that broke before
that has carried nothing, as far as anybody can know: the dialog is looked at again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from koboshi.observations import HookFired

#: Seconds that a line is held. A person who is asked meanwhile may use it; later there are keys.
HOLD = 60.0
#: Seconds between two signs of life to who waits: a frozen listener is given up by the shim.
BEAT = 1.0
#: Seconds for the other end to say that it took the word.
TAKES = 2.0


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True, eq=False)
class Held:
    """One hook that waits. `payload` is its JSON as it came."""

    ticket: str
    payload: dict[str, Any]
    _word: asyncio.Future[bytes] = field(default_factory=_future)
    _taken: asyncio.Future[bool] = field(default_factory=_future)

    @property
    def answered(self) -> bool:
        """Whether the other end took a word."""
        return self._taken.done() and self._taken.result()

    async def say(self, words: dict[str, Any]) -> bool:
        """Give it that answer; whether it was taken."""
        if self._word.done():
            return False
        self._word.set_result(msgspec.json.encode(words))
        try:
            async with asyncio.timeout(TAKES):
                return await asyncio.shield(self._taken)
        except TimeoutError:
            return False

    def let_go(self) -> None:
        """Nothing will be said: the agent goes on with its dialog."""
        if not self._word.done():
            self._word.set_result(b"")

    async def word(self, seconds: float) -> bytes | None:
        """What is said within that time; empty: nothing will be; None: nothing yet."""
        done, _ = await asyncio.wait((self._word,), timeout=seconds)
        return self._word.result() if done else None

    def took(self, *, taken: bool) -> None:
        """The other end took the word, or is gone."""
        if not self._taken.done():
            self._taken.set_result(taken)


class Holding:
    """All hooks of one agent that wait."""

    def __init__(
        self,
        *,
        wanted: Callable[[], bool],
        take: Callable[[HookFired], None],
        waits: Callable[[str], bool],
        over: Callable[[str, str], None],
    ) -> None:
        self._wanted = wanted  #: whether anybody would answer now
        self._take = take
        self._waits = waits  #: whether that ticket is an open question
        self._over = over
        self._held: dict[str, Held] = {}

    def get(self, ticket: str) -> Held | None:
        """The hook that waits under that name."""
        return self._held.get(ticket)

    def begin(self, fired: HookFired) -> Held | None:
        """Tell of that hook, and hold its line if there is something to wait for."""
        if not self._wanted():
            self._take(fired)
            return None
        held = Held(ticket=secrets.token_hex(8), payload=fired.payload)
        self._held[held.ticket] = held
        self._take(replace(fired, ticket=held.ticket))
        if not self._waits(held.ticket):
            del self._held[held.ticket]
            return None
        return held

    async def word(self, held: Held, beat: Callable[[], Any]) -> bytes:
        """What is to be said into that line; empty: nothing. `beat` says that we live."""
        loop = asyncio.get_running_loop()
        until = loop.time() + HOLD
        while loop.time() < until and self._waits(held.ticket):
            word = await held.word(BEAT)
            if word is not None:
                return word
            await beat()
        return await held.word(0) or b""

    def end(self, held: Held, why: str) -> None:
        """That line is over."""
        del self._held[held.ticket]
        held.took(taken=False)
        if not held.answered and self._waits(held.ticket):
            self._over(held.ticket, why)
