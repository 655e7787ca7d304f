"""The files in which agents write down their sessions: which one is the run's, and what is new."""

from __future__ import annotations

import re
import time
from pathlib import Path

import psutil

from koboshi.adapters.codex.rollout import is_main
from koboshi.observations import TranscriptGrew

from .processes import family
from .tail import Tail

#: Seconds between searches.
SEARCH = 2.0
#: Bytes of a rollout's first line, which carries the instructions.
FIRST = 512 << 10

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_ROLLOUT = re.compile(r"rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")


class ClaudeTranscript:
    """Claude Code's: found by the session, which is its name."""

    def __init__(self, run: int) -> None:
        self._run = run
        self._session = ""
        self._config: Path | None = None
        self._tail: Tail | None = None
        self._searched = -SEARCH

    def read(self, config: Path, session: str) -> TranscriptGrew | None:
        """What was added to the session's file."""
        self._config = config
        if session != self._session:
            self._session, self._tail, self._searched = session, None, -SEARCH
        if self._tail is None:
            self._tail = self._search(config)
        lines = self._tail.read() if self._tail else ()
        return TranscriptGrew(run=self._run, session=session, lines=lines) if lines else None

    def found(self, config: Path, session: str, size: int) -> tuple[bytes, ...]:
        """The end of that session's file, if there is one."""
        self._session = session
        self._tail = self._search(config)
        return self.last(size)

    def last(self, size: int) -> tuple[bytes, ...]:
        """The end of the session's file; also when its process is gone."""
        if self._tail is None and self._config is not None:
            # Whoever asks needs it now; the next look may be a while away.
            self._searched = -SEARCH
            self._tail = self._search(self._config)
        return self._tail.last(size) if self._tail else ()

    def _search(self, config: Path) -> Tail | None:
        if time.monotonic() - self._searched < SEARCH or not _ID.fullmatch(self._session):
            return None
        self._searched = time.monotonic()
        found = sorted(config.glob(f"projects/*/{self._session}.jsonl"))
        return Tail(found[-1]) if found else None


class CodexTranscript:
    """Codex CLI's: found by who has it open, which is the only proof of whose it is."""

    def __init__(self, run: int, pid: int) -> None:
        self._run = run
        self._pid = pid
        self._session = ""
        self._tail: Tail | None = None
        self._searched = -SEARCH

    def read(self) -> TranscriptGrew | None:
        """What was added to the rollout of the person's conversation."""
        if time.monotonic() - self._searched >= SEARCH:
            self._searched = time.monotonic()
            self._search()
        lines = self._tail.read() if self._tail else ()
        if not lines:
            return None
        return TranscriptGrew(run=self._run, session=self._session, lines=lines)

    def last(self, size: int) -> tuple[bytes, ...]:
        """The end of the rollout; also when its process is gone."""
        if self._tail is None and time.monotonic() - self._searched >= SEARCH:
            self._searched = time.monotonic()
            self._search()
        return self._tail.last(size) if self._tail else ()

    def _search(self) -> None:
        found = [path for path in open_files(self._pid) if _ROLLOUT.fullmatch(path.name)]
        main = sorted((path for path in found if is_main(first_line(path))), key=lambda p: p.name)
        if main and (self._tail is None or self._tail.path != main[-1]):
            self._tail = Tail(main[-1])
            name = _ROLLOUT.fullmatch(main[-1].name)
            self._session = name[1] if name else ""


def open_files(pid: int) -> set[Path]:
    """What the processes of a run have open."""
    found: set[Path] = set()
    for each in family(pid):
        try:
            found |= {Path(file.path) for file in psutil.Process(each).open_files()}
        except (psutil.Error, OSError):
            continue
    return found


def first_line(path: Path) -> bytes:
    """The first line of that file; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.readline(FIRST)
    except OSError:
        return b""
