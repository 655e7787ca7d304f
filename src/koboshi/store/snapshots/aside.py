"""A snapshot beside the supervisor's work: in a thread, with a time limit, told in one line."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import KoboshiError

from .records import Snapshot, prune
from .taking import Skipped, size_words, take

#: Seconds that a snapshot may hold up what comes after it.
PATIENCE = 20.0
#: More than git's own limit: it is git that says what took so long, if it can.
_GRACE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """The newest `least` stay however old, and those of the last `seconds` however many."""

    least: int = 20
    seconds: float = 7 * 86400.0


A_WEEK = Retention()


async def snapshot_for(
    program_cwd: str,
    agent: str,
    name: str,
    *,
    keep: Retention = A_WEEK,
    patience: float = PATIENCE,
) -> str:
    """Take a snapshot and say what came of it; never raises, never takes longer than that."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[str] = loop.create_future()

    def work() -> None:
        line = _line(program_cwd, agent, name, keep, patience)
        with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody wants to know
            loop.call_soon_threadsafe(_tell, told, line)

    # Not the loop's own threads: the supervisor would wait for them when it leaves, and a disk that
    # is gone answers nobody.
    threading.Thread(target=work, name=f"snapshot-{agent}", daemon=True).start()
    try:
        return await asyncio.wait_for(told, patience + _GRACE)
    except TimeoutError:
        return f"no snapshot: it took longer than {patience:g} s"


def _tell(told: asyncio.Future[str], line: str) -> None:
    if not told.done():
        told.set_result(line)


def _line(cwd: str, agent: str, name: str, keep: Retention, patience: float) -> str:
    try:
        came = take(Path(cwd), agent, name, patience=patience)
        if isinstance(came, Skipped):
            return f"no snapshot: {came.reason}"
    except Exception as error:  # noqa: BLE001 - whatever it is, the refresh goes on without it
        return f"no snapshot: {error}"
    with contextlib.suppress(KoboshiError, OSError):
        least = max(1, keep.least)  # never the one that was just taken
        prune(Path(cwd), agent, keep=least, older=keep.seconds, patience=patience)
    return words(came)


def words(snapshot: Snapshot) -> str:
    """A snapshot in one line."""
    files = f"{snapshot.files} file{'' if snapshot.files == 1 else 's'}"
    what = "clean" if snapshot.clean else f"{files}, {size_words(snapshot.size)}"
    left = len(snapshot.left_out)
    also = f"; {left} left out ({snapshot.left_out[0]}{', …' if left > 1 else ''})" if left else ""
    return f"snapshot {snapshot.ref}: {what}{also}"
