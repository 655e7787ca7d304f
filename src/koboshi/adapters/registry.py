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
from .words import find_program, shell_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import Adapter

#: Adapters that a manifest makes: a user's own goes on top of it, and it may differ by version.
_BY_MANIFEST: dict[str, Callable[[str | None, str], Adapter]] = {
    "claude": ClaudeAdapter,
    "codex": CodexAdapter,
    "gemini": GeminiAdapter,
    "opencode": OpenCodeAdapter,
}
_BY_CODE: dict[str, Callable[[], Adapter]] = {
    "generic": GenericAdapter,
    "scripted": ScriptedAdapter,
}


def names() -> tuple[str, ...]:
    """The agents known, sorted."""
    return tuple(sorted(_BY_MANIFEST | _BY_CODE))


def has_manifest(name: str) -> bool:
    """Whether a user's manifest can go on top of that adapter's, and its version matters."""
    return name in _BY_MANIFEST


def program_type(argv: tuple[str, ...]) -> str:
    """The adapter for that command line, whatever wraps the CLI; `generic` when it names none."""
    found = find_program(shell_words(argv)[1])
    return found[0] if found else "generic"


@cache
def adapter(name: str, override: str | None = None, version: str = "") -> Adapter:
    """The adapter of that name, for that version of its CLI, with the user's manifest on top.

    UnknownAgent names the known ones; ManifestBroken says what is wrong with the user's manifest.
    """
    if name in _BY_MANIFEST:
        return _BY_MANIFEST[name](override, version)
    if name in _BY_CODE:
        return _BY_CODE[name]()
    message = f"expected one of {', '.join(names())}, not {name!r}"
    raise UnknownAgent(message)
