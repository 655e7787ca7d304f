"""Scribe: one agent's logs for people, from what its supervisor hears, sees and types.

It keeps `sessions.jsonl`, too: other programs read that.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.store.sessions import FILE, Chronicle, remembered, renew

from .minutes import minutes, stroke_words
from .output import Output
from .papers import Paper
from .pen import Entry

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event, ScreenRead
    from koboshi.core.readings import Status
    from koboshi.core.settings import Settings
    from koboshi.daemon.supervisor import Listen, Supervisor
    from koboshi.hosts.base import Keystroke

    from .output import Grown
    from .pen import Pen

#: In the place of a file: this log is not written.
OFF = "off"


def papers(
    agent: str, agent_type: str, settings: Settings, *, state: Path, cwd: str
) -> tuple[Paper | None, Paper | None]:
    """Where the monitor log and the output go; None: nowhere."""
    folder = _below(Path(cwd), settings.log_dir) if settings.log_dir else state / "logs"
    monitor = Paper(agent=agent, folder=folder, base=f"monitor_{agent}")
    output = Paper(
        agent=agent, folder=folder, base=f"{agent_type}_{agent}", daily=True, detail=True
    )
    return (
        _chosen(monitor, Path(cwd), settings.monitor_log),
        _chosen(output, Path(cwd), settings.pane_log),
    )


def _chosen(paper: Paper, cwd: Path, named: str) -> Paper | None:
    if named.strip().lower() == OFF:
        return None
    if not named:
        return paper
    path = _below(cwd, named)
    return Paper(
        agent=paper.agent,
        folder=path.parent,
        base=path.stem,
        suffix=path.suffix,
        detail=paper.detail,
    )


def _below(cwd: Path, named: str) -> Path:
    """A path as a shell in the agent's folder would read it."""
    return cwd / Path(named).expanduser()


class Scribe:
    """Hears, sees and notes; the pen writes. Without one nothing is written."""

    def __init__(
        self,
        pen: Pen | None,
        folder: Path,
        *,
        monitor: Paper | None = None,
        output: Paper | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._pen, self._monitor, self._output_log = pen, monitor, output
        self._folder, self._secrets = folder, secrets
        self._chronicle = Chronicle(remembered(folder) if pen is not None else ())
        self._status: Status | None = None
        self._output = Output()

    def attend(self, supervisor: Supervisor) -> None:
        """Look over that supervisor's shoulder from now on."""
        self._status = supervisor.world.view.status
        if self._pen is None:
            return
        if self._output_log is not None:
            supervisor.saw = self.saw
        if self._monitor is not None:
            supervisor.hands.typed = lambda strokes: self.typed(supervisor, strokes)

    def before(self, other: Listen | None) -> Listen:
        """Who hears everything first, and then tells the other one."""

        def hear(event: Event, decisions: tuple[Decision, ...], world: World) -> None:
            self.heard(event, decisions, world)
            if other is not None:
                other(event, decisions, world)

        return hear

    def heard(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        """Something happened."""
        if self._pen is None:
            return
        before, self._status = self._status, world.view.status
        for line in minutes(event, before, world.view, decisions):
            self._note(event.now.utc, line)
        if self._chronicle.take(event, world):
            runs = self._chronicle.runs
            self._pen.do(self._folder / FILE, lambda: renew(self._folder, runs))

    def typed(self, supervisor: Supervisor, strokes: tuple[Keystroke, ...]) -> None:
        """Keys went to the terminal."""
        self._note(supervisor.runtime.now().utc, stroke_words(strokes))

    def saw(self, told: ScreenRead, utc: float, cols: int) -> None:
        """A look showed that."""
        self._print(self._output.seen(told.run, utc, told.reading.lines), cols)

    def leave(self) -> None:
        """Nothing follows: what was seen only once is told."""
        self._print(self._output.rest(), 0)

    def _note(self, utc: float, line: str) -> None:
        if self._monitor is not None and self._pen is not None:
            self._pen.put(self._monitor, Entry(utc, (line,)), self._secrets)

    def _print(self, grown: Grown | None, cols: int) -> None:
        if grown is not None and self._output_log is not None and self._pen is not None:
            entry = Entry(grown.utc, grown.rows, grown.lead, cols)
            self._pen.put(self._output_log, entry, self._secrets)
