"""What the hook shim sends, as observations. Whatever runs as the user may write here."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from koboshi.observations import HookFired, StatusLineSeen

#: Bytes of one line; the shim sends less.
MOST = 1 << 20
#: How a sender may fail us; its line is lost then, or waits in the spool.
LOST = (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError)

_decode = msgspec.json.Decoder().decode


def object_of(line: bytes) -> dict[str, Any] | None:
    """The JSON object on that line; None when there is none."""
    if len(line) > MOST:
        return None
    try:
        value = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def unpack(line: bytes, *, agent: str, utc: float) -> HookFired | StatusLineSeen | None:
    """The observation in that line; None when it is none, or another agent's."""
    envelope = object_of(line)
    if envelope is None:
        return None
    payload, run, sent = (envelope.get(key) for key in ("payload", "run", "utc"))
    number = run if type(run) is int and run > 0 else None
    if envelope.get("agent") != agent or not isinstance(payload, dict):
        return None
    if envelope.get("kind") == "statusline":
        return None if number is None else StatusLineSeen(run=number, payload=payload)
    if envelope.get("kind") != "hook":
        return None
    age = utc - sent if isinstance(sent, int | float) else 0.0
    waits = envelope.get("waits") is True
    return HookFired(payload=payload, run=number, age=max(0.0, age), waits=waits)
