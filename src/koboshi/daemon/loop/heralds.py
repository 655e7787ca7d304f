"""Heralds: how the news of a plan come to people, through the same outbox as agents' notices.

Rule 1: the daemon's desk, where a daemon runs: one outbox has one owner. Without a daemon a desk of
the plan's own, in its folder; what it cannot bring out is there for the next keeper.
Rule 2: nobody is told twice, and no plan waits or fails because nobody can be told.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from pathlib import Path
from typing import Protocol

from koboshi.config.owned import owned
from koboshi.core.events import Severity
from koboshi.daemon.control.client import call_running
from koboshi.errors import KoboshiError
from koboshi.notices.desk import Desk, custom_of
from koboshi.notices.notice import Notice
from koboshi.notices.outbox import Custom
from koboshi.plans import Plan, PlanStatus
from koboshi.plans.news import News, news
from koboshi.store.manifests import config_dir
from koboshi.store.progress import Progress, Start
from koboshi.store.redaction import redact, secret_values

log = logging.getLogger(__name__)

#: Seconds for the daemon to take a notice, and for our own desk to bring out what it has.
ANSWERS, LEAVES = 5.0, 5.0
#: Seconds between two looks at whether it has.
EVERY = 0.05


class Herald(Protocol):
    """Brings news of one plan to people."""

    async def bring(self, found: News) -> str:
        """Have it told; in words what becomes of it."""
        ...

    async def settle(self) -> None:
        """A person has seen to the plan: they are asked no more."""
        ...

    async def close(self) -> None:
        """Leave."""
        ...


class Messenger:
    """The herald of a process of its own: by the daemon, or by a desk beside the plan."""

    def __init__(self, state: Path, progress: Progress, name: str) -> None:
        self._state, self._folder = state, progress.folder
        self._who = f"plan {name}"
        self._secrets = secret_values({**os.environ, **(progress.environment() or {})})
        self._desk: Desk | None = None

    async def bring(self, found: News) -> str:
        """By the daemon, if there is one."""
        severity = Severity.P1 if found.asks or found.key.startswith("DONE") else Severity.P2
        text = redact(found.text, secrets=self._secrets)
        told = await asyncio.to_thread(
            self._ask, text=text, severity=severity.name, asks=found.asks, key=found.key
        )
        if told is not None:
            return told
        if self._desk is None:
            self._desk = await asyncio.to_thread(_desk, self._folder)
        return await self._desk.take(
            Notice(
                key=found.key,
                agent=self._who,
                text=text,
                severity=severity,
                utc=time.time(),
                asks=found.asks,
            )
        )

    async def settle(self) -> None:
        """Both may have asked."""
        await asyncio.to_thread(self._ask, text="", over=True)
        with contextlib.suppress(OSError):
            (self._folder / "notices.json").unlink(missing_ok=True)

    async def close(self) -> None:
        """What a desk of ours has is brought out first, as far as that takes seconds."""
        if self._desk is None:
            return
        deadline = time.monotonic() + LEAVES
        while self._desk.waiting()["waiting"] and time.monotonic() < deadline:  # noqa: ASYNC110 - threads bring it out
            await asyncio.sleep(EVERY)
        await self._desk.close()

    def _ask(self, **args: object) -> str | None:
        """What the daemon says; None where there is none."""
        given = {"agent": self._who, **args}
        with contextlib.suppress(KoboshiError, OSError, ValueError):
            told = call_running(self._state, "notice", patience=ANSWERS, **given)
            return None if told is None else str(told["said"])
        return None


def _desk(folder: Path) -> Desk:
    """A desk that waits for no others: this process may be gone in a moment."""
    notify = owned(config_dir()).file.notify
    custom = custom_of(notify)
    desk = Desk(folder)
    desk.open(notify, Custom(routes=custom.routes, wakes=custom.wakes, group=0.0, gather=0.0))
    return desk


class Chronicle:
    """What was told of a plan, and what is to be told next."""

    def __init__(self, progress: Progress, start: Start, herald: Herald) -> None:
        self._progress, self._wanted, self.herald = progress, start.notify, herald

    async def begin(self, plan: Plan) -> None:
        """A keeper begins: what was there before it is no news, what people were asked is over."""
        told = self._progress.told()
        if told is None:
            self._progress.keep_told([each.key for each in news(plan, self._wanted)])
        elif plan.status is PlanStatus.RUNNING:
            ends = [key for key in told if not key.startswith("step.")]
            if ends:
                await self.herald.settle()
                self._progress.keep_told([key for key in told if key not in ends])

    async def tell(self, plan: Plan, *, stopped: bool) -> list[News]:
        """Tell what was not told; what was told now."""
        told = self._progress.told() or []
        fresh = [n for n in news(plan, self._wanted, stopped=stopped) if n.key not in told]
        for each in fresh:
            try:
                await self.herald.bring(each)
            except Exception:  # rule 2
                log.exception("not told", extra={"action": "notify", "reason": each.key})
        if fresh:
            self._progress.keep_told([*told, *(each.key for each in fresh)])
        return fresh
