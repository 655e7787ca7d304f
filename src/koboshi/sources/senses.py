"""Senses: everything beside the screen that tells of one agent. One cheap call a look."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.adapters.claude.equip import config_folder

from .registry import Registry
from .spool import Spool
from .transcripts import ClaudeTranscript, CodexTranscript

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from koboshi.core.view import Run
    from koboshi.observations import Observation


#: Bytes at the end of a transcript that a note is made of.
LAST = 2 << 20


class Senses:
    """Of one agent; follows it from run to run."""

    def __init__(self, agent: str, agent_type: str, spool: Path | None = None) -> None:
        self._type = agent_type
        self._spool = Spool(spool, agent) if spool else None
        self._run: tuple[int, int | None] = (0, None)
        self._claude: tuple[Registry, ClaudeTranscript] | None = None
        self._codex: CodexTranscript | None = None

    def read(self, run: Run) -> Iterator[Observation]:
        """What is new since the last call."""
        if self._spool is not None:
            yield from self._spool.read()
        if run.exit is not None or run.pid is None:
            return
        if (run.number, run.pid) != self._run:
            self._meet(run.number, run.pid)
        if self._claude is not None:
            yield from _claude(*self._claude)
        if self._codex is not None and (grew := self._codex.read()) is not None:
            yield grew

    def last_lines(self, session: str, around: Mapping[str, str]) -> tuple[bytes, ...]:
        """The end of the transcript, as far as it was found.

        Of a run that ended before anybody looked after it, that session's: `around` is the
        environment that it was started in.
        """
        if self._claude is not None:
            return self._claude[1].last(LAST)
        if self._codex is not None:
            return self._codex.last(LAST)
        if self._type != "claude" or not session:
            return ()
        folder = config_folder(around)
        return ClaudeTranscript(0).found(Path(folder), session, LAST) if folder else ()

    def _meet(self, run: int, pid: int) -> None:
        self._run = (run, pid)
        claude = self._type == "claude"
        self._claude = (Registry(run, pid), ClaudeTranscript(run)) if claude else None
        self._codex = CodexTranscript(run, pid) if self._type == "codex" else None


def _claude(registry: Registry, transcript: ClaudeTranscript) -> Iterator[Observation]:
    told = registry.read()
    if told is not None:
        yield told
    session = registry.record.get("sessionId")
    # Only the registry proves which session the process is in; another may write to its file, too.
    if registry.config is not None and isinstance(session, str):
        grew = transcript.read(registry.config, session)
        if grew is not None:
            yield grew
