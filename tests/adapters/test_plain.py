"""A screen without styles is read as with them, or refused: it is never read differently."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.adapters.clis import CliAdapter
from koboshi.adapters.registry import adapter
from koboshi.errors import StylesWanted
from tests.adapters.looks import FOUND, look_of

STYLED = [case for case in FOUND if (case / "screen.ansi").exists()]


@pytest.mark.parametrize("case", STYLED, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_without_styles_a_screen_is_read_the_same_or_refused(case: Path) -> None:
    """Every recorded screen that has them."""
    reader, seen = adapter(case.parent.name), look_of(case)
    if not isinstance(reader, CliAdapter):
        pytest.skip("it is never shown one")
    try:
        plain = reader.read(replace(seen, ansi="", plain=True))
    except StylesWanted:
        return
    assert plain == reader.read(seen)


def test_some_screens_are_read_without_and_some_are_not() -> None:
    """Else there would be nothing to gain, or nothing to test."""
    refused = 0
    for case in STYLED:
        reader = adapter(case.parent.name)
        if not isinstance(reader, CliAdapter):
            continue
        try:
            reader.read(replace(look_of(case), ansi="", plain=True))
        except StylesWanted:
            refused += 1
    assert 0 < refused < len(STYLED)
