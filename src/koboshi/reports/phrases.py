"""Phrases that the text and the page share."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from .values import Doing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .values import Mishap, Reply, Restart, Spent

#: A mark for each thing an agent can be doing: colours are not seen by everybody.
MARKS = {
    Doing.WORKING: "█",
    Doing.IDLE: "▁",
    Doing.ASKING: "?",
    Doing.LIMITED: "=",
    Doing.DOWN: "x",
    Doing.ENDED: " ",
    Doing.UNKNOWN: "·",
    Doing.UNSEEN: "·",
}


def lasting(seconds: float) -> str:
    """`8h12m`, `12m`, `40s`."""
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004 - a minute
        return f"{whole}s"
    hours, minutes = divmod(whole // 60, 60)
    if not hours:
        return f"{minutes}m"
    return f"{hours}h{minutes:02d}m" if minutes else f"{hours}h"


def counted(mishaps: Iterable[Mishap]) -> str:
    """`429 ×3, network`."""
    counts = Counter(each.what for each in mishaps)
    return ", ".join(what if n == 1 else f"{what} ×{n}" for what, n in counts.most_common())


def reply(each: Reply) -> str:
    """What was asked, and what became of it."""
    about = each.subject or each.question or "a question"
    if not each.rule:
        return f"{about} – answered in its terminal"
    ending = "" if each.ending == "done" else f" ({each.ending})"
    return f"{about} – {each.answer}{ending}, by {each.rule}"


def restart(each: Restart) -> str:
    """Which run began, how, and what ended the one before."""
    return f"run {each.run}, {each.origin}: {each.why}"


def in_rows(told: Iterable[tuple[float, str]]) -> list[str]:
    """`08:04 git status ×6`: what was told in a row in the same words is one row."""
    rows: list[tuple[float, str, int]] = []
    for at, words in told:
        if rows and rows[-1][1] == words:
            rows[-1] = (rows[-1][0], words, rows[-1][2] + 1)
        else:
            rows.append((at, words, 1))
    return [f"{clock(at)} {words}{f' ×{n}' if n > 1 else ''}" for at, words, n in rows]


def clock(utc: float) -> str:
    """The time of day, as clocks here show it."""
    return f"{datetime.fromtimestamp(utc).astimezone():%H:%M}"


def tokens(spent: Spent) -> str:
    """`1.2 M read, 34 k written, $0.42`."""
    money = f", ${spent.cost:.2f}" if spent.cost is not None else ""
    return f"{_size(spent.read)} read, {_size(spent.written)} written{money}"


def _size(count: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + f" {unit}"
    return str(count)
