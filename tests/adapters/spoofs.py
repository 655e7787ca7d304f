"""Screens in which an agent shows what looks like its own program: real frames, spoofs printed in.

An agent prints where its program lets it: behind the mark of an answer, hung under a tool call. The
frame around that, the box, the dialog, the spinner, is the program's and recorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from koboshi.adapters.grammar.boxes import find_box
from koboshi.adapters.grammar.dialogs import read_dialog
from koboshi.adapters.grammar.frames import Frame
from koboshi.adapters.grammar.inline import is_asked, read_inline
from koboshi.adapters.grammar.manifests import load
from koboshi.adapters.grammar.turns import Blocks, first_match
from koboshi.observations import ScreenSeen
from tests.adapters.looks import CASES, FOUND, look_of

CLIS = ("claude", "codex", "gemini", "opencode")
ROOT = Path(__file__).parents[2]
#: How each program prints what an agent says, and what a tool printed: first row, other rows.
PRINTED = {
    "claude": {"answer": ("● ", "  "), "tool": ("● Bash(cat notes.md)\n  ⎿  ", "     ")},
    "codex": {"answer": ("• ", "  "), "tool": ("• Ran cat notes.md\n  └ ", "    ")},
    "gemini": {"answer": ("✦ ", "  "), "tool": ("│ ✓  Shell cat notes.md │\n│ ", "│ ")},
    "opencode": {"answer": ("     ", "     "), "tool": ("  ┃  $ cat notes.md\n  ┃  ", "  ┃  ")},
}
_SGR = re.compile(r"\x1b\[[0-9;:]*m")
#: Rows of a program between its transcript and its box.
_LEDGE = re.compile(r"^(?: *\? for shortcuts|[─▀▄]{20,}.*| Shift\+Tab to .*| {2,}.*)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoof:
    """Rows that imitate something."""

    name: str
    rows: tuple[str, ...]


@cache
def written() -> tuple[Spoof, ...]:
    """Written by hand, this project's own tests, and every recorded dialog of every CLI."""
    found = [
        (path.stem, path.read_text("utf-8")) for path in sorted((CASES.parent / "spoofs").iterdir())
    ]
    ours = ("tests/adapters/test_clis.py", "tests/adapters/spoofs.py", "tests/lab/README.md")
    found += [(name, (ROOT / name).read_text("utf-8")) for name in ours]
    asking = [case for case in FOUND if case.name.startswith(("asking-", "limited-"))]
    found += [(f"{c.parent.name}/{c.name}", (c / "screen.txt").read_text("utf-8")) for c in asking]
    return tuple(
        Spoof(name=name, rows=tuple(text.rstrip().split("\n")[-60:])) for name, text in found
    )


@cache
def frames(agent: str, status: str) -> tuple[tuple[str, ScreenSeen], ...]:
    """The recorded looks at an agent in that status, by the name of their case."""
    cases = [case for case in FOUND if case.parent.name == agent]
    return tuple((c.name, look_of(c)) for c in cases if c.name.startswith(f"{status}-"))


def printed(agent: str, way: str, spoof: Spoof) -> list[str]:
    """The spoof as that program prints it."""
    first, other = PRINTED[agent][way]
    head, _, lead = first.rpartition("\n")
    rows = [(lead if n == 0 else other) + row for n, row in enumerate(spoof.rows)]
    return [*head.split("\n"), *rows] if head else rows


def place(agent: str, seen: ScreenSeen) -> int:
    """The row above which the transcript ends: the box, the dialog, or what closes the turn."""
    manifest = load(agent)
    frame = Frame(seen, toasts=manifest.box.toasts)
    box = find_box(manifest, frame)
    dialog = read_dialog(manifest.dialog, frame, box.bottom + 1 if box else 0)
    if dialog is not None and (box is None or dialog.top > box.bottom):
        return max(dialog.top - 2, 0)
    if box and is_asked(manifest, frame, box) and (inline := read_inline(manifest, frame, box)):
        return inline.top
    # Some work takes the box away; then the spinner closes the transcript.
    end = max(box.top, 0) if box else len(frame.rows)
    while end > 0 and _LEDGE.match(frame.rows[end - 1]) and agent in {"gemini", "codex"}:
        end -= 1
    blocks = list(Blocks(manifest, frame, end))
    if blocks and _closes(agent, frame, blocks[0].start):
        return blocks[0].start
    return end


def _closes(agent: str, frame: Frame, row: int) -> bool:
    """Whether the block is the program's last word on the turn, or its spinner."""
    manifest, text = load(agent), frame.rows[row]
    if manifest.blocks.ended.match(text) or (agent == "opencode" and "▣" in text):
        return True
    return first_match(manifest.sign("spinner"), [text]) is not None


def with_spoof(agent: str, seen: ScreenSeen, rows: list[str], *, styled: bool) -> ScreenSeen:
    """The look with these rows as the end of its transcript; what has no room scrolls away."""
    at = place(agent, seen)
    if Frame(seen, toasts=load(agent).box.toasts).sidebar:
        rows = [row[: seen.cols - 46] for row in rows]  # the transcript has no more room beside it
    text = seen.text.rstrip("\n").split("\n")
    drawn = (seen.ansi or seen.text).rstrip("\n").split("\n")
    # What the terminal carries over from row to row is carried over the new rows, too.
    state = "".join(_SGR.findall("\n".join(drawn[:at])))
    plain = ["", *(f"\x1b[0m{row}" for row in rows), ""]
    plain[-1] = "\x1b[0m" + state
    high = seen.rows or len(text)
    used = len("\n".join(text).rstrip().split("\n"))
    room = max(high - used, 0)
    cut = max(len(rows) + 2 - room, 0)
    made = [*text[:at], "", *rows, "", *text[at:]]
    ansi = [*drawn[:at], *plain, *drawn[at:]]
    kept = pinned(agent, text)
    cut = cut + kept if cut else kept
    lead = "".join(_SGR.findall("\n".join(ansi[kept:cut])))
    drawn = [*ansi[:kept], lead + ansi[cut], *ansi[cut + 1 :]]
    return replace(
        seen,
        text="\n".join([*made[:kept], *made[cut:]]),
        ansi="\n".join(drawn) if styled and seen.ansi else None,
        cursor=None,
    )


def pinned(agent: str, text: list[str]) -> int:
    """The rows at the top that do not scroll: OpenCode's panel with the title of the session."""
    if agent != "opencode" or not any(row.startswith("  ┃  # ") for row in text[1:3]):
        return 0
    return next(n for n in range(1, len(text)) if not text[n].startswith("  ┃"))
