"""What belongs to a plan at work and not into its file: where a step began, and what was decided.

A folder per plan below `plans` in the state folder: `step_N.json` is the baseline of a step,
`journal.jsonl` each decision and what came of it (notebooks.py), `options.json` how it was started,
`stop` an order to stop.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec

from .notebooks import Notebook
from .shelves import make_private, write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """How things were before a step: only what is new counts against it."""

    text: str  #: of the step; another one has another baseline
    before: str  #: a snapshot's commit
    failed: dict[str, tuple[str, ...]] = field(default_factory=dict)  #: command → what was wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a plan was started, for whoever goes on with it."""

    path: str
    cwd: str
    agent: str = "claude"
    attempts: int = 3
    timeout: float = 3600.0
    commit: bool = True
    seconds: float = 0.0
    cost: float = 0.0
    tokens: int = 0
    options: tuple[str, ...] = ()  #: words for the agent's command line
    stop_file: str = ""  #: empty: the one of all plans
    max_steps: int = 10  #: that a planner may make
    push: bool = False  #: whether a finished plan is pushed
    report: str = ""  #: a file that tells what came of it
    review: bool = False  #: whether a person reads what a planner made before it is done
    reviewer: str = ""  #: which CLI looks at verified work before it is committed; empty: none
    replans: int = 0  #: how often a planner may make other steps where one could not be done
    message: str = ""  #: of commits, with names in braces; empty: as usual
    notify: str = "steps"  #: what people are told: `steps`, `end` or `none`


def started_plans(state: Path) -> list[Start]:
    """All plans that were started, oldest first."""
    found = []
    for path in sorted((state / "plans").glob("*/options.json"), key=lambda p: p.stat().st_mtime):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Start))
        except (OSError, msgspec.MsgspecError):
            continue
    return found


def plan_named(state: Path, words: str) -> Progress | None:
    """The plan that a person means by its id or its file; None: no such plan was started here."""
    for start in started_plans(state):
        found = Progress(state, Path(start.path))
        if words in (found.id, start.path) or os.path.realpath(words) == os.path.realpath(
            start.path
        ):
            return found
    return None


class Progress:
    """The folder of one plan."""

    def __init__(self, state: Path, plan: Path) -> None:
        name = hashlib.sha256(os.fsencode(os.path.realpath(plan))).hexdigest()[:12]
        self.id = name
        self.folder = state / "plans" / name
        self.notebook = Notebook(self.folder)

    def baseline(self, step: int, text: str) -> Baseline | None:
        """Where that step began, if it did."""
        known = self._read(f"step_{step}.json", Baseline)
        return known if isinstance(known, Baseline) and known.text == text else None

    def keep_baseline(self, step: int, baseline: Baseline) -> None:
        """Write it down before the step begins."""
        self._write(f"step_{step}.json", baseline)

    def start(self) -> Start | None:
        """How it was started; None: it never was."""
        return self.start_in(self.folder)

    @staticmethod
    def start_in(folder: Path) -> Start | None:
        """How the plan of that folder was started."""
        try:
            return msgspec.json.decode((folder / "options.json").read_bytes(), type=Start)
        except (OSError, msgspec.MsgspecError):
            return None

    def keep_start(self, start: Start, environment: dict[str, str]) -> None:
        """Write down how it is started, and in which environment: for the owner's eyes only."""
        self._write("options.json", start)
        write_whole(self.folder / "environment.json", msgspec.json.encode(environment))

    def environment(self) -> dict[str, str] | None:
        """That in which it was started: whoever goes on after a reboot has another."""
        try:
            content = (self.folder / "environment.json").read_bytes()
            return msgspec.json.decode(content, type=dict[str, str])
        except (OSError, msgspec.MsgspecError):
            return None

    def told(self) -> list[str] | None:
        """Which news of the plan people were told, by key; None: nobody has looked yet."""
        try:
            return msgspec.json.decode((self.folder / "told.json").read_bytes(), type=list[str])
        except (OSError, msgspec.MsgspecError):
            return None

    def keep_told(self, keys: list[str]) -> None:
        """Remember what people were told."""
        make_private(self.folder)
        write_whole(self.folder / "told.json", msgspec.json.encode(keys))

    def write_schema(self, text: str) -> Path:
        """The shape of an answer as a file: some CLIs take no other."""
        make_private(self.folder)
        path = self.folder / f"schema-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
        write_whole(path, text.encode())
        return path

    @property
    def stop_file(self) -> Path:
        """Where `koboshi loop stop` leaves its word."""
        return self.folder / "stop"

    @property
    def lock(self) -> Path:
        """Held by whoever works through the plan."""
        return self.folder / "lock"

    def kept(self) -> bool:
        """Whether somebody works through the plan at this moment."""
        try:
            descriptor = os.open(self.lock, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _read(self, name: str, kind: type) -> object:
        try:
            return msgspec.json.decode((self.folder / name).read_bytes(), type=kind)
        except (OSError, msgspec.MsgspecError):
            return None

    def _write(self, name: str, value: Baseline | Start) -> None:
        make_private(self.folder)
        write_whole(self.folder / name, msgspec.json.encode(asdict(value)))
