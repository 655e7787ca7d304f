"""python -m koboshi.testing.simulate: nights by the thousand.

--seeds N [--first F]   run seeds F … F+N-1 on all cores, print seeds/s
--seed S                run one seed, print what happened
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import sys
import time
import traceback

from .nights import Night
from .outside import Killed


def run_one(seed: int) -> tuple[int, str, str]:
    """Seed, digest of its journal, and what went wrong (empty: nothing)."""
    night = Night(seed)
    trouble = ""
    try:
        night.run()
    except (Exception, Killed) as error:  # noqa: BLE001 - any bug is a failed seed
        trouble = f"{type(error).__name__}: {error}"
    return seed, hashlib.sha256(night.journal()).hexdigest()[:16], trouble


def run_many(first: int, count: int) -> list[tuple[int, str]]:
    """The seeds that failed, and why; progress goes to standard error."""
    failures: list[tuple[int, str]] = []
    begun = time.perf_counter()
    seeds = range(first, first + count)
    digest = hashlib.sha256()
    with multiprocessing.Pool() as pool:
        results = pool.imap(run_one, seeds, chunksize=25)
        for done, (seed, journal, trouble) in enumerate(results, 1):
            digest.update(journal.encode())
            if trouble:
                failures.append((seed, trouble))
                print(f"seed {seed}: {trouble}", flush=True)
            if done % 5000 == 0:
                print(f"{done} nights, {len(failures)} failed", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - begun
    print(
        f"{count} nights in {seconds:.1f} s ({count / seconds:.0f} seeds/s), "
        f"{len(failures)} failed, journals {digest.hexdigest()[:16]}"
    )
    return failures


def replay_one(seed: int) -> int:
    """Run one seed and print its journal and what went wrong."""
    night = Night(seed)
    try:
        night.run()
    except Exception:  # noqa: BLE001
        sys.stdout.write(night.journal().decode(errors="replace"))
        traceback.print_exc()
        return 1
    sys.stdout.write(night.journal().decode(errors="replace"))
    return 0


def main() -> int:
    """Exit 1 when a seed failed."""
    parser = argparse.ArgumentParser(prog="python -m koboshi.testing.simulate")
    parser.add_argument("--seeds", type=int, default=2000, help="how many nights")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seed", type=int, help="run this one and print its journal")
    asked = parser.parse_args()
    if asked.seed is not None:
        return replay_one(asked.seed)
    failures = run_many(asked.first, asked.seeds)
    if failures:
        print(f"replay one with: make sim SEED={failures[0][0]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
