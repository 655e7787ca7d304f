"""How long `koboshi --version` takes, against a Python that does nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from .figures import Figure, NotMeasured, count

RUNS = 25
_LEAST = 3
_TIMEOUT = 60.0  # seconds


def measure_startup(scale: float) -> tuple[Figure, ...]:
    """Median of some runs each, in turns."""
    bare = (sys.executable, "-c", "pass")
    version = (*_koboshi(), "--version")
    _seconds(bare), _seconds(version)  # bytecode and disk cache
    pairs = [(_seconds(bare), _seconds(version)) for _ in range(count(RUNS, scale, least=_LEAST))]
    python = statistics.median(pair[0] for pair in pairs)
    ours = statistics.median(pair[1] for pair in pairs)
    return (
        Figure(key="python_pass", value=python * 1e3, unit="ms"),
        Figure(key="koboshi_version", value=ours * 1e3, unit="ms"),
        Figure(key="ratio", value=ours / python, unit="× (koboshi:python)", aim="< 4"),
    )


def _koboshi() -> tuple[str, ...]:
    """The command as users have it, or the module where it is not installed."""
    script = Path(sys.executable).with_name("koboshi")
    return (str(script),) if script.is_file() else (sys.executable, "-m", "koboshi")


def _seconds(argv: tuple[str, ...]) -> float:
    begun = time.perf_counter()
    ended = subprocess.run(argv, capture_output=True, check=False, timeout=_TIMEOUT)
    seconds = time.perf_counter() - begun
    if ended.returncode != 0:
        error = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise NotMeasured(f"{' '.join(argv[-3:])} ended with {ended.returncode}: {error}")
    return seconds
