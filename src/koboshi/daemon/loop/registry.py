"""Registry: which plans were ever started here, and what the file of each says now.

A look costs a stat of two files for each plan; only what changed is read.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import InputError, KoboshiError
from koboshi.plans import Plan, PlanStatus
from koboshi.store.paths import plans_dir
from koboshi.store.planfile import PlanFile
from koboshi.store.progress import Progress, Start

_Signs = tuple[object, object, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A plan that was started here."""

    id: str
    start: Start
    plan: Plan | None  #: None: its file is gone, or cannot be read
    held: bool  #: somebody works on it

    @property
    def status(self) -> PlanStatus | None:
        """What the file says; None where it is gone or damaged."""
        return None if self.plan is None or self.plan.faults else self.plan.status

    @property
    def word(self) -> str:
        """The status as it is shown."""
        if self.plan is None:
            return "GONE"
        return "DAMAGED" if self.plan.faults else self.plan.status.value


class Registry:
    """The plans of one state folder."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._known: dict[str, tuple[_Signs, Known]] = {}
        self._told: dict[str, _Signs] = {}
        self._looking = threading.Lock()  # verbs look, too

    def plans(self) -> list[Known]:
        """As they were at the last look, in the order in which they were first started."""
        return [known for _, known in self._known.values()]

    def plan(self, name: str) -> Known:
        """One of them, by its id or its file, as it is now."""
        self.survey()
        for known in self.plans():
            if name in (known.id, known.start.path):
                return known
        names = ", ".join(f"{each.id} ({each.start.path})" for each in self.plans()) or "none yet"
        raise UnknownPlan(f"expected a plan that was started here, not {name!r}", hint=names)

    def survey(self) -> None:
        """Look at all of them."""
        with self._looking:
            found: dict[str, tuple[_Signs, Known]] = {}
            for folder in self._folders():
                now = self._look(folder, self._known.get(folder.name))
                if now is not None:
                    found[folder.name] = now
            self._known = found

    def news(self) -> list[str]:
        """Look; the ids of those that changed since this was last asked."""
        self.survey()
        now = {name: signs for name, (signs, _) in self._known.items()}
        before, self._told = self._told, now
        return [name for name in now | before if now.get(name) != before.get(name)]

    def _folders(self) -> list[Path]:
        options = list(plans_dir(self._state).glob("*/options.json"))
        known = {name: n for n, name in enumerate(self._known)}
        # New ones by their age, behind those that are known: an order that does not change.
        return [
            path.parent
            for path in sorted(
                options, key=lambda p: (known.get(p.parent.name, len(known)), p.stat().st_mtime)
            )
        ]

    def _look(
        self, folder: Path, before: tuple[_Signs, Known] | None
    ) -> tuple[_Signs, Known] | None:
        options = folder / "options.json"
        try:
            seen = options.stat()
        except OSError:
            return None
        written = (seen.st_ino, seen.st_mtime_ns)
        same = before is not None and before[0][0] == written
        start = before[1].start if before and same else Progress.start_in(folder)
        if start is None:
            return None
        file = PlanFile(Path(start.path), plans_dir(self._state))
        sign, held = file.sign(), Progress(self._state, file.path).kept()
        signs: _Signs = (written, sign, held)
        if before is not None and before[0] == signs:
            return before
        known = Known(id=folder.name, start=start, plan=_read(file), held=held)
        return signs, known


class UnknownPlan(InputError):
    """No plan of that name was started here."""


def _read(file: PlanFile) -> Plan | None:
    try:
        return file.read()
    except KoboshiError:
        return None
