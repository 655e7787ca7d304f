"""Reach: the desk of one process, as the owner's file has it now.

The file is looked at every few seconds. A bad edit keeps what was good, and says so once.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import os
import time
from collections.abc import Callable, Sized
from typing import TYPE_CHECKING

from koboshi.config.model import OUTSIDE, File
from koboshi.config.owned import Owned, owned, stamp
from koboshi.core.actions import Command
from koboshi.core.events import ActionFinished, Ending, Outcome, Severity
from koboshi.incidents.waiting import FOLDER as UPLOADS
from koboshi.metrics.books import PROMETHEUS, Books, pages, write
from koboshi.metrics.prometheus import exposition
from koboshi.metrics.telemetry import export
from koboshi.notices.desk import Desk
from koboshi.notices.notice import Notice
from koboshi.store.redaction import redact, secret_values

from .noticing import seen_to, still_asked
from .scribe.dailies import Dailies
from .uploading import Courier

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event
    from koboshi.incidents.waiting import Parcel

    from .scribe.pen import Pen
    from .supervisor import Listen, Supervisor

log = logging.getLogger(__name__)

#: Seconds between two looks at the owner's file.
LOOK = 5.0
#: Seconds between two writings of the figures.
PUBLISH = 15.0


class Reach:
    """How people are reached; made inside a running loop."""

    def __init__(
        self,
        folder: Path,
        config: Path,
        *,
        who: Callable[[str], Supervisor | None],
        pen: Pen | None = None,
        logs: Path | None = None,
    ) -> None:
        self._config, self._who, self._pen = config, who, pen
        self._loop = asyncio.get_running_loop()
        secrets = secret_values(os.environ)
        self._dailies = Dailies(pen, logs, secrets) if pen is not None and logs else None
        self.books = Books(folder / "metrics")
        self.desk = Desk(folder, told=self._say)
        self.desk.needed = self._needed
        self.courier = Courier(
            folder / UPLOADS,
            lambda: self.owned.file.incidents.upload,
            self._brought,
            mask=lambda text: redact(text, secrets=secrets),
        )
        self._stamp = (-1, -1)
        self._exported, self._untold = 0.0, ""
        self._tasks: list[asyncio.Task[None]] = []
        self.owned = Owned(file=File())

    def open(self) -> None:
        """Read the owner's file and go on reading it."""
        self._stamp = stamp(self._config)
        self._use(owned(self._config), first=True)
        self.books.open(time.time())
        works = (self._mind(), self._publish(), self.courier.go_on())
        self._tasks = [self._loop.create_task(work) for work in works]

    async def close(self) -> None:
        """Leave; what is still to be told is on disk."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._write_books()
        await self.desk.close()

    async def alarm(self, agent: str, why: str) -> None:
        """Tell people that nobody looks after that agent: its journal may not be able to."""
        now = time.time()
        text = f"{agent} is not looked after: {redact(why, secrets=secret_values(os.environ))}"
        key = f"ward{int(now)}"
        told = Notice(key=key, agent=agent, text=text, severity=Severity.P1, utc=now)
        await self.desk.take(told)

    def before(self, other: Listen | None) -> Listen:
        """Who hears everything first, and then tells the other one."""

        def hear(event: Event, decisions: tuple[Decision, ...], world: World) -> None:
            try:
                self._heard(event, decisions, world)
            except Exception:  # to be counted and told of wrongly is no reason to be left alone
                log.exception("not counted", extra={"action": "metrics"})
            if other is not None:
                other(event, decisions, world)

        return hear

    def _heard(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        seen_to(self.desk, event, world)
        self.books.take(event, decisions, world)
        if self._dailies is not None:
            self._dailies.heard(event, decisions, world)

    def exposition(self) -> str:
        """All figures, as Prometheus wants them."""
        return exposition(self.books.figures(), time.time(), self._notices())

    async def _publish(self) -> None:
        while True:
            await asyncio.sleep(PUBLISH)
            self._write_books()
            await self._export()

    async def _export(self) -> None:
        """To a collector, where there is one; its trouble is told once."""
        wanted, now = self.owned.file.metrics, time.monotonic()
        if not wanted.otlp or now - self._exported < wanted.every:
            return
        self._exported = now
        figures = copy.deepcopy(self.books.figures())
        why = await asyncio.to_thread(export, figures, time.time(), wanted.otlp)
        if why and not self._untold:
            log.warning("figures not exported", extra={"action": "metrics", "reason": why})
        self._untold = why

    def _write_books(self) -> None:
        if self._pen is None or not (copies := self.books.copies()):
            return
        utc, folder, notices = time.time(), self.books.folder, self._notices()
        self._pen.do(folder / PROMETHEUS, lambda: write(folder, pages(copies, utc, notices), utc))

    def _notices(self) -> dict[str, int]:
        found = self.desk.waiting()
        return {key: len(v) if isinstance(v, Sized) else int(v) for key, v in found.items()}

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
        try:
            return still_asked(supervisor.world, supervisor.runtime.now(), keys)
        except Exception:
            log.exception("it is not known whether anybody is needed", extra={"agent": agent})
            return None  # ask once too often

    def _brought(self, parcel: Parcel, why: str) -> None:
        """An upload that came out later is an event of its own."""
        done = Command(about=parcel.key, name="[incidents.upload]", text=f"upload {parcel.path}")
        outcome = Outcome(ending=Ending.FAILED if why else Ending.DONE, why=why or "uploaded")
        supervisor = self._who(parcel.agent)
        if supervisor is not None:
            supervisor.take(ActionFinished(key=done.key, action=done, outcome=outcome))
        told = {"action": "upload", "agent": parcel.agent, "reason": outcome.why}
        log.log(logging.WARNING if why else logging.INFO, "upload came out", extra=told)

    def _say(self, utc: float, text: str) -> None:
        """What the threads of the desk tell, in the loop."""
        if self._dailies is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens
                self._loop.call_soon_threadsafe(self._dailies.told, utc, text)


def _is_outside(key: str) -> bool:
    """Whether a mistake is about what reaches beyond the agents; a broken file is, too."""
    return not key or key.partition(".")[0] in OUTSIDE
