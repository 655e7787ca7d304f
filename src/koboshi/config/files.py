"""A file that a person names on a command line: its rules, or everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path

from koboshi.core.rules import Rule
from koboshi.errors import ConfigBroken, FileUnreadable

from .load import Sheet, read
from .resolve import FILE


def own_rules(config: Path) -> tuple[Rule, ...]:
    """The rules of the user's own file, where it is there and has no mistakes."""
    sheet = read(config / FILE)
    return sheet.book.rules if sheet is not None else ()


def rules_of(name: str) -> tuple[Rule, ...]:
    """The rules of that file; all its mistakes are one error."""
    return sheet_of(name).book.rules


def sheet_of(name: str) -> Sheet:
    """All that this file says; all its mistakes are one error."""
    sheet = read(Path(name))
    if sheet is None:
        raise FileUnreadable(f"{name}: no such file")
    if sheet.mistakes:
        raise ConfigBroken(tuple(str(mistake) for mistake in sheet.mistakes))
    return sheet
