"""Notes and run folders do not grow for ever, and nothing that is needed goes."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from koboshi.core.settings import Settings
from koboshi.core.view import Refreshing, Stage
from koboshi.performers.handover import keep, kept
from koboshi.performers.hands import Gear
from koboshi.performers.pruning import prune_runs
from tests.performers.benches import Bench

DAY = 86400.0


def bench(tmp_path: Path, **settings: float) -> Bench:
    """Hands with a folder for notes, and 10 notes, one a day until yesterday."""
    made = Bench()
    made.runtime.utc_ahead = time.time() - made.runtime.monotonic  # as the files have it
    made.hands.program = replace(made.hands.program, gear=Gear(folder=tmp_path))
    made.view = replace(made.view, settings=Settings(**settings))  # type: ignore[arg-type]
    for age in range(10, 0, -1):
        assert keep(made.hands, f"ckpt-{age}", "text")
        old(made, f"ckpt-{age}.md", age)
    return made


def old(made: Bench, name: str, days: int) -> None:
    """That file is so many days old."""
    assert made.hands.program.gear is not None
    utc = made.runtime.now().utc - days * DAY
    path = made.hands.program.gear.folder / "notes" / name
    path.touch()
    os.utime(path, (utc, utc))


def notes(tmp_path: Path) -> list[str]:
    """All that is there."""
    return sorted(path.name for path in (tmp_path / "notes").iterdir())


def test_by_default_a_week_and_twenty_stay(tmp_path: Path) -> None:
    """Ten are never too many."""
    made = bench(tmp_path)
    keep(made.hands, "new", "text")

    assert len(notes(tmp_path)) == 12


def test_old_notes_go_and_the_newest_stay_however_old(tmp_path: Path) -> None:
    """Also what a killed supervisor left half written; the name of the last one stays."""
    made = bench(tmp_path, keep_for=3.5 * DAY, keep_least=2)
    old(made, ".half.md.0a1b", 5)
    old(made, ".half.md.2c3d", 0)
    keep(made.hands, "new", "text")

    assert notes(tmp_path) == [".half.md.2c3d", "a-LAST", *sorted(_days(1, 2, 3)), "new.md"]

    for name in _days(1, 2, 3):
        old(made, name, 100)
    keep(made.hands, "newer", "text")
    assert notes(tmp_path) == [".half.md.2c3d", "a-LAST", "new.md", "newer.md"]


def test_a_note_that_a_refresh_needs_is_not_taken(tmp_path: Path) -> None:
    """However old it is, and however few are to be kept."""
    made = bench(tmp_path)
    refresh = Refreshing(nth=1, why="context", stage=Stage.LOADING, note="ckpt-10")
    settings = Settings(keep_for=0.0, keep_least=1)
    made.view = replace(made.view, refresh=refresh, settings=settings)
    keep(made.hands, "new", "text")

    assert kept(made.hands, "ckpt-10") == "text"
    assert kept(made.hands, "new") == "text"
    assert notes(tmp_path) == ["a-LAST", "ckpt-10.md", "new.md"]


def test_the_files_of_all_old_runs_go(tmp_path: Path) -> None:
    """Also of those that were not removed in their time; nothing else is touched."""
    for name in ("run-1", "run-2", "run-7", "run-8", "run-9", "run-x", "journal"):
        (tmp_path / name / "inside").mkdir(parents=True)
    prune_runs(tmp_path, 9)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "journal",
        "run-8",
        "run-9",
        "run-x",
    ]


def _days(*ages: int) -> list[str]:
    return [f"ckpt-{age}.md" for age in ages]
