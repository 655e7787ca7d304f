"""Desk: takes notices, keeps them on disk, and has them brought out; nobody waits for a network.

One thread for each channel: a dead or a slow one delays itself alone. One lock around the outbox,
held for as long as a dict takes. Threads are daemons: leaving never waits for a server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koboshi.config.outside import Notify
from koboshi.store.shelves import make_private, write_whole

from .channels import Channel, channel
from .outbox import Custom, Outbox, Route

if TYPE_CHECKING:
    from .notice import Notice
    from .outbox import Batch

log = logging.getLogger(__name__)

#: The outbox in the state folder.
FILE = "notices.json"
#: Seconds between two looks at whether there is something to do, for whoever missed a call.
LOOK = 60.0
#: Seconds that leaving may take.
LEAVES = 2.0

#: Which of these keys are still asked for by that agent's rules; None: nobody knows.
Needed = Callable[[str, tuple[str, ...]], tuple[str, ...] | None]
#: What is written about every delivery.
Told = Callable[[float, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The time, for people: seconds since the epoch, and minutes since midnight here."""

    now: Callable[[], float] = time.time
    wait: Callable[[threading.Condition, float], object] = lambda bell, left: bell.wait(left)

    def minute(self) -> float:
        """Minutes since midnight by this machine's clock."""
        local = time.localtime(self.now())
        return local.tm_hour * 60 + local.tm_min + local.tm_sec / 60


def custom_of(notify: Notify) -> Custom:
    """How the owner wants to be told."""
    routes = {
        name: Route(least=each.severity, quiet=notify.quiet if each.quiet is None else each.quiet)
        for name, each in notify.channels.items()
        if each.url
    }
    return Custom(routes=routes, wakes=notify.wakes, group=notify.group, repeat=notify.repeat)


class Desk:
    """All channels of one user."""

    def __init__(
        self,
        folder: Path,
        *,
        make: Callable[[str], Channel] = channel,
        told: Told = lambda *_: None,
        clock: Clock | None = None,
    ) -> None:
        self._path = folder / FILE
        self._make, self._told, self._clock = make, told, clock or Clock()
        self._outbox = Outbox(Custom())
        self._channels: dict[str, tuple[str, Channel]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._bell = threading.Condition()
        self._writing = threading.Lock()
        self._opened = self._closed = False
        self._unsaved = False
        self.needed: Needed = lambda *_: None

    # -- from the loop -------------------------------------------------------------------------

    def open(self, notify: Notify, custom: Custom | None = None) -> None:
        """Serve these channels, and bring out what another one left."""
        with self._bell:
            first, self._opened = not self._opened, True
            self._outbox.adapt(custom or custom_of(notify))
            if first:
                with contextlib.suppress(OSError):
                    self._outbox.restore(self._path.read_bytes())
            kept = {n: c for n, c in self._channels.items() if n in self._outbox.custom.routes}
            self._channels = kept
            for name in self._outbox.custom.routes:
                self._serve(name, notify.channels[name].url)
            self._bell.notify_all()

    def _serve(self, name: str, url: str) -> None:
        known = self._channels.get(name)
        if known is None or known[0] != url:
            self._channels[name] = (url, self._make(url))
        if name not in self._threads:
            self._threads[name] = threading.Thread(
                target=self._bring_out, args=(name,), name=f"notices-{name}", daemon=True
            )
            self._threads[name].start()

    async def take(self, notice: Notice) -> str:
        """Keep it on disk, to be brought out; in words what becomes of it."""
        with self._bell:
            names = self._outbox.put(notice)
        if not names:
            return ""
        self._unsaved = True
        await asyncio.to_thread(self._save)
        with self._bell:
            self._bell.notify_all()
        return f"on its way: {', '.join(names)}"

    def settle(self, agent: str) -> None:
        """A person has seen to that agent."""
        with self._bell:
            if self._outbox.settle(agent):
                self._unsaved = True
                self._bell.notify_all()

    def waiting(self) -> dict[str, Any]:
        """What is on its way, and which channels do not work."""
        with self._bell:
            items = self._outbox.items.values()
            asked = [item.notice.text for item in items if item.notice.asks]
            return {
                "channels": list(self._outbox.custom.routes),
                "waiting": sum(1 for item in items if item.due),
                "asked": asked,
                "lost": self._outbox.lost,
                "troubles": self._outbox.troubles(),
            }

    async def close(self) -> None:
        """Leave; what could not be brought out is on disk."""
        with self._bell:
            self._closed = True
            self._bell.notify_all()
            threads = list(self._threads.values())
        deadline = time.monotonic() + LEAVES
        for thread in threads:
            left = max(0.0, deadline - time.monotonic())
            await asyncio.to_thread(thread.join, left)
        self._unsaved = True
        await asyncio.to_thread(self._save)

    # -- in the threads ------------------------------------------------------------------------

    def _bring_out(self, name: str) -> None:
        while (found := self._next(name)) is not None:
            batch, sender = found
            try:
                why = sender.send(batch.letter)
            except Exception as error:  # noqa: BLE001 - a channel that breaks is one that failed
                why = f"{type(error).__name__} in the channel"
            self._note(name, batch, why)
            self._save()

    def _next(self, name: str) -> tuple[Batch, Channel] | None:
        """The next batch for that channel, when it is time; None: nobody serves it any more."""
        with self._bell:
            while not self._closed and name in self._channels:
                now = self._clock.now()
                self._ask_again(now)
                batch, wait = self._outbox.ready(name, now, self._clock.minute())
                if batch is not None:
                    return batch, self._channels[name][1]
                self._clock.wait(self._bell, min(wait, LOOK))
            # Under the lock: who adds the channel again must not take us for alive.
            self._threads.pop(name, None)
            return None

    def _ask_again(self, now: float) -> None:
        """Ask people again, unless their agent does not need them any more."""
        for each in self._outbox.expire(now):
            notice = self._outbox.items[each].notice
            needed = self.needed(notice.agent, (notice.key,))
            if needed is not None and notice.key not in needed:
                self._outbox.forget((each,))
                self._told(now, f"asked no more, it is over: {notice.text}")
            else:
                self._outbox.ask_again(each)
            self._unsaved = True

    def _note(self, name: str, batch: Batch, why: str) -> None:
        with self._bell:
            now = self._clock.now()
            title = f"{name}: {batch.letter.title}"
            if not why:
                self._outbox.sent(name, batch, now)
                self._told(now, f"{title} – sent")
            else:
                broken = bool(self._outbox.troubles().get(name))
                pause = self._outbox.failed(name, now, why)
                self._told(now, f"{title} – not sent, again in {pause:g} s: {why}")
                if not broken:
                    log.warning("not sent", extra={"action": "notify", "reason": f"{name}: {why}"})
            self._unsaved = True

    def _save(self) -> None:
        """Write the outbox if it changed; a full disk must not keep anybody from being told."""
        with self._writing:  # first: an older image must not go over a newer one
            with self._bell:
                if not self._unsaved:
                    return
                self._unsaved = False
                image = self._outbox.image()
            try:
                make_private(self._path.parent)
                write_whole(self._path, image)
            except OSError as error:
                log.warning("notices not kept", extra={"action": "notify", "reason": str(error)})
