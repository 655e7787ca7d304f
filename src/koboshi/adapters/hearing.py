"""Hearing: new lines of an agent's own, and what in them rules listen for.

Patterns are RE2's: they take linear time, whatever a line or a pattern is, and hundreds of them are
searched in one pass. `ERRORS` is no pattern: errors are told apart by their words without what
differs from one time to the next, and each of them is heard as a thing of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from koboshi.core.events import Heard
from koboshi.core.readings import added
from koboshi.core.rules import ERRORS

#: Characters of a pattern, of a line that is looked at, and of one that is kept.
LONGEST, LONGEST_LINE, LONGEST_KEPT = 500, 2000, 200
#: Kinds of errors that are told of in one go.
MOST_ERRORS = 16
#: An error as programs word it, not as people speak of one.
_ERROR = re.compile(
    r"^\W*(?:API )?Error\b"
    r"|(?<!\w)(?:\w*(?:Error|Exception)|error|fatal|panic)(?:\[\w+\]| ?\([^)\n]{0,80}\))?: "
    r"|\bE(?:CONN|NO|ACC|PERM|TIMED|ADDR|PIPE|HOST|NET)[A-Z]+\b",
    re.MULTILINE,
)
#: In every such error, and in few other lines; asked first, for it takes a tenth of the time.
_MAYBE_ERROR = re.compile(
    r"rror|xception|fatal|panic|E(?:CONN|NO|ACC|PERM|TIMED|ADDR|PIPE|HOST|NET)[A-Z]"
)
#: What differs from one time to the next: numbers, ids, paths, quoted words.
_VARIES = re.compile(
    r"""0x[0-9a-f]+|\b[0-9a-f]{8,}\b|(?:/[\w.@+-]+)+|"[^"\n]*"|'[^'\n]*'|\d+""", re.IGNORECASE
)
#: Ends of a whole text, which a line in a batch has not.
_ENDS = (r"\A", r"\z", r"\Z")
_ROOM = re.compile(r"[\W_]+")


def objection(pattern: str) -> str:
    """Why a pattern cannot be used; empty: it can."""
    if len(pattern) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    re2, options = _re2()
    try:
        re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0]
        return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return ""


def found(pattern: str, line: str) -> bool:
    """Whether the pattern is found in that line."""
    re2, options = _re2()
    return re2.compile(pattern, options=options).search(line[:LONGEST_LINE]) is not None


def is_error(text: str) -> bool:
    """Whether a line of it is an error as programs word it."""
    return _MAYBE_ERROR.search(text) is not None and _ERROR.search(text) is not None


def normalised(line: str) -> str:
    """An error without what differs from one time to the next."""
    return _ROOM.sub(" ", _VARIES.sub(" ", line)).strip().lower()[:LONGEST_KEPT]


class Ear:
    """Hears what it was told to listen for."""

    def __init__(self, patterns: Iterable[str]) -> None:
        wanted = dict.fromkeys(patterns)
        self._errors = ERRORS in wanted
        self._patterns = tuple(each for each in wanted if each != ERRORS)
        self._set: Any = None
        self._alone = any(end in each for each in self._patterns for end in _ENDS)
        if self._patterns:
            re2, options = _re2()
            self._set = re2.Set.SearchSet(options)
            for pattern in self._patterns:
                self._set.Add(f"(?m:{pattern})")  # `^` and `$` are ends of a line in a batch, too
            self._set.Compile()

    def pricks(self, lines: Iterable[str]) -> bool:
        """Whether something may stand in these lines: all are asked as quickly as one."""
        if self._alone:
            return True
        text = "\n".join(map(_plain, lines))
        heard = self._set is not None and self._set.Match(text)
        return bool(heard) or (self._errors and is_error(text))

    def hear(self, lines: Iterable[str]) -> tuple[Heard, ...]:
        """What stands in these lines."""
        rows = [_plain(line) for line in lines]
        if not self.pricks(rows):
            return ()
        times, texts = Counter[str](), dict[str, str]()
        for row in rows:
            for what in self._said(row):
                times[what] += 1
                texts[what] = row.strip()[:LONGEST_KEPT]
        heard = [Heard(what=what, text=texts[what], times=count) for what, count in times.items()]
        errors = [each for each in heard if each.what.startswith(ERRORS)]
        few = set(map(id, errors[MOST_ERRORS:]))
        return tuple(each for each in heard if id(each) not in few)

    def _said(self, row: str) -> Iterable[str]:
        if self._set is not None:
            for index in self._set.Match(row) or ():
                yield self._patterns[index]
        if self._errors and is_error(row):
            yield f"{ERRORS}{normalised(row)}"


@lru_cache(maxsize=32)
def shared_ear(patterns: tuple[str, ...]) -> Ear:
    """One for all agents whose rules listen for the same: it remembers nothing."""
    return Ear(patterns)


class Listener:
    """Rows of one terminal, look by look; what was there before is not heard again.

    Its memory is an economy (law 3): one that begins goes on from the last rows that are known.
    """

    def __init__(self) -> None:
        self._run, self._cols = -1, 0
        self._shown: tuple[str, ...] = ()

    def fresh(
        self, run: int, rows: tuple[str, ...], cols: int, known: tuple[str, ...]
    ) -> tuple[int, ...]:
        """Which rows of this look are new; `known` are the last ones that were seen before."""
        before, begins = self._shown, run != self._run
        # Another width breaks all lines elsewhere, and none of them is new.
        rewrapped = not begins and cols != self._cols
        self._run, self._cols, self._shown = run, cols, rows
        if rewrapped or rows is before or rows == before:
            return ()
        if begins:
            return _behind(rows, known)
        below = added(before, rows)
        if below is None:
            return _others(before, rows)
        return tuple(range(len(rows) - len(below), len(rows)))


def _behind(rows: tuple[str, ...], known: tuple[str, ...]) -> tuple[int, ...]:
    """What stands below the last of the known rows that is still there."""
    for last in reversed([row for row in known if row.strip()]):
        for at in range(len(rows), 0, -1):
            if rows[at - 1] == last:
                return tuple(range(at, len(rows)))
    return tuple(range(len(rows)))


def _others(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[int, ...]:
    """Rows that were not there, and are not one of those with more written."""
    old, new = Counter(before), list[int]()
    for at, row in enumerate(after):
        if old[row] > 0:
            old[row] -= 1
        else:
            new.append(at)
    gone = [row for row, count in old.items() if row and count > 0]
    return tuple(at for at in new if not any(after[at].startswith(was) for was in gone))


def _plain(line: str) -> str:
    return line[:LONGEST_LINE].encode(errors="replace").decode().replace("\n", " ")


def _re2() -> tuple[Any, Any]:
    import re2  # noqa: PLC0415 - only where somebody listens

    options = re2.Options()
    options.log_errors = False
    return re2, options
