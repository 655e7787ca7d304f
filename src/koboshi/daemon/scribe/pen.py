"""One pen for all agents of a process: collects lines, and writes them every other second.

Rule 1: the loop never waits for a disk. A thread writes, and while it is held up lines are kept up
to a limit, then counted.
Rule 2: a log that cannot be written is told of once, and stops nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from koboshi.store.redaction import ESCAPE, redact

from .papers import Paper, append

log = logging.getLogger(__name__)

#: Seconds from a line to its file.
EVERY = 2.0
#: Entries that wait for the disk at most.
MOST = 10_000
#: Seconds that leaving may take.
LEAVES = 2.0
_LOST = "(lines were lost here: {})"


@dataclass(frozen=True, slots=True)
class Entry:
    """Rows of one moment; the first `lead` of them are only read by, not written."""

    utc: float
    rows: tuple[str, ...]
    lead: int = 0
    cols: int = 0


@dataclass(slots=True)
class _Batch:
    entries: dict[Paper, list[Entry]] = field(default_factory=dict)
    secrets: dict[Paper, tuple[str, ...]] = field(default_factory=dict)
    jobs: dict[Path, Callable[[], None]] = field(default_factory=dict)
    count: int = 0
    lost: int = 0


class Pen:
    """Writes beside the loop; made inside a running one."""

    def __init__(self, *, every: float = EVERY, most: int = MOST) -> None:
        self._loop = asyncio.get_running_loop()
        self._every, self._most = every, most
        self._waiting = _Batch()
        self._timer: asyncio.TimerHandle | None = None
        self._written: asyncio.Event = asyncio.Event()
        self._written.set()
        self._batches: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._broken: dict[object, int] = {}  # only the thread's: what is lost there so far

    def put(self, paper: Paper, entry: Entry, secrets: tuple[str, ...] = ()) -> None:
        """Write that; with these words masked, and whatever looks like a key."""
        batch = self._waiting
        if batch.count >= self._most:
            batch.lost += 1
            return
        batch.count += 1
        batch.entries.setdefault(paper, []).append(entry)
        batch.secrets[paper] = secrets
        self._soon()

    def do(self, path: Path, job: Callable[[], None]) -> None:
        """Let the thread write that file; of jobs for one file only the last one is done."""
        self._waiting.jobs[path] = job
        self._soon()

    def _soon(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._every, self.flush)

    def flush(self) -> None:
        """Give the thread what has come together, unless it is still at the last of it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not (self._waiting.count or self._waiting.jobs):
            return
        if not self._written.is_set():
            self._soon()
            return
        batch, self._waiting = self._waiting, _Batch()
        self._written.clear()
        if self._thread is None:
            # Not one of the loop's own: a disk that is gone answers nobody, and we want to leave.
            self._thread = threading.Thread(target=self._write_all, name="pen", daemon=True)
            self._thread.start()
        self._batches.put(batch)

    async def settled(self) -> None:
        """Until everything that was given is written, or could not be."""
        while True:
            self.flush()
            await self._written.wait()
            if not (self._waiting.count or self._waiting.jobs):
                return

    async def close(self) -> None:
        """Write what is left, if the disk lets us."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVES):
                await self.settled()
        if self._timer is not None:
            self._timer.cancel()
        self._batches.put(None)

    # -- in the thread --------------------------------------------------------------------------

    def _write_all(self) -> None:
        while (batch := self._batches.get()) is not None:
            for paper, entries in batch.entries.items():
                lost = self._broken.get(paper, 0) + batch.lost
                self._try(paper, paper.agent, _Page(paper, entries, batch.secrets[paper], lost))
            for path, job in batch.jobs.items():
                self._try(path, path.parent.name, job)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._written.set)

    def _try(self, name: object, agent: str, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001 - a log must not end what it tells of
            if name not in self._broken:
                log.error("not written", extra={"agent": agent, "reason": str(error)})  # noqa: TRY400
            count = len(job.entries) if isinstance(job, _Page) else 0
            self._broken[name] = self._broken.get(name, 0) + count
        else:
            if self._broken.pop(name, None) is not None:
                log.info("written again", extra={"agent": agent})


@dataclass(slots=True)
class _Page:
    """Entries of one log, to be written."""

    paper: Paper
    entries: list[Entry]
    secrets: tuple[str, ...]
    lost: int

    def __call__(self) -> None:
        rows = [row for entry in self.entries for row in _rows(entry, self.secrets)]
        if self.lost:
            rows.insert(0, _row(self.entries[0].utc, _LOST.format(self.lost)))
        text = "".join(rows).encode("utf-8", "backslashreplace")
        append(self.paper, self.entries[-1].utc, text)


def _rows(entry: Entry, secrets: tuple[str, ...]) -> list[str]:
    said = redact("\n".join(entry.rows), secrets=secrets, cols=entry.cols)
    return [_row(entry.utc, row) for row in said.split("\n")[entry.lead :]]


def _row(utc: float, text: str) -> str:
    """One line, whatever an agent printed."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(utc))
    bare = ESCAPE.sub("", text)
    if not bare.isprintable():
        bare = "".join(char if char.isprintable() else "\ufffd" for char in bare)
    return f"{when} {bare}\n"
