"""What a stage started, by recorded identity, so that the end of a session can prove it is gone.

Rule 1: a process is its number and its time of birth; numbers come back.
Rule 2: a HOME belongs to one stage, so whoever has it in its environment was started there.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

#: Seconds that a killed process may take to go: a loaded machine is slow to reap.
REAPED = 20.0
#: Seconds between looks.
PAUSE = 0.05


@dataclass(slots=True)
class Leftovers:
    """Everything that the stages of one session started."""

    started: dict[str, set[psutil.Process]] = field(default_factory=dict)  #: by HOME
    sockets: set[Path] = field(default_factory=set)

    def note(self, home: Path) -> set[psutil.Process]:
        """Remember the processes of this HOME and their children; those that live now."""
        known = self.started.setdefault(str(home), set())
        known.update(living({str(home)}))
        for process in tuple(known):
            with contextlib.suppress(psutil.Error):
                known.update(process.children(recursive=True))
        return {process for process in known if alive(process)}

    def end(self, home: Path) -> None:
        """Kill what was started there until nothing lives: some are born while others die."""
        deadline = time.monotonic() + REAPED
        while doomed := self.note(home):
            assert time.monotonic() < deadline, f"not ended by SIGKILL: {doomed}"
            for process in doomed:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(PAUSE)

    def remaining(self) -> list[str]:
        """What is still there: processes by identity or HOME, and sockets of tmux servers."""
        running = {process for known in self.started.values() for process in known}
        running |= set(living(set(self.started)))
        left = [f"process {process!r}" for process in running if alive(process)]
        return left + [f"socket {path}" for path in self.sockets if path.exists()]


#: Of this process: xdist gives each worker its own.
LEFT = Leftovers()


def living(homes: set[str]) -> Iterator[psutil.Process]:
    """Processes whose HOME is one of these."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("HOME") in homes and alive(process):
                yield process


def alive(process: psutil.Process) -> bool:
    """Whether that very process runs; a zombie does not."""
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
