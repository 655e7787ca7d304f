"""One-shot runs without a terminal; they outlive koboshi and are judged later, by their id.

A folder per run, its name is the id:

- ``spec.json``:   what was started, and for whom; no values of its environment
- ``stdout``, ``stderr``: what it printed
- ``child.json``, ``status.json``: from its recorder, who it is and how it ended

The recorder is nobody's child and has no terminal: no hang-up and no Ctrl-C of ours reaches it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import recorder
from koboshi.hosts.base import Keystroke, Launch, Place
from koboshi.hosts.ears import Pace
from koboshi.hosts.panes import check
from koboshi.hosts.runs import Ended, RunFolder, agent_env
from koboshi.hosts.trees import MARK
from koboshi.observations import ScreenSeen

#: Of a run that went with all that could tell of it: a machine that was switched off.
UNSEEN = "its recorder is gone, nobody saw how it ended"
#: Bytes of output that a look reads from the end: a screen of long lines.
TAIL = 1 << 16
#: Seconds after which a run that nobody started never will be: the recorder itself waits 30.
STILLBORN = 60.0
#: Seconds between SIGTERM and SIGKILL when a run is stopped.
STOP_PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Not ended yet."""

    seconds: float
    pid: int | None  #: None in the moment before it has one
    lines: tuple[str, ...]  #: the last ones of its standard output


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Ended: by its own exit, or by a signal, or (both None) nobody can tell how."""

    code: int | None
    signal: int | None
    seconds: float | None
    lines: tuple[str, ...]
    error: str = ""  #: why it never ran, or why nobody can tell
    overdue: bool = False  #: ended because it took longer than it may


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What was started."""

    agent: str
    run: int
    argv: tuple[str, ...]
    cwd: str
    env: tuple[str, ...]  #: names only: values may be secrets
    cols: int
    rows: int
    created: float  #: UTC seconds


class Task:
    """One run's folder, read anew each time: another process writes it."""

    def __init__(self, path: Path) -> None:
        self.id = path.name
        self.folder = RunFolder(path)

    def spec(self) -> Spec | None:
        """What was started; None when there is no such run."""
        try:
            record: dict[str, Any] = json.loads((self.folder.path / "spec.json").read_bytes())
            return Spec(**{**record, "argv": tuple(record["argv"]), "env": tuple(record["env"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def output(self, name: str = "stdout") -> str:
        """The end of what it printed; a line that was cut is left out."""
        try:
            with (self.folder.path / name).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - TAIL))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return text if size <= TAIL else text.partition("\n")[2]

    def ended(self, spec: Spec) -> Ended | None:
        """How it ended, also when its recorder could not tell; None while it runs."""
        child = self.folder.child()
        if child is None and time.time() - spec.created > STILLBORN:
            return self.folder.ended() or Ended(error="it was never started")
        lost = child is not None and not child.running() and not child.recorded()
        # Read after the look at the processes: the recorder may have told and left in between.
        ended = self.folder.ended()
        if ended is None and lost:
            return Ended(error=UNSEEN)
        return ended


class HeadlessHost:
    """Host without terminals: `look` shows the end of the output, nothing can be typed."""

    name = "headless"

    def __init__(self, *, state_dir: Path) -> None:
        self._root = Path(state_dir).absolute() / "headless"
        self._starting = asyncio.Lock()
        self._paces: dict[str, Pace] = {}

    # -- what only this host can do ------------------------------------------------------------

    async def check(self, task_id: str) -> Running | Finished:
        """How that run is doing, or how it ended; from the files alone."""
        task, spec = self._task(task_id)
        ended, child = task.ended(spec), task.folder.child()
        lines = tuple(task.output().splitlines()[-spec.rows :])
        if ended is None:
            since = child.started if child else spec.created
            seconds = max(0.0, time.time() - since)
            return Running(seconds=seconds, pid=child.pid if child else None, lines=lines)
        return Finished(
            code=ended.code,
            signal=ended.signal,
            seconds=ended.seconds,
            lines=lines,
            error=ended.error,
            overdue=ended.overdue,
        )

    async def output(self, task_id: str, name: str = "stdout") -> str:
        """All that it printed to `stdout` or `stderr`."""
        task, _ = self._task(task_id)
        path = task.folder.path / ("stderr" if name == "stderr" else "stdout")
        try:
            return await asyncio.to_thread(path.read_text, encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""  # whoever was to start it died before that

    async def tail(self, task_id: str, most: int) -> str:
        """The end of what it printed to `stdout`, at most so many bytes."""
        task, _ = self._task(task_id)
        return await asyncio.to_thread(_end_of, task.folder.path / "stdout", most)

    async def stop(self, task_id: str) -> Finished:
        """End the run and everything it started: SIGTERM, and after a few seconds SIGKILL."""
        task, _ = self._task(task_id)
        await asyncio.to_thread(task.folder.end, force=False)
        await self._finished(task_id)
        await asyncio.to_thread(task.folder.end, force=True)  # what was deaf, what outlived it
        finished = await self._finished(task_id)
        if finished is None:
            raise HostError(f"run {task_id} did not end, not even by SIGKILL")
        return finished

    # -- verbs ---------------------------------------------------------------------------------

    async def start(self, launch: Launch, ready: Callable[[int], None] | None = None) -> Place:
        """Start a program, detached; the place's id is what `check` and `stop` take.

        `ready` is told its pid before it begins, and if it raises, the program never does.
        """
        check(launch)
        async with self._starting:
            if any(place.run == launch.run for place in await self.find(launch.agent)):
                raise HostError(f"run {launch.run} of {launch.agent!r} already has a terminal")
            folder = RunFolder.create(self._root, launch)
            try:
                return await self._start(launch, folder, ready)
            except BaseException:
                folder.remove()  # the recorder gives up without it
                raise

    async def find(self, agent: str) -> tuple[Place, ...]:
        """All runs of that agent, oldest first, ended ones too."""
        paths = self._root.iterdir() if self._root.is_dir() else ()
        tasks = [(task, spec) for path in paths if (spec := (task := Task(path)).spec())]
        mine = [place_of(task, spec) for task, spec in tasks if spec.agent == agent]
        return tuple(sorted(mine, key=lambda place: place.run))

    async def look(self, place: Place) -> ScreenSeen:
        """The end of the output, and the process now."""
        at, utc = time.monotonic(), time.time()
        task, spec = self._reach(place)
        ended, child = task.ended(spec), task.folder.child()
        alive = ended is None
        text = "\n".join(task.output().splitlines()[-spec.rows :])
        self._pace(place).saw((text, alive))
        return ScreenSeen(
            text=text,
            run=place.run,
            at=at,
            utc=utc,
            command=Path(spec.argv[0]).name if alive else "",
            cols=spec.cols,
            rows=spec.rows,
            pid=child.pid if child else None,
            alive=alive,
            code=ended.code if ended else None,
            signal=ended.signal if ended else None,
        )

    async def stirred(self, place: Place, patience: float) -> bool:
        """Wait until a look is due: a look reads two small files, and no bell is hung up here."""
        self._reach(place)
        return await self._pace(place).stirred(patience)

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:  # noqa: ARG002
        """Refused: there is no keyboard."""
        self._reach(place)
        raise HostError(f"run {place.run} of {place.agent!r} is headless, nothing can be typed")

    async def end(self, place: Place, *, force: bool) -> None:
        """Signal all processes of the run."""
        task, _ = self._reach(place)
        await asyncio.to_thread(task.folder.end, force=force)

    async def forget(self, place: Place) -> None:
        """Delete an ended run, its output too."""
        task, spec = self._reach(place)
        if task.ended(spec) is None:
            message = f"run {place.run} of {place.agent!r} still runs"
            raise HostError(message, hint="end it first")
        self._paces.pop(place.id, None)
        task.folder.remove()

    async def close(self) -> None:
        """The runs live on."""

    # -- parts of the verbs --------------------------------------------------------------------

    async def _start(
        self, launch: Launch, folder: RunFolder, ready: Callable[[int], None] | None
    ) -> Place:
        spec = Spec(
            agent=launch.agent,
            run=launch.run,
            argv=launch.argv,
            cwd=launch.cwd,
            env=tuple(sorted(launch.env)),
            cols=launch.cols,
            rows=launch.rows,
            created=time.time(),
        )
        record = {name: getattr(spec, name) for name in Spec.__slots__}
        recorder.write(str(folder.path), "spec.json", record)
        await asyncio.to_thread(detach, folder)
        env = {"TERM": "dumb", **agent_env(os.environ, launch)}
        folder.release(launch, env, waits=ready is not None)
        child = await folder.started()
        if ready is not None:
            ready(child.pid)
            await folder.let_go()
        return Place(id=folder.path.name, agent=launch.agent, run=launch.run, pid=child.pid)

    async def _finished(self, task_id: str) -> Finished | None:
        """Wait a bounded time for its end."""
        deadline = time.monotonic() + STOP_PATIENCE
        while True:
            state = await self.check(task_id)
            if isinstance(state, Finished):
                return state
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(0.01)

    def _pace(self, place: Place) -> Pace:
        return self._paces.setdefault(place.id, Pace())

    def _task(self, task_id: str) -> tuple[Task, Spec]:
        task = Task(self._root / (Path(task_id).name or "_"))
        spec = task.spec() if task.id == task_id else None
        if spec is None:
            raise PlaceGone(f"no run {task_id!r} is known")
        return task, spec

    def _reach(self, place: Place) -> tuple[Task, Spec]:
        try:
            task, spec = self._task(place.id)
        except PlaceGone:
            spec = None
        if spec is None or (spec.agent, spec.run) != (place.agent, place.run):
            raise PlaceGone(f"run {place.run} of {place.agent!r} is gone")
        return task, spec


def _end_of(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - most))
            return file.read(most).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""  # nothing was printed yet


def place_of(task: Task, spec: Spec) -> Place:
    """The place of a run."""
    child = task.folder.child()
    return Place(id=task.id, agent=spec.agent, run=spec.run, pid=child.pid if child else None)


def detach(folder: RunFolder) -> None:
    """Start the recorder and wait until it has left us."""
    env = {name: value for name, value in os.environ.items() if name != MARK}
    with ExitStack() as files:
        out, err = (files.enter_context(private(folder.path / n)) for n in ("stdout", "stderr"))
        # Not asyncio's: that one kills its children when the loop is closed.
        subprocess.run(
            folder.command("detached"),
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            check=True,
        )


def private(path: Path) -> IO[bytes]:
    """A new file to append to, readable by nobody else."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
