"""CPU time of other processes: finer than hundredths, and nothing of it is forgotten."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from bench import cpu

#: Says what it used, and does nothing more until it is told to.
_SAYS = "print(time.process_time(), flush=True)\ninput()\n"
_THREAD = (
    "import threading\n"
    "thread = threading.Thread(target=lambda: sum(range(3_000_000)))\n"
    "thread.start()\n"
    "thread.join()\n"
)
_STEP = "sum(range(1000))\n"


@contextmanager
def program(text: str) -> Iterator[subprocess.Popen[str]]:
    """Python at work on that, ended afterwards."""
    words = [sys.executable, "-I", "-c", f"import time\n{text}"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def heard(process: subprocess.Popen[str]) -> float:
    """What it says it used."""
    assert process.stdout is not None
    return float(process.stdout.readline())


def test_a_thread_that_ended_counts() -> None:
    """Its time stays that of the process."""
    with program(_THREAD + _SAYS) as process:
        said = heard(process)
        assert cpu.own(psutil.Process(process.pid)) >= said > 0


def test_less_than_a_hundredth_of_a_second_counts() -> None:
    """A quiet daemon uses no more while it is looked at."""
    with program(_SAYS + _STEP + _SAYS) as process:
        known, before = psutil.Process(process.pid), heard(process)
        begun = cpu.own(known)
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        after = heard(process)

        assert begun >= before
        assert cpu.own(known) >= after > begun


def test_children_whose_end_was_seen_count() -> None:
    """Polling costs what its processes cost."""
    burns = "sum(range(10_000_000))"
    text = f"import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-c', {burns!r}])\n"
    with program(text + _SAYS) as process:
        heard(process)
        assert cpu.of_ended_children(psutil.Process(process.pid)) > 0


def test_a_process_that_is_gone_is_said() -> None:
    """It is not one that used nothing."""
    with program(_SAYS) as process:
        known = psutil.Process(process.pid)
        heard(process)

    with pytest.raises(psutil.NoSuchProcess):
        cpu.own(known)
