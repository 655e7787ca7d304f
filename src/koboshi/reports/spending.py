"""What sessions used, as each CLI writes it down itself: tokens, and money where it tells.

Claude Code, Codex and Gemini CLI keep a file for each session, OpenCode a database. All of it is
somebody else's: read, bounded, believed only where it is of the expected kind, and never written.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from koboshi.adapters.claude.equip import config_folder
from koboshi.adapters.values import member, money, object_in, tokens, word

from .values import Spent

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
#: Bytes of one line; a longer one holds a picture and no count that is worth the memory.
_LONGEST = 16 << 20
#: Rows of a database that are read, and seconds that are waited for whoever writes to it.
_ROWS, _PATIENCE = 50_000, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whose use is asked for, and of which hours."""

    environment: Mapping[str, str]  #: that it was started in
    sessions: tuple[str, ...]  #: of its CLI, as far as they are known
    folder: str  #: in which it works
    since: float
    until: float

    @property
    def home(self) -> Path | None:
        """Its user's folder, if the environment says."""
        home = self.environment.get("HOME", "")
        return Path(home) if home else None

    def known(self) -> list[str]:
        """The sessions that can be part of a file's name."""
        return [each for each in self.sessions if _ID.fullmatch(each)]

    def within(self, at: float) -> bool:
        """Whether that is in the hours."""
        return self.since <= at <= self.until


def spent(agent_type: str, asked: Asked) -> Spent | None:
    """What was used in those hours; None where nobody tells."""
    reader = _READERS.get(agent_type)
    return reader(asked) if reader else None


# -- Claude Code --------------------------------------------------------------------------------


def _claude(asked: Asked) -> Spent | None:
    config = config_folder(asked.environment)
    files = _found(Path(config), "projects/*/{}.jsonl", asked.known()) if config else []
    answers: dict[str, Spent] = {}  # one answer is written as several lines: the last one counts
    for entry in _entries(files, b'"usage"'):
        if entry.get("type") == "assistant" and asked.within(_at(entry)):
            message = member(entry, "message")
            usage = member(message, "usage")
            read, written = tokens(usage, *_READ), tokens(usage, "output_tokens")
            answers[word(message, "id")] = Spent(read=read, written=written)
    return _sum(answers.values()) if files else None


# -- Codex --------------------------------------------------------------------------------------


def _codex(asked: Asked) -> Spent | None:
    """Its rollouts tell the sum since the session began: what it grew by in those hours counts."""
    home = asked.environment.get("CODEX_HOME", "")
    top = Path(home) if home else asked.home / ".codex" if asked.home else None
    files = _found(top, "sessions/*/*/*/rollout-*{}.jsonl", asked.known()) if top else []
    parts = []
    for path in files:
        before = after = Spent(read=0, written=0)
        for entry in _entries([path], b'"token_count"'):
            at, total = _at(entry), member(member(member(entry, "payload"), "info"), _TOTAL)
            if not total or not at <= asked.until:
                continue
            told = Spent(read=tokens(total, "input_tokens"), written=tokens(total, _OUTPUT))
            before, after = (told if at < asked.since else before), told
        parts.append(_less(after, before))
    return _sum(parts) if files else None


_TOTAL, _OUTPUT = "total_token_usage", "output_tokens"


def _less(after: Spent, before: Spent) -> Spent:
    read, written = after.read - before.read, after.written - before.written
    return Spent(read=max(0, read), written=max(0, written))


# -- Gemini CLI ---------------------------------------------------------------------------------


def _gemini(asked: Asked) -> Spent | None:
    """The file's name has the first part of the session's id; its first line has all of it."""
    top, answers = asked.home, dict[str, Spent]()
    names = sorted({each.split("-")[0] for each in asked.known()})
    files = _found(top, ".gemini/tmp/*/chats/session-*-{}.jsonl", names) if top else []
    ours = [path for path in files if _session_of(path) in asked.sessions]
    for entry in _entries(ours, b'"tokens"'):
        used = member(entry, "tokens")
        if entry.get("type") == "gemini" and used and asked.within(_at(entry)):
            read, written = tokens(used, "input", "tool"), tokens(used, "output", "thoughts")
            answers[word(entry, "id")] = Spent(read=read, written=written)
    return _sum(answers.values()) if ours else None


def _session_of(path: Path) -> str:
    return next((word(entry, "sessionId") for entry in _entries([path], b'"sessionId"')), "")


# -- OpenCode -----------------------------------------------------------------------------------


def _opencode(asked: Asked) -> Spent | None:
    """By its sessions; it takes no id from outside, so else by all sessions of the folder."""
    top = asked.environment.get("XDG_DATA_HOME", "")
    base = Path(top) if top else asked.home / ".local" / "share" if asked.home else None
    file = base / "opencode" / "opencode.db" if base else None
    if file is None or not file.is_file():
        return None
    try:
        with contextlib.closing(_database(file)) as database:
            rows = list(_messages(database, asked))
    except sqlite3.Error:
        return None
    parts = [_of_message(row) for row in rows]
    return _sum(parts) if parts else None


def _database(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)


def _messages(database: sqlite3.Connection, asked: Asked) -> Iterator[dict[str, Any]]:
    known = asked.known()[:500]
    marks = ", ".join("?" * len(known))
    which = f"s.id IN ({marks})" if known else "s.directory = ?"
    rows = database.execute(
        "SELECT m.data FROM message m JOIN session s ON s.id = m.session_id "  # noqa: S608 - marks
        f"WHERE m.time_created BETWEEN ? AND ? AND {which} LIMIT {_ROWS}",
        (asked.since * 1000.0, asked.until * 1000.0, *(known or (asked.folder,))),
    )
    for (data,) in rows:
        if isinstance(data, str):
            yield object_in(data.encode())


def _of_message(message: dict[str, Any]) -> Spent:
    used = member(message, "tokens")
    read = tokens(used, "input") + tokens(member(used, "cache"), "read", "write")
    cost = money(message, "cost") or None
    return Spent(read=read, written=tokens(used, "output", "reasoning"), cost=cost)


# -- parts --------------------------------------------------------------------------------------

_READERS: dict[str, Callable[[Asked], Spent | None]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}


def _found(top: Path, pattern: str, names: Iterable[str]) -> list[Path]:
    """The files of those names; an id is letters, digits and hyphens, so no pattern of its own."""
    return [path for name in names for path in sorted(top.glob(pattern.format(name)))]


def _entries(files: Iterable[Path], mark: bytes) -> Iterator[dict[str, Any]]:
    """The lines with that mark in them, read."""
    for path in files:
        with contextlib.suppress(OSError), path.open("rb") as file:
            while line := file.readline(_LONGEST):
                if mark in line:
                    yield object_in(line)


def _at(entry: dict[str, Any]) -> float:
    try:
        return datetime.fromisoformat(word(entry, "timestamp")).timestamp()
    except (ValueError, OverflowError):
        return float("nan")  # in no hours


def _sum(parts: Iterable[Spent]) -> Spent:
    read = written = 0
    costs = list[float]()
    for each in parts:
        read, written = read + each.read, written + each.written
        costs += [each.cost] if each.cost is not None else []
    return Spent(read=read, written=written, cost=round(sum(costs), 6) if costs else None)
