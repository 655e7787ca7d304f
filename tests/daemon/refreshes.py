"""A refresh whose supervisor is killed at one of its steps, and another that takes over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.lab.journals import record, saved_before_each_restart

ROOT = Path(__file__).parent.parent.parent
#: Seconds for one supervisor; only a failing test waits that long.
PATIENCE = 120.0
#: Every step, and where on its way its supervisor is killed. A refresh begins in the view: nothing
#: outside is touched, so that it has no mark.
POINTS = (
    *(f"refresh.{point}" for point in ("decided", "acted", "told")),
    *(
        f"{kind}.{point}"
        for kind in ("checkpoint", "stop", "start", "load")
        for point in ("decided", "marked", "acted", "told")
    ),
)


def supervise(spec: dict[str, Any], point: str = "", *, program: str = "doomed") -> int:
    """One supervisor to its end; how it ended."""
    path = Path(spec["state"]) / "spec.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**spec, "parent": os.getpid()}), encoding="utf-8")
    log = path.with_name("supervisor.log")
    with log.open("ab") as said:
        words = [sys.executable, "-m", f"tests.daemon.programs.{program}", str(path), point]
        child = subprocess.Popen(words, cwd=ROOT, stdout=said, stderr=said)
    try:
        return child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{point}: not through; {log.read_text()[-3000:]}") from None
    finally:
        child.kill()
        child.wait()


def killed_and_finished(spec: dict[str, Any], point: str) -> None:
    """It dies there, the next one goes on, and everything happened once and in its order."""
    assert supervise(spec, point) == -signal.SIGKILL
    assert supervise(spec) == 0

    state = Path(spec["state"])
    told = record(state, "a1")
    assert saved_before_each_restart(state, "a1") == 1
    assert [(run.run, run.origin.value) for run in told.runs] == [(1, "first"), (2, "fresh")]
    done = [kind for kind in told.kinds if kind in ("refresh", "checkpoint", "stop", "load")]
    assert done[:2] == ["refresh", "checkpoint"]
    assert done.count("load") == 1
    assert told.told == []
