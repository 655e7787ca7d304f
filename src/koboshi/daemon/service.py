"""The daemon's process: `python -m koboshi.daemon.service`, one per state folder.

Started by the first command that needs it. It owns nothing that its end could break: agents live in
tmux, what is known is in their journals, and the next daemon takes them up again.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

from koboshi.errors import KoboshiError
from koboshi.store.paths import state_dir
from koboshi.store.shelves import make_private

from .control.client import LOCK, door, log_path
from .control.server import Door
from .control.verbs import Verbs
from .house import House
from .lock import AgentLocked, agent_lock
from .logs import log_to
from .runtime import spare_the_collector

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger("koboshi.daemon.service")  # `__main__` when it is run

#: Seconds between two looks whether it is still there.
LOOK = 5.0


async def _leave_without(lock: Path, leave: asyncio.Event) -> None:
    """Leave when the state folder was removed: its next daemon could not know of us."""
    inode = _inode(lock)
    while True:
        await asyncio.sleep(LOOK)
        if _inode(lock) != inode:
            log.warning("the state folder is gone")
            leave.set()


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _tell_tasks() -> None:
    """Write into the log what each task waits for: for whoever wonders why nothing happens."""
    for task in asyncio.all_tasks():
        told = io.StringIO()
        task.print_stack(file=told)
        log.warning("asked by SIGUSR1", extra={"reason": told.getvalue()})


async def serve(state: Path) -> None:
    """Look after everybody until told to leave."""
    leave = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave.set)
    loop.add_signal_handler(signal.SIGUSR1, _tell_tasks)
    house = House(state)
    entrance = Door(door(state), Verbs(house, leave.set).table())
    await entrance.open()
    beside = [
        loop.create_task(entrance.keep_open()),
        loop.create_task(_leave_without(state / LOCK, leave)),
    ]
    house.open()
    spare_the_collector()
    log.info("the daemon is up", extra={"pid": os.getpid()})
    try:
        await leave.wait()
    finally:
        for task in beside:
            task.cancel()
        await entrance.close()
        await house.close()
        log.info("the daemon leaves; the agents live on", extra={"pid": os.getpid()})


def main() -> int:
    """Run the daemon; 0 also where another one is already there."""
    state = state_dir().absolute()
    make_private(state)
    handler = log_to(log_path(state))
    try:
        with agent_lock(state / LOCK):
            asyncio.run(serve(state))
    except AgentLocked:
        return 0  # somebody was quicker; whoever started us finds that one's door
    except (KoboshiError, OSError) as error:
        log.error("the daemon could not run", extra={"reason": str(error)})  # noqa: TRY400
        return 4
    finally:
        with contextlib.suppress(OSError):
            handler.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
