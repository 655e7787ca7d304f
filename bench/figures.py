"""Figure: one measured number. And the few ways in which numbers are taken here."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its unit; `aim` is what the project wants, in words."""

    key: str
    value: float
    unit: str
    aim: str = ""


class NotMeasured(Exception):
    """It could not be measured here; the message says why."""


#: Makes figures; `scale` 1.0 is the full size, 0.1 a quick look.
Measure = Callable[[float], tuple[Figure, ...]]


def count(full: int, scale: float, *, least: int = 1) -> int:
    """How many of something at that scale."""
    return max(least, round(full * scale))


def share(sorted_values: list[int], part: float) -> float:
    """The value below which that part of the values lies."""
    return float(sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))])


def spread(prefix: str, nanoseconds: list[int]) -> tuple[Figure, ...]:
    """p50, p99 and max, in microseconds."""
    values = sorted(nanoseconds)
    return (
        Figure(key=f"{prefix}p50", value=share(values, 0.50) / 1e3, unit="µs"),
        Figure(key=f"{prefix}p99", value=share(values, 0.99) / 1e3, unit="µs", aim="< 1000"),
        Figure(key=f"{prefix}max", value=values[-1] / 1e3, unit="µs"),
    )


def best_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """CPU seconds of the quickest round: what else the machine did is in the others."""
    taken = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return max(min(taken), 1e-9)


def median_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Seconds on the wall, for what waits for a disk or another process."""
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


@contextmanager
def quiet_gc(*, frozen: bool) -> Iterator[None]:
    """Begin with nothing to collect; `frozen` hides what is there from the collector."""
    gc.collect()
    if frozen:
        gc.freeze()
    try:
        yield
    finally:
        if frozen:
            gc.unfreeze()
