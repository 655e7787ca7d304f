"""Books: the figures of all agents on disk: one JSON file a day, and one text for Prometheus."""

from __future__ import annotations

import contextlib
import copy
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.store.shelves import make_private, write_whole

from .figures import DAY, Figures, read_image
from .prometheus import exposition

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event

#: Days of files that are kept.
KEEP_DAYS = 30
PROMETHEUS = "koboshi.prom"
_UNREADABLE = (OSError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def day_file(day: int) -> str:
    """The name of a day's file."""
    return f"metrics-{time.strftime('%Y-%m-%d', time.gmtime(day * DAY))}.json"


class Books:
    """The figures of all agents of one process; made from what their supervisors hear."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._all: dict[str, Figures] = {}
        self._over: list[Figures] = []  # of days that have passed since they were last written
        self._changed = False

    def open(self, utc: float) -> None:
        """Go on with today's figures, where there are some."""
        with contextlib.suppress(*_UNREADABLE):
            raw = json.loads((self.folder / day_file(int(utc // DAY))).read_bytes())
            for values in list(raw["agents"].values()):
                found = read_image(values)
                if found is not None and found.day == int(utc // DAY):
                    self._all[found.agent] = found

    def take(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        """One more event of one of them."""
        agent, self._changed = world.view.context.agent, True
        figures = self._all.setdefault(agent, Figures(agent=agent))
        if not figures.take(event, decisions, world):
            self._over.append(figures)
            self._all[agent] = figures.next_day(event.now.utc)
            self._all[agent].take(event, decisions, world)

    def figures(self) -> tuple[Figures, ...]:
        """All of them, by name."""
        return tuple(self._all[name] for name in sorted(self._all))

    def copies(self) -> tuple[Figures, ...]:
        """What has changed since the last call, of days that are over too; for another thread."""
        changed, self._changed = self._changed, False
        over, self._over = self._over, []
        return tuple(copy.deepcopy((*over, *self.figures()))) if changed else ()


def pages(
    all_: tuple[Figures, ...], utc: float, notices: Mapping[str, int] | None = None
) -> dict[str, bytes]:
    """What is to be written: file → content."""
    days: dict[int, dict[str, object]] = {}
    for each in all_:
        days.setdefault(each.day, {})[each.agent] = each.image()
    made = {
        day_file(day): json.dumps({"utc": utc, "agents": agents}, indent=1).encode()
        for day, agents in days.items()
    }
    newest = {each.agent: each for each in all_}
    made[PROMETHEUS] = exposition(newest.values(), utc, notices).encode()
    return made


def write(folder: Path, pages: Mapping[str, bytes], utc: float) -> None:
    """Write these files, each as a whole, and drop those of long ago."""
    make_private(folder)
    for name, content in pages.items():
        whole = content if name == PROMETHEUS else _with_others(folder / name, content)
        write_whole(folder / name, whole, sync=False)
    oldest = day_file(int(utc // DAY) - KEEP_DAYS)
    for path in folder.glob("metrics-????-??-??.json"):
        if path.name < oldest:
            path.unlink(missing_ok=True)


def _with_others(path: Path, content: bytes) -> bytes:
    """With the agents of that day who are not looked after any more."""
    try:
        before = json.loads(path.read_bytes())["agents"]
        made = json.loads(content)
        made["agents"] = {**before, **made["agents"]}
    except _UNREADABLE:
        return content
    return json.dumps(made, indent=1).encode()
