"""What one agent asks people through its tool, while the tool call waits.

The call is the memory: it asks again after a daemon's end, under the same ticket. So nothing of it
is kept on disk, and a question whose call is gone goes with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Any

from koboshi.errors import KoboshiError

#: Seconds that a question stays when nobody waits with it: the call asks again before that.
GRACE = 20.0
#: Questions of one agent at a time.
MOST = 8


@dataclass(slots=True, eq=False)
class Ask:
    """A question of an agent."""

    id: str
    run: int
    question: str
    options: tuple[str, ...]
    since: float
    answer: str = ""
    waiting: int = 0
    left_at: float = 0.0  #: when the last call that waited went away
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    def is_open(self, run: int, now: float) -> bool:
        """Whether somebody still wants to know."""
        stale = not self.waiting and now - self.left_at > GRACE
        return self.run == run and not stale


class Asks:
    """The open questions of one agent, by ticket; and what it said of its progress."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._asks: dict[str, Ask] = {}
        self._count = 0
        self.progress: dict[str, Any] | None = None

    def open(self, run: int) -> list[dict[str, Any]]:
        """What waits for a person, oldest first."""
        self._forget(run)
        return [
            {"id": a.id, "question": a.question, "options": list(a.options), "since": a.since}
            for a in self._asks.values()
            if not a.answer
        ]

    def questions(self, run: int) -> list[dict[str, Any]]:
        """The same as lines of `questions`."""
        return [
            {
                **asked,
                "agent": self._agent,
                "kind": "question",
                "subject": "",
                "options": [{"text": text, "meaning": "other"} for text in asked["options"]],
                "through": "tool",
                "policy": None,
                "left_to_person": "",
                "ordered": "",
                "shown": [],
            }
            for asked in self.open(run)
        ]

    def take(self, ticket: str, run: int, question: str, options: tuple[str, ...]) -> Ask | None:
        """Note a new question; None: it is known already."""
        self._forget(run)
        if ticket in self._asks:
            return None
        if len(self._asks) >= MOST:
            raise KoboshiError(f"{MOST} questions are open already", hint="wait for an answer")
        self._count += 1
        name = f"{self._agent}:ask{self._count}"
        now = time.time()
        ask = Ask(name, run, question, options, since=now, left_at=time.monotonic())
        self._asks[ticket] = ask
        return ask

    async def wait(self, ticket: str, seconds: float) -> str:
        """The answer, once there is one; empty when there is none in that time."""
        ask = self._asks[ticket]
        ask.waiting += 1
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await ask.answered.wait()
        finally:
            ask.waiting -= 1
            ask.left_at = time.monotonic()
        if ask.answer:
            self._asks.pop(ticket, None)
        return ask.answer

    def options(self, name: str) -> tuple[str, ...]:
        """What the question of that id offers."""
        return next((ask.options for ask in self._asks.values() if ask.id == name), ())

    def reply(self, name: str, run: int, text: str) -> Ask | None:
        """Answer the question of that id; None: it is not open."""
        self._forget(run)
        found = [a for a in self._asks.values() if not a.answer and name == a.id]
        for ask in found:
            ask.answer = text
            ask.answered.set()
            return ask
        return None

    def _forget(self, run: int) -> None:
        now = time.monotonic()
        self._asks = {t: a for t, a in self._asks.items() if a.is_open(run, now)}
