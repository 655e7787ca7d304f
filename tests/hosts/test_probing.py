"""The version of a CLI, asked of the program itself."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from koboshi.hosts.probing import version_of


def program(folder: Path, body: str, name: str = "claude") -> str:
    """An executable of that name."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('[ "$*" = --version ] && echo "2.1.325 (Claude Code)"', "2.1.325"),
        ("echo no number", ""),
        ("exit 3", ""),
        ("echo 1.2.3 >&2", ""),
    ],
)
def test_a_program_says_its_version_or_it_does_not(
    tmp_path: Path, body: str, expected: str
) -> None:
    """A person's options are not part of the question."""
    argv = (program(tmp_path, body), "--model", "x", "do it")

    assert asyncio.run(version_of(argv)) == expected


def test_the_program_is_looked_for_where_it_will_be_started_from(tmp_path: Path) -> None:
    """The PATH is the one of who asked for the run."""
    program(tmp_path, "echo 2.1.325")

    assert asyncio.run(version_of(("claude",), env={"PATH": str(tmp_path)})) == "2.1.325"
    assert asyncio.run(version_of(("claude",), env={"PATH": "/nowhere"})) == ""


def test_a_program_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    """With everything that it started."""
    argv = (program(tmp_path, "sleep 60 & sleep 60"),)
    begin = time.monotonic()

    assert asyncio.run(version_of(argv, patience=0.3)) == ""
    assert time.monotonic() - begin < 10


def test_a_program_that_is_not_known_is_not_asked(tmp_path: Path) -> None:
    """It might begin to work."""
    mark = tmp_path / "began"
    argv = (program(tmp_path, f"touch {mark}; echo 1.2.3", name="start-agent"),)

    assert asyncio.run(version_of(argv)) == ""
    assert not mark.exists()
    assert asyncio.run(version_of(("no/such/claude",))) == ""
