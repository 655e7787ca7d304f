"""How long a hook takes by our shim, against `true`: what `koboshi init` adds to an agent."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from koboshi import _hook
from koboshi.sources.hooksocket import hook_socket

from .figures import Figure, NotMeasured, count, share

RUNS = 100
_LEAST = 3
_TIMEOUT = 60.0  # seconds
_HOOK = json.dumps({"hook_event_name": "Stop", "session_id": "s1", "cwd": "/"}).encode()


def measure_shim(scale: float) -> tuple[Figure, ...]:
    """Some calls each, in turns; the shim with somebody who listens, and with nobody."""
    with tempfile.TemporaryDirectory(prefix="kb-") as folder:
        return asyncio.run(_measured(Path(folder), count(RUNS, scale, least=_LEAST)))


async def _measured(folder: Path, runs: int) -> tuple[Figure, ...]:
    shim = (sys.executable, "-I", "-S", _hook.__file__)
    env = {
        "PATH": os.defpath,
        "KOBOSHI_AGENT": "bench",
        "KOBOSHI_RUN_NUMBER": "1",
        "KOBOSHI_HOOK_SOCKET": str(folder / "s"),
        "KOBOSHI_HOOK_SPOOL": str(folder / "spool"),
    }
    taken: dict[str, list[int]] = {"true": [], "heard": [], "alone": []}
    async with hook_socket(folder / "s", "bench", lambda _: None):
        for _ in range(runs):
            taken["true"].append(await asyncio.to_thread(_call, ("true",), env))
            taken["heard"].append(await asyncio.to_thread(_call, shim, env))
    for _ in range(runs):
        taken["alone"].append(_call(shim, env))
    late = {name: share(sorted(times), 0.95) for name, times in taken.items()}
    return (
        *(Figure(key=f"{name}_p95", value=each / 1e6, unit="ms") for name, each in late.items()),
        Figure(key="ratio", value=late["heard"] / late["true"], unit="× (shim:true)"),
    )


def _call(argv: tuple[str, ...], env: dict[str, str]) -> int:
    """Nanoseconds on the wall: the agent waits that long where a hook is not in the background."""
    begun = time.perf_counter_ns()
    ended = subprocess.run(
        argv, input=_HOOK, env=env, capture_output=True, check=False, timeout=_TIMEOUT
    )
    if ended.returncode != 0:
        raise NotMeasured(f"{argv[-1]} ended with {ended.returncode}")
    return time.perf_counter_ns() - begun
