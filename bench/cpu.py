"""What a process has used of the cores so far."""

from __future__ import annotations

import sys
import time

import psutil

#: How Linux names the clock of another process: the complement of its pid, and which clock.
_PID_SHIFT, _SCHEDULED = 3, 2


def own(process: psutil.Process) -> float:
    """Seconds it worked itself, threads that ended included.

    Not from /proc: its stat counts hundredths, which a quiet process does not fill in a short
    look, and the schedstat of its tasks forgets a thread that ended.
    """
    if sys.platform != "linux":
        times = process.cpu_times()
        return float(times.user + times.system)
    try:
        return time.clock_gettime(~process.pid << _PID_SHIFT | _SCHEDULED)
    except OSError as error:
        raise psutil.NoSuchProcess(process.pid) from error


def of_ended_children(process: psutil.Process) -> float:
    """Seconds that children worked whose end it has seen."""
    times = process.cpu_times()
    return float(times.children_user + times.children_system)
