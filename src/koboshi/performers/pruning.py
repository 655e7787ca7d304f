"""What an agent's folder need not keep: old notes, and the files of runs that are long over.

A note of a refresh under way is never taken, and what cannot be removed is left: it costs nothing
but its room.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Collection
from pathlib import Path

#: Runs whose files are kept: the one before may still be ending.
KEPT = 2
_RUN = re.compile(r"run-([0-9]{1,9})")


def prune_notes(folder: Path, held: Collection[str], *, least: int, before: float) -> None:
    """Remove notes from `before` that time, but the newest `least` and those that are held.

    What a supervisor that was killed left half written goes by the same age.
    """
    with contextlib.suppress(OSError):
        known = sorted((path.stat().st_mtime, path) for path in folder.iterdir())
        notes = [path for _, path in known if path.suffix == ".md" and path.name[0] != "."]
        stay = {*notes[-max(1, least) :], *(folder / f"{name}.md" for name in held if name)}
        for at, path in known:
            ours = path in notes or path.name[0] == "."
            if ours and path not in stay and at < before:
                path.unlink()


def prune_runs(folder: Path, run: int) -> None:
    """Remove the files of runs that were over before the last one began."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            found = _RUN.fullmatch(path.name)
            if found and int(found[1]) <= run - KEPT:
                shutil.rmtree(path, ignore_errors=True)
