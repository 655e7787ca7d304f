"""Every morning: the report of the night goes to the channels, a line for each agent."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING

from koboshi.core.events import Severity
from koboshi.notices.notice import Notice
from koboshi.reports.gathering import gather
from koboshi.reports.summary import summary
from koboshi.store.redaction import redact, secret_values
from koboshi.store.shelves import write_whole

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)

#: Seconds between two looks at the clock, and of the night that is told of.
LOOK, NIGHT = 20.0, 12 * 3600.0
#: Minutes after its time in which a report is still told: the machine may have slept.
LATE = 120
#: Which day was told last.
FILE = "report.told"

Take = Callable[[Notice], Awaitable[str]]


def due(wanted: int | None, told: str, now: datetime) -> str:
    """The day to tell of, if it is time and was not told yet; empty otherwise."""
    if wanted is None:
        return ""
    late = now.hour * 60 + now.minute - wanted
    today = f"{now:%Y-%m-%d}"
    return today if 0 <= late < LATE and told != today else ""


async def mornings(state: Path, wanted: Callable[[], int | None], take: Take) -> None:
    """Look at the clock for ever; trouble with one report is no reason to leave out the next."""
    while True:
        await asyncio.sleep(LOOK)
        day = due(wanted(), _told(state), datetime.now().astimezone())
        if not day:
            continue
        try:
            await asyncio.to_thread(write_whole, state / FILE, f"{day}\n".encode())
            await tell(state, day, take)
        except Exception:
            log.exception("the report was not told", extra={"action": "report"})


async def tell(state: Path, day: str, take: Take) -> None:
    """One notice for each agent; nothing where nobody did anything."""
    now = time.time()
    found = await asyncio.to_thread(gather, state, (), since=now - NIGHT, until=now)
    secrets = secret_values(os.environ)
    for account, line in zip(found.agents, summary(found), strict=True):
        text = redact(line, secrets=secrets)
        key = f"report-{day}"
        told = Notice(key=key, agent=account.agent, text=text, severity=Severity.P1, utc=now)
        await take(told)


def _told(state: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return (state / FILE).read_text(encoding="ascii").strip()
    return ""
