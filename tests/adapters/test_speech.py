"""Which rows are an agent's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.adapters.registry import adapter, names

CLAUDE = """\
> fix the crash
● I'll look at the log first.
  It may say Fatal error somewhere.
● Bash(cat server.log)
  ⎿  Fatal error: in the file
     SIGKILL in the file
● Read(notes.md)
  ⎿  Read 12 lines
● Bash(make)
  ⎿  Error: Exit code 2
     make: *** Fatal error
● It crashed again.
node:internal: Unhandled rejection
    at x.js:1
"""
OWN = [
    "● I'll look at the log first.",
    "  It may say Fatal error somewhere.",
    "  ⎿  Error: Exit code 2",
    "● It crashed again.",
    "node:internal: Unhandled rejection",
    "    at x.js:1",
]


def own(kind: str, text: str) -> list[str]:
    """The rows that are own."""
    rows = tuple(text.splitlines())
    return [row for row, is_own in zip(rows, adapter(kind).own(rows), strict=True) if is_own]


@pytest.mark.parametrize("kind", ["claude", "scripted"])
def test_messages_errors_and_crashes_are_own(kind: str) -> None:
    """What a tool printed, a file that is shown and a person's words are not."""
    assert own(kind, CLAUDE) == OWN


def test_codex_marks_its_blocks_otherwise() -> None:
    """Commands and what came of them."""
    text = "› go\n• Ran cat x\n  └ Fatal error\n    SIGTERM\n• It crashed.\n  Really."

    assert own("codex", text) == ["• It crashed.", "  Really."]


def test_of_a_program_that_is_not_known_every_row_is_own() -> None:
    """Nothing is known of its layout."""
    assert own("generic", "a\n  b") == ["a", "  b"]


def test_rows_of_a_block_that_began_out_of_sight_are_not_own() -> None:
    """It cannot be told whose they are."""
    assert own("claude", "     Fatal error\n● Done.") == ["● Done."]


@pytest.mark.parametrize("kind", names())
def test_every_screen_that_we_have_can_be_split(kind: str) -> None:
    """Each row is own or not, in every recorded case."""
    cases = sorted(Path("tests/cases/screens", kind).glob("*/screen.txt"))
    texts = [tuple(case.read_text(encoding="utf-8").splitlines()) for case in cases]

    assert texts
    assert all(len(adapter(kind).own(rows)) == len(rows) for rows in texts)
