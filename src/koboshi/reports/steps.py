"""What the plan file in an agent's folder says, in rows; it is read, and never touched."""

from __future__ import annotations

import stat
from pathlib import Path

from koboshi.plans import parse
from koboshi.store.planfile import LARGEST

#: Where a plan is, unless somebody says otherwise.
FILE = "M1.md"


def plan(folder: str) -> tuple[str, ...]:
    """The status, and each step with what came of it; nothing where there is no plan."""
    path = Path(folder) / FILE
    try:
        if not folder or not stat.S_ISREG(path.stat().st_mode):
            return ()
        with path.open("rb") as file:
            found = parse(file.read(LARGEST).decode(errors="replace"))
    except OSError:
        return ()
    if not found.steps:
        return ()
    rows = [f"{found.status.value}: {found.goal}"]
    for step in found.steps:
        result = found.results.get(step.number)
        came = " ".join(filter(None, (result.commit, result.summary))) if result else ""
        words = f"{step.number} {step.state.value.lower()}: {step.text}"
        rows.append(f"{words} – {came}" if came else words)
    return tuple(" ".join(row.split()) for row in rows)
