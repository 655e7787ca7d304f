"""Simulated nights per second on one core."""

from __future__ import annotations

import time

from koboshi.testing.simulate import run_one

from .figures import Figure, NotMeasured, count

NIGHTS = 200


def measure_simulation(scale: float) -> tuple[Figure, ...]:
    """Seeds in a row, in this process."""
    seeds = range(1, count(NIGHTS, scale) + 1)
    begun = time.process_time()
    results = [run_one(seed) for seed in seeds]
    seconds = time.process_time() - begun
    failed = [f"seed {seed}: {trouble}" for seed, _, trouble in results if trouble]
    if failed:
        raise NotMeasured(failed[0])
    return (
        Figure(
            key="seeds_per_second",
            value=len(seeds) / seconds,
            unit="1/s",
            aim="≥ 42 (100,000 nights in 20 min on 2 cores)",
        ),
        Figure(key="night", value=seconds / len(seeds) * 1e3, unit="ms"),
    )
