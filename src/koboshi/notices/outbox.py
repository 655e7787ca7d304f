"""Outbox: what is still to be told, to whom, and when. Values and times only; no clock, no disk.

Rule 1: it is bounded. When it is full the least severe, then the oldest, is dropped and counted.
Rule 2: a notice leaves it when every channel has it, or when it is too old to be news; one that
asks a person leaves it when that person has said so, or when nobody needs to be asked any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from koboshi.config.hours import Hours
from koboshi.core.events import Severity

from .notice import Letter, Notice, at_least, letter

#: Notices that wait at most.
MOST = 500
#: Seconds after which something is no news any more (three days).
STALE = 3 * 86400.0
#: Seconds that the first of several waits for the others.
GATHER = 1.0
#: Seconds before a channel is tried again; doubles, up to the second.
AGAIN, AGAIN_MAX = 5.0, 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What goes to a channel, and when."""

    least: Severity = Severity.P1
    quiet: Hours = field(default_factory=Hours)


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """How all channels are served."""

    routes: dict[str, Route] = field(default_factory=dict)
    wakes: Severity = Severity.P0
    group: float = 30.0
    repeat: float = 900.0
    gather: float = GATHER
    again: float = AGAIN


@dataclass(slots=True, kw_only=True)
class Item:
    """A notice on its way."""

    notice: Notice
    due: list[str]  #: channels that do not have it yet
    again_at: float = 0.0  #: when to ask again; 0: it is under way
    times: int = 0  #: how often everybody has been told


@dataclass(slots=True, kw_only=True)
class _Line:
    """One channel as it went so far."""

    sent_at: float = 0.0
    urgent_at: float = 0.0  #: when something that wakes was last sent
    failures: int = 0
    next_at: float = 0.0
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What goes to one channel now."""

    letter: Letter
    ids: tuple[str, ...]
    lost: int = 0


class Outbox:
    """What waits, for whom; its caller holds the lock and the clock."""

    def __init__(self, custom: Custom) -> None:
        self.custom = custom
        self.items: dict[str, Item] = {}
        self.lost = 0  #: dropped and not told of yet
        self._lines: dict[str, _Line] = {}

    # -- in ------------------------------------------------------------------------------------

    def put(self, notice: Notice) -> tuple[str, ...]:
        """Take it; the channels that it goes to."""
        routes = self.custom.routes
        known = self.items.get(notice.id)
        if known is not None:
            return tuple(known.due)  # asked again by a supervisor that does not know
        due = [n for n, r in routes.items() if notice.asks or at_least(notice.severity, r.least)]
        if not due:
            return ()
        self.items[notice.id] = Item(notice=notice, due=due)
        if len(self.items) > MOST:
            self._drop_one()
        return tuple(due)

    def _drop_one(self) -> None:
        items = self.items.values()
        least = max(items, key=lambda i: (not i.notice.asks, i.notice.severity, -i.notice.utc))
        del self.items[least.notice.id]
        self.lost += 1

    def settle(self, agent: str) -> int:
        """A person has seen to that agent: they are asked no more."""
        asked = [k for k, i in self.items.items() if i.notice.asks and i.notice.agent == agent]
        for key in asked:
            del self.items[key]
        return len(asked)

    def open(self) -> tuple[Notice, ...]:
        """What people are asked."""
        return tuple(item.notice for item in self.items.values() if item.notice.asks)

    def forget(self, ids: tuple[str, ...]) -> None:
        """Nobody needs to be asked that any more."""
        for each in ids:
            self.items.pop(each, None)

    # -- time ----------------------------------------------------------------------------------

    def expire(self, now: float) -> tuple[str, ...]:
        """Drop what is no news; begin to ask again where it is time. The ids that are due again."""
        again = []
        for key, item in list(self.items.items()):
            if not item.notice.asks and now - item.notice.utc > STALE:
                del self.items[key]
                self.lost += 1
            elif item.again_at and now >= item.again_at:
                again.append(key)
        return tuple(again)

    def ask_again(self, key: str) -> None:
        """Let everybody be told of that once more."""
        item = self.items[key]
        item.again_at, item.due = 0.0, list(self.custom.routes)

    # -- out -----------------------------------------------------------------------------------

    def ready(self, channel: str, now: float, minute: float) -> tuple[Batch | None, float]:
        """What goes to that channel now, if anything; and in how many seconds to ask again."""
        line, route = self._line(channel), self.custom.routes[channel]
        waiting = [i for i in self.items.values() if channel in i.due]
        hushed = route.quiet.left(minute) * 60.0
        if hushed:
            waiting = [i for i in waiting if at_least(i.notice.severity, self.custom.wakes)]
        if not waiting:
            return None, hushed or self._until_again(now)
        urgent = any(at_least(i.notice.severity, Severity.P0) for i in waiting)
        since = line.urgent_at if urgent else line.sent_at
        first = min(item.notice.utc for item in waiting)
        gather = min(first + self.custom.gather, now + self.custom.gather)
        at = max(gather, min(since, now) + self.custom.group if since else 0.0, line.next_at)
        # A clock that was set back must not make anybody wait for a day.
        wait = min(at - now, max(AGAIN_MAX, self.custom.group))
        return (self._batch(waiting), 0.0) if wait <= 0 else (None, wait)

    def _batch(self, items: list[Item]) -> Batch:
        ids = tuple(item.notice.id for item in items)
        again = frozenset(item.notice.id for item in items if item.times)
        notices = tuple(item.notice for item in items)
        return Batch(letter=letter(notices, lost=self.lost, again=again), ids=ids, lost=self.lost)

    def _until_again(self, now: float) -> float:
        times = [item.again_at - now for item in self.items.values() if item.again_at]
        return max(0.1, min(times, default=3600.0))

    def sent(self, channel: str, batch: Batch, now: float) -> None:
        """That channel has it."""
        line = self._line(channel)
        line.sent_at, line.failures, line.next_at, line.trouble = now, 0, 0.0, ""
        if at_least(batch.letter.severity, Severity.P0):
            line.urgent_at = now
        self.lost = max(0, self.lost - batch.lost)
        for each in batch.ids:
            item = self.items.get(each)
            if item is None or channel not in item.due:
                continue
            item.due.remove(channel)
            if not item.due:
                self._told(item, now)

    def _told(self, item: Item, now: float) -> None:
        item.times += 1
        if item.notice.asks and self.custom.repeat:
            item.again_at = now + self.custom.repeat
        else:
            del self.items[item.notice.id]

    def failed(self, channel: str, now: float, why: str) -> float:
        """It did not go out; how long that channel is left alone now."""
        line = self._line(channel)
        pause = min(AGAIN_MAX, self.custom.again * 2.0 ** min(line.failures, 20))
        line.failures, line.next_at, line.trouble = line.failures + 1, now + pause, why
        return pause

    def troubles(self) -> dict[str, str]:
        """Channels that do not work at the moment, and why."""
        return {name: line.trouble for name, line in self._lines.items() if line.trouble}

    def _line(self, channel: str) -> _Line:
        return self._lines.setdefault(channel, _Line())

    # -- disk ----------------------------------------------------------------------------------

    def image(self) -> bytes:
        """All that has to outlive us."""
        return msgspec.json.encode({"lost": self.lost, "items": list(self.items.values())})

    def restore(self, content: bytes) -> None:
        """Go on where another one ended; what cannot be read is nothing. Channels may have gone."""
        try:
            raw: dict[str, Any] = msgspec.json.decode(content)
            items = msgspec.convert(raw["items"], list[Item])
            self.lost = int(raw["lost"])
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError):
            return
        self.items = {item.notice.id: item for item in items[-MOST:]}
        self.adapt(self.custom)

    def adapt(self, custom: Custom) -> None:
        """Other channels from now on; who was to be asked by one that is gone is asked by all."""
        self.custom = custom
        for key, item in list(self.items.items()):
            item.due = [name for name in item.due if name in custom.routes]
            if not item.due and not item.again_at:
                item.due = list(custom.routes) if item.notice.asks else []
            if not item.due and not item.again_at:
                del self.items[key]
