"""What was fired: which agent, where, with what words; written before the agent runs.

A folder per task below `tasks` in the state folder, named by its TASK_ID: `firing.json` says what
was asked for, `report.json` what came of it, once that is settled. Whoever dies in between finds
the id in the plan or on the terminal, and the rest here.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

import msgspec

from koboshi.errors import InputError, UnknownTask

from .shelves import make_private, write_whole

_ID = re.compile(r"task_[0-9a-f]{8,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """One order to an agent, as it was given."""

    task: str
    agent: str  #: which CLI
    instruction: str
    cwd: str
    created: float  #: UTC seconds
    timeout: float | None = None
    before: str = ""  #: a snapshot's commit from before it began; empty: there is none
    why_none: str = ""  #: why there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A file that differs from before."""

    path: str
    kind: str  #: `A`, `M`, `D`, `T`
    added: int | None  #: lines; None: it is no text
    deleted: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How a task is doing, or what came of it."""

    task: str
    state: str  #: `running`, `finished` or `failed`
    agent: str
    seconds: float | None = None
    pid: int | None = None
    exit: int | None = None  #: its exit code; negative: the signal that ended it
    why: str = ""  #: of a failed one, in words
    error: str = ""  #: the same as one word: `permission_denied`, `no_result`, `timeout` …
    summary: str = ""  #: its last words
    session: str = ""
    cost: float | None = None  #: US dollars, where the CLI tells
    tokens: int | None = None  #: all that it read and wrote
    ended: float | None = None  #: UTC seconds
    resets: float | None = None  #: UTC seconds: when the usage limit is over that it ended at
    denied: tuple[str, ...] = ()  #: tools or commands it was kept from
    breaches: tuple[str, ...] = ()  #: what it did although the policy denies it
    diff: tuple[Touched, ...] | None = None  #: files that differ; None: nobody can tell


def new_task() -> str:
    """An id that no other task has."""
    return f"task_{secrets.token_hex(4)}"


class Firings:
    """All tasks under one state folder."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "tasks"

    def keep(self, firing: Firing) -> None:
        """Write it down, durably, before the agent runs."""
        folder = self._path(firing.task)
        make_private(folder)
        write_whole(folder / "firing.json", msgspec.json.encode(firing))

    def firing(self, task: str) -> Firing:
        """What was asked for; an unknown id is an error that names the newest."""
        try:
            content = (self._path(task) / "firing.json").read_bytes()
            return msgspec.json.decode(content, type=Firing)
        except FileNotFoundError:
            newest = ", ".join(self.newest()) or "none yet"
            message = f"expected the TASK_ID of something that was fired, not {task!r}"
            raise UnknownTask(message, hint=f"the newest: {newest}") from None
        except msgspec.MsgspecError as error:
            raise InputError(f"what is known of {task} cannot be read: {error}") from error

    def settle(self, report: Report) -> None:
        """Write down what came of it; it is not judged again."""
        write_whole(self._path(report.task) / "report.json", msgspec.json.encode(report))

    def settled(self, task: str) -> Report | None:
        """What came of it, if that was judged before."""
        try:
            content = (self._path(task) / "report.json").read_bytes()
            return msgspec.json.decode(content, type=Report)
        except (OSError, msgspec.MsgspecError):
            return None

    def newest(self, count: int = 5) -> tuple[str, ...]:
        """The ids that were given last, newest first."""
        paths = sorted(self._folder.glob("task_*"), key=lambda path: -path.stat().st_mtime)
        return tuple(path.name for path in paths[:count])

    def folder(self, task: str) -> Path:
        """Where what belongs to that task may be put."""
        return self._path(task)

    def _path(self, task: str) -> Path:
        if not _ID.fullmatch(task):
            message = f"expected a TASK_ID such as task_1a2b3c4d, not {task!r}"
            raise UnknownTask(message, hint=f"the newest: {', '.join(self.newest()) or 'none yet'}")
        return self._folder / task
