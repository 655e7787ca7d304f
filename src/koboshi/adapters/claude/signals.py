"""What Claude Code tells beside its screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from koboshi.observations import RegistryRead, StatusLineSeen, TranscriptGrew

from .registry import read_registry
from .statusline import read_statusline
from .transcript import read_transcript

if TYPE_CHECKING:
    from koboshi.core.events import SignalRead
    from koboshi.observations import Signal


def read_signal(seen: Signal) -> SignalRead | None:
    """What it says; None when that is nothing."""
    match seen:
        case RegistryRead():
            return read_registry(seen)
        case TranscriptGrew():
            return read_transcript(seen)
        case StatusLineSeen():
            return read_statusline(seen)
        case _:
            assert_never(seen)
