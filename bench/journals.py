"""Appends to a journal on the disk of this machine, each its own batch, with and without fsync."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.core.events import ActionFinished
from koboshi.store.journal import Journal
from koboshi.store.shelves import DiskShelf

from .figures import Figure, count
from .load import happenings

if TYPE_CHECKING:
    from .load import Happening

APPENDS = 3000
ROUNDS = 5


def measure_journal(scale: float) -> tuple[Figure, ...]:
    """Outcomes are synced one by one; most of a night need not be (`night_*`)."""
    told = happenings(count(20, scale))
    outcomes = [each for each in told if isinstance(each.event.body, ActionFinished)]
    appends = count(APPENDS, scale, least=10)
    outcomes = (outcomes * (appends // len(outcomes) + 1))[:appends]
    night = [each for each in told if each.after is not each.before][: 2 * appends]
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="koboshi-bench-") as folder:
        for turn in range(ROUNDS):  # in turns, so that a busy disk is busy for all of them
            for name, fsync, load in (
                ("fsync", True, outcomes),
                ("nosync", False, outcomes),
                ("night_fsync", True, night),
                ("night_nosync", False, night),
            ):
                place = Path(folder) / f"{name}{turn}"
                rates.setdefault(name, []).append(_rate(place, load, fsync=fsync))
    best = {name: max(values) for name, values in rates.items()}
    return (
        *(Figure(key=f"{name}_per_second", value=best[name], unit="1/s") for name in best),
        Figure(key="ratio", value=best["nosync"] / best["fsync"], unit="× (nosync:fsync)"),
        Figure(
            key="night_ratio",
            value=best["night_nosync"] / best["night_fsync"],
            unit="× (nosync:fsync)",
        ),
    )


def _rate(folder: Path, load: list[Happening], *, fsync: bool) -> float:
    shelf = DiskShelf(folder, fsync=fsync)
    journal = Journal(shelf)
    journal.open(load[0].before, load[0].event.now)
    begun = time.perf_counter()
    for each in load:
        journal.write(each.event, each.decisions, each.after)
    seconds = time.perf_counter() - begun
    shelf.close()
    return len(load) / seconds
