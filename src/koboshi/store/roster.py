"""The roster: which agents koboshi looks after, and how each is started again.

A folder per agent, beside its journal: `entry.json` says what it is, `environment.json` holds the
environment it was asked for with. That may hold keys, so it is a file of its own, for the owner's
eyes only, and goes into no journal and no report.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from koboshi.core.actions import Mode
from koboshi.errors import InputError, UnknownAgent

from .paths import check_name
from .shelves import make_private, write_whole

#: Where an agent's terminal is: a window on our own server, or a pane the user has.
HOSTS = ("tmux", "adopted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One agent."""

    agent: str
    agent_type: str
    argv: tuple[str, ...]  #: empty for a pane whose command nobody knows
    cwd: str
    host: str = "tmux"
    mode: str = ""  #: as given on the command line; empty: as it is configured
    watched: bool = True  #: False: released by its owner, the journal stays
    created: float = 0.0  #: UTC seconds
    #: The caller's variables that set something (`config.variables`), and no others.
    variables: dict[str, str] = field(default_factory=dict)

    def level(self) -> Mode | None:
        """The mode given on the command line, as the gate knows it."""
        return Mode[self.mode.upper()] if self.mode else None


class Roster:
    """The agents under one state folder."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "agents"

    def entries(self) -> tuple[Entry, ...]:
        """All agents that can be read, by name."""
        found = []
        for path in sorted(self._folder.glob("*/entry.json")):
            with contextlib.suppress(InputError):
                found.append(self._read(path))
        return tuple(found)

    def troubles(self) -> tuple[str, ...]:
        """What is wrong with the entries that cannot be read."""
        wrong = []
        for path in sorted(self._folder.glob("*/entry.json")):
            try:
                self._read(path)
            except InputError as error:
                wrong.append(str(error))
        return tuple(wrong)

    def entry(self, agent: str) -> Entry:
        """That agent; an unknown one is an error that lists the known ones."""
        path = self._path(agent) / "entry.json"
        if path.is_file():
            return self._read(path)
        known = ", ".join(each.agent for each in self.entries()) or "none yet"
        raise UnknownAgent(f"expected the name of an agent, not {agent!r}", hint=f"agents: {known}")

    def environment(self, agent: str) -> dict[str, str] | None:
        """The environment it was asked for with, if that is known."""
        try:
            content = (self._path(agent) / "environment.json").read_bytes()
            return msgspec.json.decode(content, type=dict[str, str])
        except (OSError, msgspec.MsgspecError):
            return None

    def environment_seen(self, agent: str) -> tuple[int, int] | None:
        """What changes when that environment does; None: none is known."""
        try:
            found = (self._path(agent) / "environment.json").stat()
        except (OSError, InputError):
            return None
        return found.st_mtime_ns, found.st_ino

    def keep(self, entry: Entry, environment: dict[str, str] | None = None) -> None:
        """Write the entry, durably; without an environment the old one stays."""
        folder = self._path(entry.agent)
        make_private(folder)
        if environment is not None:
            _write(folder / "environment.json", environment)
        _write(folder / "entry.json", entry)

    def drop(self, agent: str) -> None:
        """Take the agent off the roster; its journal stays."""
        for name in ("entry.json", "environment.json"):
            (self._path(agent) / name).unlink(missing_ok=True)

    def _path(self, agent: str) -> Path:
        return self._folder / check_name(agent)

    def _read(self, path: Path) -> Entry:
        try:
            entry = msgspec.json.decode(path.read_bytes(), type=Entry)
        except (OSError, msgspec.MsgspecError) as error:
            raise InputError(f"{path} cannot be read: {error}") from error
        if entry.host not in HOSTS or entry.mode.upper() not in ("", *Mode.__members__):
            raise InputError(f"{path} names an unknown host or mode: {entry.host}, {entry.mode}")
        return entry


def _write(path: Path, value: Any) -> None:  # noqa: ANN401 - what msgspec can encode
    """The whole file or the old one, for the owner alone."""
    # A lone surrogate (a variable that is not UTF-8) has no JSON: it is left out by the caller.
    content = msgspec.json.format(msgspec.json.encode(value), indent=1)
    write_whole(path, content)


def printable(environment: dict[str, str]) -> dict[str, str]:
    """The variables that are text; one that is not cannot be written down."""
    kept = {}
    for name, value in environment.items():
        with contextlib.suppress(UnicodeEncodeError):
            (name + value).encode()
            kept[name] = value
    return kept
