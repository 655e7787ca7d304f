"""What it costs an adapter to read one look."""

from __future__ import annotations

import time

from koboshi.adapters.registry import adapter

from .figures import Figure, best_seconds, count, spread
from .load import story

NIGHTS = 20


def measure_screens(scale: float) -> tuple[Figure, ...]:
    """Every look of some nights at the scripted agent, read again."""
    looks = [each for seed in range(1, count(NIGHTS, scale) + 1) for each in story(seed).looks]
    read = adapter("scripted").read
    micros = best_seconds(lambda: [read(seen) for seen in looks]) / len(looks) * 1e6
    times = []
    for seen in looks:
        begun = time.thread_time_ns()
        read(seen)
        times.append(time.thread_time_ns() - begun)
    alike = len(looks) / len({(seen.text, seen.command, seen.alive) for seen in looks})
    return (
        Figure(key="looks", value=len(looks), unit=""),
        Figure(key="looks_per_screen", value=alike, unit="×"),
        Figure(key="mean", value=micros, unit="µs"),
        *spread("", times),
    )
