"""Decisions and outcomes alone, read into place: for who reads the days of many agents at once.

Everything else in a journal is passed over unread, and of an outcome only what its key finds again
is kept. That takes a third of the time of `wire.read_line`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from koboshi.core.engine import Decision
from koboshi.core.events import ActionFinished, Ending, Moment
from koboshi.core.gate import Verdict, Word
from koboshi.core.rules import Finding
from koboshi.errors import JournalDamaged

from .wire import NOT_A_RECORD, Judged, read_action


class Kind(msgspec.Struct):
    """Of an action only what it is."""

    kind: str


class Ended(msgspec.Struct):
    """Of an outcome as much as its key finds again."""

    key: str
    action: Kind
    ending: Ending
    why: str = ""

    @classmethod
    def of(cls, body: ActionFinished) -> Ended:
        """The same of an outcome that was read as a whole."""
        outcome, kind = body.outcome, Kind(kind=body.action.kind)
        return cls(key=body.key, action=kind, ending=outcome.ending, why=outcome.why)


class _Judgement(msgspec.Struct):
    at: float
    utc: float
    cause: int
    word: Word
    why: str
    finding: Finding
    action: dict[str, Any]


_ended = msgspec.json.Decoder(Ended).decode
_judgement = msgspec.json.Decoder(_Judgement).decode


def read_brief(line: bytes) -> Judged | Ended | None:
    """A decision or an outcome; None for any other line; `JournalDamaged` as `read_line`."""
    try:
        if line.startswith(b'{"k":"finished"'):
            return _ended(line)
        if not line.startswith((b'{"k":"admitted"', b'{"k":"held"')):
            return None
        raw = _judgement(line)
        action, verdict = read_action(raw.action), Verdict(word=raw.word, why=raw.why)
    except NOT_A_RECORD as error:
        raise JournalDamaged(f"expected a journal record, not {line[:60]!r} ({error})") from error
    now = Moment(at=raw.at, utc=raw.utc)
    judged = Decision(finding=raw.finding, action=action, verdict=verdict, cause=raw.cause, now=now)
    return Judged(decision=judged)
