"""One pen for all agents of a process: collects lines, and writes them every other second.

Rule 1: the loop never waits for a disk. A thread writes, and while it is held up lines are kept up
to a limit, then counted.
Rule 2: a log that cannot be written is told of once, and stops nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from koboshi.store.redaction import ESCAPE, redact, spotless

from .papers import Paper, append

log = logging.getLogger(__name__)

#: Seconds from a line to its file.
EVERY = 2.0
#: Entries that wait for the disk at most.
MOST = 10_000
#: Seconds that leaving may take.
LEAVES = 2.0
#: Logs in which keys are looked for at once.
_TOGETHER = 50
_LOST = "(lines were lost here: {})"


@dataclass(frozen=True, slots=True)
class Entry:
    """Rows of one moment; the first `lead` of them are only read by, not written."""

    utc: float
    rows: tuple[str, ...]
    lead: int = 0
    cols: int = 0

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.rows)


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
            pages = [_Page(p, entries, batch.secrets[p]) for p, entries in batch.entries.items()]
            for first in range(0, len(pages), _TOGETHER):
                some = pages[first : first + _TOGETHER]
                clean = _is_clean(some)
                for page in some:
                    page.clean = clean
                    page.lost = self._broken.get(page.paper, 0) + batch.lost
                    self._try(page.paper, page.paper.agent, page)
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
    lost: int = 0
    clean: bool = False  #: nothing in it has to be masked

    def __call__(self) -> None:
        rows = [row for entry in self.entries for row in self._rows(entry)]
        if self.lost:
            rows.insert(0, _row(self.entries[0].utc, _LOST.format(self.lost)))
        text = "".join(rows).encode("utf-8", "backslashreplace")
        append(self.paper, self.entries[-1].utc, text)

    def _rows(self, entry: Entry) -> list[str]:
        said = entry.text
        if not self.clean:
            said = redact(said, secrets=self.secrets, cols=entry.cols)
        return [_row(entry.utc, row) for row in said.split("\n")[entry.lead :]]


def _is_clean(pages: list[_Page]) -> bool:
    """Whether nothing in any of them has to be masked: so it is nearly always."""
    texts = [(entry.text, entry.cols) for page in pages for entry in page.entries]
    return spotless(texts, {each for page in pages for each in page.secrets})


def _row(utc: float, text: str) -> str:
    """One line, whatever an agent printed."""
    if not text.isprintable():
        bare = ESCAPE.sub("", text)
        text = "".join(char if char.isprintable() else "\ufffd" for char in bare)
    return f"{_stamp(int(utc))} {text}\n"


@functools.lru_cache(maxsize=16)
def _stamp(utc: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(utc))
