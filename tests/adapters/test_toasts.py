"""Words that a program lays over the corner of its screen: cut out, and never taken for others."""

from __future__ import annotations

import pytest

from koboshi.adapters.grammar.toasts import cut_toast
from koboshi.adapters.registry import adapter
from koboshi.core.readings import Status
from koboshi.observations import ScreenSeen

COLS = 60
BOX = ["  ┃", "  ┃  Build · Scripted One Lab", "  ╹" + "▀" * 40, "   ~/proj       ctrl+p commands"]


def laid_over(rows: list[str], *lines: str, first: int = 2) -> list[str]:
    """These rows, with a toast of these lines in the corner."""
    wide = max(map(len, lines))
    inner = ["", *(f"  {line}" for line in lines), ""]
    shown = [f"┃{text.ljust(wide + 4)}┃" for text in inner]
    rows = rows + [""] * (first + len(shown) - len(rows))
    return [
        row[: COLS - 2 - wide - 6].ljust(COLS - 2 - wide - 6) + shown[n - first]
        if first <= n < first + len(shown)
        else row
        for n, row in enumerate(rows)
    ]


@pytest.mark.parametrize("lines", [("no such key",), ("a long story", "of what went wrong")])
def test_a_toast_is_cut_out(lines: tuple[str, ...]) -> None:
    """What stands to the left of it stays, whatever its length."""
    rows = ["", "  ┃", "  ┃  Try.", "  ┃", "", "     An answer.", "  ┃  日本語"]

    assert cut_toast(laid_over(rows, *lines), COLS)[1] == " ".join(lines)
    assert cut_toast(laid_over(rows, *lines), COLS)[0][: len(rows)] == rows


@pytest.mark.parametrize(
    "rows",
    [
        [],
        ["", "  ┃", "  ┃  Try."],
        [f"{' ' * 40}┃  a            ┃"] * 5,  # a table: its first row is not blank
        [f"{' ' * 20}┃    ┃", f"{' ' * 20}┃  a ┃", f"{' ' * 20}┃    ┃"],  # not at the edge
        laid_over([], "x", first=9),  # not at the top
    ],
)
def test_what_an_agent_draws_is_none(rows: list[str]) -> None:
    """Only a frame at the edge of the corner is one."""
    assert cut_toast(rows, COLS) == (rows, "")


def opencode(rows: list[str]) -> Status:
    """What is read there."""
    text = "\n".join((*rows, *[""] * 5, *BOX))
    return adapter("opencode").read(ScreenSeen(text=text, command="opencode", cols=COLS)).status


def test_an_end_under_a_toast_waits_for_what_it_is_about() -> None:
    """The error's own panel is drawn after the toast; until then it looks like a refusal."""
    rows = ["", "  ┃", "  ┃  Try.", "  ┃", "", "     $ touch x", "", "     ▣  Build · Scripted One"]

    assert opencode(rows) is Status.IDLE
    assert opencode(laid_over(rows, "no such key")) is Status.UNKNOWN
    rows[-1] += " · 1.2s"
    assert opencode(laid_over(rows, "no such key")) is Status.IDLE
