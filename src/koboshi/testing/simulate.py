"""python -m koboshi.testing.simulate: nights by the thousand, and voyages of plans beside them.

--seeds N [--first F]   run seeds F … F+N-1 on all cores, print seeds/s; a voyage for twenty nights
--voyages N             run so many voyages instead
--seed S                run one night, print what happened
--voyage S              run one voyage, print its file and what went wrong
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
from .voyages import Voyage

#: Nights for one voyage: it takes as long as some of them.
SHARE = 20


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


def sail_one(seed: int) -> tuple[int, int, str]:
    """Seed, deaths of keepers, and what went wrong (empty: nothing)."""
    voyage = Voyage(seed)
    try:
        voyage.run()
    except Exception as error:  # noqa: BLE001 - any bug is a failed seed
        return seed, voyage.sea.deaths, f"{type(error).__name__}: {error}"
    return seed, voyage.sea.deaths, ""


def sail_many(first: int, count: int) -> list[tuple[int, str]]:
    """The voyages that failed, and why."""
    failures, deaths, begun = [], 0, time.perf_counter()
    with multiprocessing.Pool() as pool:
        for seed, died, trouble in pool.imap(sail_one, range(first, first + count), chunksize=5):
            deaths += died
            if trouble:
                failures.append((seed, trouble))
                print(f"voyage {seed}: {trouble}", flush=True)
    seconds = time.perf_counter() - begun
    print(
        f"{count} voyages in {seconds:.1f} s ({count / seconds:.0f} seeds/s), "
        f"{deaths} deaths, {len(failures)} failed"
    )
    return failures


def replay_voyage(seed: int) -> int:
    """Run one voyage and print its file and what went wrong."""
    voyage = Voyage(seed)
    try:
        voyage.run()
    except Exception:  # noqa: BLE001
        sys.stdout.write(voyage.sea.text)
        traceback.print_exc()
        return 1
    sys.stdout.write(voyage.sea.text)
    return 0


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
    parser.add_argument("--voyages", type=int, help="so many voyages, and no nights")
    parser.add_argument("--voyage", type=int, help="run this one and print its file")
    asked = parser.parse_args()
    if asked.seed is not None:
        return replay_one(asked.seed)
    if asked.voyage is not None:
        return replay_voyage(asked.voyage)
    failures = [] if asked.voyages is not None else run_many(asked.first, asked.seeds)
    if failures:
        print(f"replay one with: make sim SEED={failures[0][0]}")
    count = max(1, asked.seeds // SHARE) if asked.voyages is None else asked.voyages
    lost = sail_many(asked.first, count)
    if lost:
        print(f"replay one with: make sim VOYAGE={lost[0][0]}")
    return 1 if failures or lost else 0


if __name__ == "__main__":
    sys.exit(main())
