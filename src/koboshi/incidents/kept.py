"""Bundles and prompts that koboshi wrote about an agent, for whoever wants to have one.

Rule 1: a file is found by its name among ours; no name is made into a path, so none can climb.
Rule 2: it is opened without following a link, and must be a file of our own.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from koboshi.errors import InputError

from .bundles import SUFFIX, is_ours

if TYPE_CHECKING:
    from pathlib import Path

#: What is kept, by the word that asks for it: folder and suffix.
KINDS = {"bundle": ("bundles", SUFFIX), "prompt": ("prompts", ".md")}
#: Bytes that are told at once.
PIECE = 256 << 10
#: Files that are listed, and characters of a prompt that are shown.
MOST, LONGEST = 50, 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One file."""

    name: str
    utc: float
    size: int

    def facts(self) -> dict[str, Any]:
        """For JSON; the keys are a public contract (docs/reference/json.md)."""
        return {"name": self.name, "utc": round(self.utc, 3), "size": self.size}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of one; `mark` is another one when the file is."""

    content: bytes
    size: int
    mark: str


def kept(folder: Path, kind: str) -> list[Kept]:
    """The files of that kind in an agent's folder, newest first."""
    place, suffix = KINDS[kind]
    found = []
    with contextlib.suppress(OSError):
        for path in (folder / place).iterdir():
            with contextlib.suppress(OSError):
                seen = path.lstat()
                if is_ours(path.name, suffix) and _own(seen):
                    found.append(Kept(name=path.name, utc=seen.st_mtime, size=seen.st_size))
    return sorted(found, key=lambda each: (each.utc, each.name), reverse=True)[:MOST]


def piece(folder: Path, kind: str, name: str, offset: int, size: int = PIECE) -> Piece:
    """What stands in that file from that byte on; `InputError` where there is no such file."""
    place, _ = KINDS[kind]
    if name not in {each.name for each in kept(folder, kind)}:
        raise InputError(f"expected the name of a {kind}, not {name!r}")
    try:
        descriptor = os.open(folder / place / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        seen = os.fstat(descriptor)
        if not _own(seen):
            raise InputError(f"{name} is not koboshi's")
        file.seek(max(0, offset))
        mark = f"{seen.st_ino}.{seen.st_size}.{seen.st_mtime_ns}"
        return Piece(content=file.read(size), size=seen.st_size, mark=mark)


def text_of(folder: Path, kind: str, name: str) -> str:
    """The words of one."""
    return piece(folder, kind, name, 0).content.decode("utf-8", "replace")[:LONGEST]


def _own(seen: os.stat_result) -> bool:
    return stat.S_ISREG(seen.st_mode) and seen.st_uid == os.getuid()
