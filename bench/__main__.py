"""python -m bench [--quick] [--only NAME …] [--json FILE]: measure, print a table, write JSON."""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .answers import measure_answers
from .figures import Figure, Measure, NotMeasured
from .journals import measure_journal
from .own import measure_own, measure_storm
from .page import measure_board, measure_viewers
from .passthrough import measure_passthrough
from .recovery import measure_recovery
from .resuming import measure_resuming
from .rules import measure_rules
from .screens import measure_screens
from .shim import measure_shim
from .simulation import measure_simulation
from .startup import measure_startup
from .steps import measure_agents, measure_step
from .watching import measure_dialogs, measure_watching

MEASUREMENTS: dict[str, Measure] = {
    "step": measure_step,
    "agents": measure_agents,
    "rules": measure_rules,
    "own": measure_own,
    "storm": measure_storm,
    "screens": measure_screens,
    "simulation": measure_simulation,
    "journal": measure_journal,
    "recovery": measure_recovery,
    "resuming": measure_resuming,
    "startup": measure_startup,
    "shim": measure_shim,
    "watching": measure_watching,
    "dialogs": measure_dialogs,
    "answers": measure_answers,
    "passthrough": measure_passthrough,
    "viewers": measure_viewers,
    "board": measure_board,
}
QUICK = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one measurement gave, or why it gave nothing."""

    name: str
    figures: tuple[Figure, ...] = ()
    skipped: str = ""


def run(names: list[str], scale: float) -> list[Measured]:
    """Measure, one after the other."""
    results = []
    for name in names:
        if sys.stderr.isatty():
            print(f"{name} …", file=sys.stderr)
        try:
            results.append(Measured(name=name, figures=MEASUREMENTS[name](scale)))
        except NotMeasured as why:
            results.append(Measured(name=name, skipped=str(why)))
    return results


def table(results: list[Measured]) -> str:
    """One line per figure."""
    lines = [f"{'what':34}{'value':>12}  {'unit':18}aim"]
    for each in results:
        if each.skipped:
            lines.append(f"{each.name:34}{'–':>12}  not measured: {each.skipped}")
        lines.extend(
            f"{each.name + '.' + f.key:34}{_short(f.value):>12}  {f.unit:18}{f.aim}".rstrip()
            for f in each.figures
        )
    return "\n".join(lines)


def _short(value: float) -> str:
    if value >= 1000 or value == int(value):  # noqa: PLR2004 - four digits are enough
        return f"{value:.0f}"
    return f"{value:.3g}"


def report(results: list[Measured], scale: float) -> dict[str, object]:
    """The same for programs."""
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "scale": scale,
        "figures": {r.name: {f.key: f.value for f in r.figures} for r in results if r.figures},
        "not_measured": {r.name: r.skipped for r in results if r.skipped},
    }


def main() -> int:
    """Exit 0 also when something could not be measured: the table says so."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=MEASUREMENTS, help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="a fifth of the size")
    parser.add_argument("--json", type=Path, default=Path("bench-results.json"), metavar="FILE")
    asked = parser.parse_args()
    scale = QUICK if asked.quick else 1.0
    results = run(asked.only or list(MEASUREMENTS), scale)
    print(table(results))
    asked.json.write_text(json.dumps(report(results, scale), indent=2) + "\n", encoding="utf-8")
    print(f"written to {asked.json}")
    return 0


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # simulated disks are full now and then
    sys.exit(main())
