"""Tokens that sessions of Claude Code used: its transcripts tell them with every answer."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from koboshi.adapters.values import member, object_in, tokens, word

from .values import Spent

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
#: Bytes of one line; a longer one holds a picture and no count that is worth the memory.
_LONGEST = 16 << 20


def spent(config: str, sessions: Iterable[str], since: float, until: float) -> Spent | None:
    """What these sessions used in those hours; None when none of them can be found."""
    files = [f for s in sessions if _ID.fullmatch(s) for f in _files(config, s)]
    if not files:
        return None
    answers: dict[str, Spent] = {}  # one answer is written as several lines: the last one counts
    for path in files:
        for entry in _answers(path):
            if since <= _at(entry) <= until:
                message = member(entry, "message")
                answers[word(message, "id")] = _used(member(message, "usage"))
    return Spent(
        read=sum(each.read for each in answers.values()),
        written=sum(each.written for each in answers.values()),
    )


def _files(config: str, session: str) -> list[Path]:
    return sorted(Path(config).glob(f"projects/*/{session}.jsonl")) if config else []


def _answers(path: Path) -> Iterator[dict[str, Any]]:
    with contextlib.suppress(OSError), path.open("rb") as file:
        while line := file.readline(_LONGEST):
            if b'"usage"' in line:
                entry = object_in(line)
                if entry.get("type") == "assistant":
                    yield entry


def _at(entry: dict[str, Any]) -> float:
    try:
        return datetime.fromisoformat(word(entry, "timestamp")).timestamp()
    except (ValueError, OverflowError):
        return float("nan")  # in no hours


def _used(usage: dict[str, Any]) -> Spent:
    return Spent(
        read=sum(tokens(usage, key) for key in _READ), written=tokens(usage, "output_tokens")
    )
