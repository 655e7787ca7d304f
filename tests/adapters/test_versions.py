"""Versions as CLIs print them, and ranges."""

from __future__ import annotations

import pytest

from koboshi.adapters.versions import printed_version, within


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.1.197 (Claude Code)", "2.1.197"),
        ("codex-cli 0.166.0\n", "0.166.0"),
        ("0.61.0", "0.61.0"),
        ("v1.18.33", "1.18.33"),
        ("opencode 1.18", "1.18"),
        ("no version", ""),
        ("", ""),
        ("127.0.0.1.5", ""),
    ],
)
def test_a_version_is_found_in_what_was_printed(text: str, expected: str) -> None:
    """Whatever stands around it."""
    assert printed_version(text) == expected


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [
        ("2.1.197", ">=1.0,<3", True),
        ("3.0.0", ">=1.0,<3", False),
        ("0.166.0", ">=0.166", True),
        ("0.77.0", ">=0.166", False),
        ("1.0", "==1", True),
        ("1.0.1", ">1.0, <=1.0.1", True),
        ("", ">=1", None),
        ("unknown", ">=1", None),
    ],
)
def test_a_version_is_in_a_range_or_not_known(
    version: str, bounds: str, *, expected: bool | None
) -> None:
    """Numbers are compared as numbers: 0.77 is before 0.166."""
    assert within(version, bounds) is expected


@pytest.mark.parametrize("bounds", ["", "2.1", ">=x", ">=1 <2", "~=1"])
def test_what_is_no_range_is_an_error(bounds: str) -> None:
    """Found when the manifest is read."""
    with pytest.raises(ValueError, match="expected a range"):
        within("1.0", bounds)
