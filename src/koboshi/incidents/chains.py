"""The end of a journal in words: what was seen, what was decided, what came of it."""

from __future__ import annotations

import time
from pathlib import Path

from koboshi.core.events import Context
from koboshi.errors import JournalError
from koboshi.store import wire
from koboshi.store.shelves import in_order
from koboshi.store.wording import action_words, event_words, verdict_words

from .bundles import tail

#: Bytes of the journal's end that are read.
LAST = 1 << 20


def last_lines(journal: Path, most: int = LAST) -> str:
    """The end of the journal as it is; a new segment alone may say too little."""
    names = in_order(path.name for path in journal.iterdir()) if journal.is_dir() else ()
    text = ""
    for name in reversed(names[-2:]):
        text = tail(journal / name, most) + text
        if len(text) >= most // 2:
            break
    return text


def chain(lines: str, count: int = 400) -> str:
    """These lines in words, the last so many; what cannot be read is passed over."""
    said = []
    for line in lines.splitlines():
        try:
            record = wire.read_line(line.encode(), Context(agent=""))
        except JournalError:
            continue
        said += _words(record)
    return "".join(f"{row}\n" for row in said[-count:])


def _words(record: wire.Record) -> list[str]:
    if isinstance(record, wire.Seen):
        event = record.event
        words = f"{event.id} {event.severity.value} {event_words(event.body)}"
        return [f"{_when(event.now.utc)} {words}"]
    if isinstance(record, wire.Judged):
        decision = record.decision
        finding, done = decision.finding, action_words(decision.action)
        return [f"  {finding.code} {finding.message} → {done} – {verdict_words(decision.verdict)}"]
    if isinstance(record, wire.Touched):
        return [f"  touched {record.key}"]
    return [f"{_when(record.now.utc)} a segment begins"]


def _when(utc: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(utc))
