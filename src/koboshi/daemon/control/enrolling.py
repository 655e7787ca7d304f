"""What is said of an agent that shall be looked after."""

from __future__ import annotations

import msgspec

from koboshi.adapters.registry import adapter, names
from koboshi.core.actions import Mode
from koboshi.errors import InputError


class RunArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`run`."""

    argv: list[str]
    cwd: str
    type: str
    environment: dict[str, str]
    name: str = ""
    mode: str = ""  #: empty: as it is configured
    variables: dict[str, str] = {}


class WatchArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`watch`."""

    target: str
    socket: str | None = None
    type: str = ""
    name: str = ""
    mode: str = ""  #: empty: as it is configured
    variables: dict[str, str] = {}
    argv: list[str] = []


def type_of(word: str) -> str:
    """The type of that name, or an error that names the known ones."""
    adapter(word)
    return word if word in names() else "generic"


def mode_of(word: str) -> str:
    """A mode, or none."""
    if word and word.upper() not in Mode.__members__:
        raise InputError(f"expected observe, keep or auto, not {word!r}")
    return word.lower()
