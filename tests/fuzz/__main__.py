"""python -m tests.fuzz --cases N [--first F]: hostile screens, payloads, plans, on all cores."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time

from tests.fuzz.cases import case

#: Failures that are shown; the rest is counted.
SHOWN = 10


def main() -> int:
    """Run that many cases; 1 when one of them went wrong."""
    wanted = argparse.ArgumentParser(prog="tests.fuzz")
    wanted.add_argument("--cases", type=int, default=1_000_000)
    wanted.add_argument("--first", type=int, default=1)
    wanted.add_argument("--case", type=int, help="run this one alone")
    asked = wanted.parse_args()
    if asked.case is not None:
        said = case(asked.case)
        print(said or "nothing went wrong")  # noqa: T201 - it is a command
        return bool(said)
    began, seeds = time.monotonic(), range(asked.first, asked.first + asked.cases)
    with multiprocessing.Pool() as pool:
        found = [said for said in pool.imap_unordered(case, seeds, chunksize=500) if said]
    for said in found[:SHOWN]:
        print(said)  # noqa: T201
    seconds = time.monotonic() - began
    print(f"{asked.cases} cases in {seconds:.0f} s, {len(found)} went wrong")  # noqa: T201
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
