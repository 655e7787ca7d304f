"""Adapters by name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from koboshi.errors import UnknownAgent

from .claude import ClaudeAdapter
from .codex import CodexAdapter
from .gemini import GeminiAdapter
from .generic import GenericAdapter
from .opencode import OpenCodeAdapter
from .scripted import ScriptedAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import Adapter

_BUILT_IN: dict[str, Callable[[], Adapter]] = {
    "claude": ClaudeAdapter,
    "codex": CodexAdapter,
    "gemini": GeminiAdapter,
    "generic": GenericAdapter,
    "opencode": OpenCodeAdapter,
    "scripted": ScriptedAdapter,
}


def names() -> tuple[str, ...]:
    """The agents known, sorted."""
    return tuple(sorted(_BUILT_IN))


def program_type(argv: tuple[str, ...]) -> str:
    """Which adapter a command line is for; any other program is `generic`."""
    for word in argv[:3]:
        name = word.rpartition("/")[2]
        if name in _BUILT_IN:
            return name
    return "generic"


@cache
def adapter(name: str) -> Adapter:
    """The adapter of that name; UnknownAgent names the known ones."""
    made = _BUILT_IN.get(name)
    if made is None:
        message = f"expected one of {', '.join(names())}, not {name!r}"
        raise UnknownAgent(message)
    return made()
