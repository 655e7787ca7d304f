"""How long a daemon takes from its start to the first move of a plan that says RUNNING."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from koboshi.store.progress import Progress, Start

from . import cpu
from .figures import Figure, NotMeasured, count

RUNS = 9
_LEAST = 3
_TIMEOUT = 30.0  # seconds
_PLAN = """\
STATUS: RUNNING
GOAL: measure

PLAN:
  TOTAL_STEPS: 1
  CURRENT_STEP: 0
  STEPS:
    1: [PENDING] nothing at all
"""


def measure_resuming(scale: float) -> tuple[Figure, ...]:
    """Median and slowest of some daemons, each killed after the plan's first move."""
    taken, worked = [], []
    for _ in range(count(RUNS, scale, least=_LEAST)):
        with tempfile.TemporaryDirectory(prefix="koboshi-bench-") as folder:
            seconds, cpu = _once(Path(folder))
            taken.append(seconds)
            worked.append(cpu)
    return (
        Figure(key="median", value=statistics.median(taken), unit="s", aim="≤ 2"),
        Figure(key="max", value=max(taken), unit="s"),
        Figure(key="cpu", value=statistics.median(worked), unit="s of a core"),
    )


def _once(folder: Path) -> tuple[float, float]:
    work, state, own = folder / "work", folder / "state", folder / "bin"
    for each in (work, own):
        each.mkdir()
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    agent = own / "claude"
    agent.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    agent.chmod(0o755)
    plan = work / "M1.md"
    plan.write_text(_PLAN, encoding="utf-8")
    progress = Progress(state, plan)
    environment = {"PATH": f"{own}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    start = Start(path=str(plan), cwd=str(work), stop_file=str(folder / "stop"), attempts=1)
    progress.keep_start(start, environment)
    daemon_env = {**os.environ, "KOBOSHI_STATE": str(state), "KOBOSHI_CONFIG": str(folder)}
    begun = time.time()
    words = [sys.executable, "-m", "koboshi.daemon.service"]
    daemon = subprocess.Popen(words, env=daemon_env, cwd="/", stderr=subprocess.DEVNULL)
    try:
        seconds = _first_move(progress, daemon) - begun
        return seconds, cpu.own(psutil.Process(daemon.pid))
    finally:
        daemon.terminate()
        daemon.wait(_TIMEOUT)


def _first_move(progress: Progress, daemon: subprocess.Popen[bytes]) -> float:
    deadline = time.monotonic() + _TIMEOUT
    while time.monotonic() < deadline:
        for record in progress.notebook.all():
            if record["k"] == "admitted":
                return float(record["utc"])
        if daemon.poll() is not None:
            raise NotMeasured(f"the daemon ended with {daemon.returncode}")
        time.sleep(0.01)
    raise NotMeasured(f"no move within {_TIMEOUT:g} s: {json.dumps(progress.notebook.all()[-1:])}")
