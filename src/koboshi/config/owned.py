"""What the owner's file says about the outside, and whether it was changed since."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .load import read
from .mistakes import Mistake
from .model import File
from .resolve import FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """The owner's tables, and what is wrong in the file."""

    file: File
    mistakes: tuple[Mistake, ...] = ()


def owned(config: Path) -> Owned:
    """What the owner's file says now; `config` is its folder."""
    sheet = read(config / FILE)
    if sheet is None:
        return Owned(file=File())
    return Owned(file=sheet.model, mistakes=sheet.mistakes)


def stamp(config: Path) -> tuple[int, int]:
    """Differs when the file was changed."""
    try:
        found = (config / FILE).stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
