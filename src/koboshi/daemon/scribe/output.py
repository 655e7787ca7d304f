"""What an agent printed, line by line, from looks at its terminal.

A look shows the end of what was printed, not what is new in it. New is what stands outside the part
that two looks have in common, and it is told once it stood still for two looks, or was pushed out
by others: half a line that is still being written is not told. A row in which only digits and
signs changed (a spinner, a clock, a count) is the row it was.

What is missed: the middle of a burst of more rows than a look shows (`GAP` stands there), and a
line that repeats the very one whose place it takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Stands where a look had nothing in common with the one before it.
GAP = "⋯"
#: Old rows that go with new ones: a key may begin in one and end in the other.
LEAD = 2
#: What moves while a row stays the same row.
_MOVING = re.compile(r"[\W\d_]+")


@dataclass(frozen=True, slots=True)
class Grown:
    """New rows; the first `lead` of them are old, and only there to read the others by."""

    utc: float
    rows: tuple[str, ...]
    lead: int = 0


class Output:
    """The rows of one terminal; remembers the last look, and what of it is not told yet."""

    def __init__(self) -> None:
        self._run, self._utc = 0, 0.0
        self._shown: tuple[str, ...] = ()
        self._untold: frozenset[int] = frozenset()

    def seen(self, run: int, utc: float, shown: tuple[str, ...]) -> Grown | None:
        """What can be told after that look; None when that is nothing."""
        before, untold, then = self._shown, self._untold, self._utc
        self._utc = utc
        if run != self._run:
            self._run, self._shown = run, shown
            self._untold = frozenset(range(len(shown)))
            return _grown(then, before, untold)
        if shown is before or shown == before:
            self._untold = frozenset()
            return _grown(then, before, untold) if untold else None
        self._shown = shown
        if there := _carried(before, shown):  # only new rows below: nearly always
            self._untold = frozenset(range(there, len(shown)))
            return _grown(then, before, untold)
        kept, redrawn, left = _kept(before, shown)
        # A row that was redrawn is not told again; one that has not stood still yet waits on.
        old = {new for new, was in redrawn.items() if was not in untold}
        self._untold = frozenset(range(len(shown))) - kept.keys() - old
        fresh = [shown[n] for n in self._untold]
        grew = {n for n in left if _grew(before[n], fresh)}
        found = _grown(then, before, untold - set(redrawn.values()) - grew)
        if kept or redrawn or grew or not before or not shown:
            return found
        return Grown(then, (*found.rows, GAP), found.lead) if found else Grown(then, (GAP,))

    def rest(self) -> Grown | None:
        """What was not told yet, because nothing follows."""
        untold, self._untold = self._untold, frozenset()
        return _grown(self._utc, self._shown, untold)


def _grown(utc: float, shown: tuple[str, ...], told: frozenset[int]) -> Grown | None:
    if not told:
        return None
    first = min(told)
    lead = shown[max(0, first - LEAD) : first]
    return Grown(utc, (*lead, *(shown[n] for n in sorted(told))), len(lead))


def _carried(before: tuple[str, ...], after: tuple[str, ...]) -> int:
    """How many rows `after` begins with that `before` ends with; 0: it is not so simple."""
    size = len(before)
    for start, row in enumerate(before):
        if after and row == after[0] and before[start:] == after[: size - start]:
            return size - start
    return 0


def _kept(
    before: tuple[str, ...], after: tuple[str, ...]
) -> tuple[dict[int, int], dict[int, int], set[int]]:
    """The rows of `after` that were there, and those that are one redrawn: each → which it was.

    And the rows of `before` that something else stands in the place of; not those scrolled away.
    """
    top = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        top += 1
    start, count = _scrolled(before[top:], after[top:])
    kept = {n: n for n in range(top)}
    kept |= {top + n: top + start + n for n in range(count)}
    left = dict.fromkeys(range(top + start + count, len(before)))
    new = [n for n in range(top + count, len(after)) if not _pair(kept, n, left, before, after)]
    stills = {m: _still(before[m]) for m in left}
    redrawn: dict[int, int] = {}
    for n in new if left else ():
        still = _still(after[n])
        was = next((m for m in left if still and stills[m] == still), None)
        if was is not None:
            redrawn[n] = was
            del left[was]
    return kept, redrawn, set(left)


def _pair(
    kept: dict[int, int],
    n: int,
    left: dict[int, None],
    before: tuple[str, ...],
    after: tuple[str, ...],
) -> bool:
    """Whether that row was there, only elsewhere."""
    was = next((m for m in left if before[m] == after[n]), None)
    if was is None:
        return False
    kept[n] = was
    del left[was]
    return True


def _scrolled(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[int, int]:
    """From which row of `before` on, and how far, `after` begins with the same rows."""
    best = (0, 0)
    for start, row in enumerate(before):
        if not after or row != after[0]:
            continue
        count = 0
        for one, other in zip(before[start:], after, strict=False):
            if one != other:
                break
            count += 1
        if count > best[1]:
            best = (start, count)
    return best


def _grew(row: str, fresh: list[str]) -> bool:
    """Whether one of these is that row with more written, also where its last word was wrapped."""
    return any(
        new.startswith(row) or (row.startswith(new) and len(new) > len(row) // 2) for new in fresh
    )


def _still(row: str) -> str:
    """The row without what moves in it."""
    return _MOVING.sub(" ", row).strip()
