"""Shelves that show what reaches the disk, and journals to put on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from koboshi.core.actions import Mode
from koboshi.core.engine import World, happen, step
from koboshi.core.events import Moment, Origin, RunExited, RunStarted, ScreenRead, Ticked
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.store.journal import Journal
from koboshi.testing import MemoryShelf
from tests.core.worlds import UTC, asking, blank, outcome, reading

if TYPE_CHECKING:
    from koboshi.core.events import Body

SETTINGS = Settings(mode=Mode.AUTO, allow=("npm test",))
BLANK = blank(SETTINGS)
START = Moment(at=0.0, utc=UTC)


class RecordingShelf(MemoryShelf):
    """Remembers each append: what kind of records, and whether it was durable."""

    def __init__(self) -> None:
        super().__init__()
        self.wrote: list[tuple[tuple[str, ...], bool]] = []

    def append(self, name: str, content: bytes, *, sync: bool) -> None:
        """Add to a segment, and remember it."""
        super().append(name, content, sync=sync)
        kinds = tuple(record["k"] for record in map(json.loads, content.splitlines()))
        self.wrote.append((kinds, sync))


class Writer:
    """Steps a world and writes each step, as a supervisor does."""

    def __init__(self, shelf: MemoryShelf, *, world: World = BLANK, **options: Any) -> None:  # noqa: ANN401
        self.shelf = shelf
        self.world = world
        self.at = 0.0
        self.journal = Journal(shelf, **options)
        self.journal.open(world, self.now)

    @property
    def now(self) -> Moment:
        """The time."""
        return Moment(at=self.at, utc=UTC + self.at)

    def tell(self, body: Body, *, after: float = 1.0) -> None:
        """One more fact; what is admitted is touched and comes out done."""
        self.at += after
        event = happen(self.world, body, self.now)
        world, decisions = step(self.world, event)
        if world is self.world:
            return
        self.journal.write(event, decisions, world)
        self.world = world
        for decision in decisions:
            if decision.verdict.admitted:
                self.journal.touch(decision.action.key, self.now)
                self.tell(outcome(decision.action), after=0.5)

    def story(self) -> None:
        """A run that works, asks, is answered, idles and crashes."""
        self.tell(RunStarted(run=1, origin=Origin.FIRST, session="s1"))
        for number, shown in enumerate(
            (reading(Status.WORKING), asking(), asking(lines=("a", "日本")), reading(Status.IDLE))
        ):
            self.tell(self.look(shown, f"d{number}"))
        self.tell(Ticked(), after=700.0)
        self.tell(RunExited(run=1, signal=9))

    def look(self, shown: Any, digest: str) -> ScreenRead:  # noqa: ANN401
        """A look, one second from now."""
        return ScreenRead(run=1, reading=shown, digest=digest, seen_at=self.at + 1.0)
