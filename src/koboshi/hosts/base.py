"""Host: the few verbs through which koboshi reaches a terminal.

A host interprets nothing and decides nothing. Every verb raises `PlaceGone` when the terminal it
names is not there, and `HostError` for anything else that keeps it from doing what was asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from koboshi.observations import ScreenSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to start. `agent` and `run` name it: starting the same pair twice is refused."""

    agent: str
    run: int
    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str] = field(default_factory=dict)  #: added to its environment
    base: dict[str, str] | None = None  #: the environment of who asked; None: the host's own
    cols: int = 120
    rows: int = 40
    limit: float | None = None  #: seconds after which it is ended, whoever is there to see it


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A terminal that a host knows, with the run that lives in it.

    `own` is False for a pane the user had before: its shell outlives the agent.
    """

    id: str
    agent: str
    run: int
    pid: int | None = None
    own: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text that goes in as one piece (bracketed paste where the host can)."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key by its tmux name: "Enter", "Escape", "Up", "Down", "C-u", or a single character."""

    name: str


Keystroke = Text | Key


class Host(Protocol):
    """Seven verbs; everything above is built from them."""

    name: str

    async def start(self, launch: Launch) -> Place:
        """Start a program in a new terminal; a `(agent, run)` that already has one is refused."""
        ...

    async def find(self, agent: str) -> tuple[Place, ...]:
        """All terminals of that agent, oldest run first; ended ones too while they can be seen."""
        ...

    async def look(self, place: Place) -> ScreenSeen:
        """The screen and the process now."""
        ...

    async def stirred(self, place: Place, patience: float) -> bool:
        """Wait until something may have changed there since this was asked last.

        False after `patience` seconds without a sign. True is a guess on the careful side, the
        first answer always is True, and a sign is given once: one watcher per terminal. What
        changes after a True is told by the next call, so that a look in between misses nothing.
        """
        ...

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:
        """Send keystrokes, in order, exactly; no newline is added."""
        ...

    async def end(self, place: Place, *, force: bool) -> None:
        """Ask the program to end (SIGTERM), or make it (SIGKILL); an ended one is left as it is."""
        ...

    async def forget(self, place: Place) -> None:
        """Remove an ended terminal from view."""
        ...

    async def close(self) -> None:
        """Let go of the host; the agents in it live on where the host can keep them."""
        ...
