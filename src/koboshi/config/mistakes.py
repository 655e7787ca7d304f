"""What is wrong in a file: where it stands, what was expected there, and what came."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .kinds import WRONG, brief
from .lines import Key, Lines

_BARE = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """Something that cannot be used: where it stands, what was expected there, and what came."""

    file: str
    expected: str
    line: int | None = None
    key: str = ""
    came: str = ""
    meant: str = ""  #: what was probably meant
    mark: str = ""  #: the row in question, with a caret below the place

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        key = f"{self.key}: " if self.key else ""
        came = f", not {self.came}" if self.came else ""
        meant = f"; did you mean {self.meant!r}?" if self.meant else ""
        mark = f"\n{self.mark}" if self.mark else ""
        return f"{place}: {key}expected {self.expected}{came}{meant}{mark}"


def in_our_words(
    file: str,
    lines: Lines,
    key: Key,
    error: Any,  # noqa: ANN401 - as pydantic tells it
    known: Iterable[str] = (),
    *,
    hides: bool = False,
) -> Mistake:
    """An error of pydantic; `known` are the keys that could have been meant.

    `hides`: what came is not shown, because it may be a secret.
    """
    came = type(error["input"]).__name__ if hides else brief(error["input"])
    expected, meant, mark = "a table", "", ""
    if error["type"] == WRONG:
        expected, came, mark = (error["ctx"][name] for name in ("expected", "came", "mark"))
    elif error["type"] == "missing":
        expected, came = "this key", "nothing"
    elif error["type"] == "extra_forbidden":
        expected, came = "a key that is known ('koboshi config' lists them)", brief(key[-1])
        close = difflib.get_close_matches(key[-1], list(known), n=1)
        meant = close[0] if close else ""
    return Mistake(
        file=file,
        line=lines.of(key),
        key=dotted(key),
        expected=expected,
        came=came,
        meant=meant,
        mark=mark,
    )


def dotted(key: Key) -> str:
    """The key as TOML writes it; a name with a line break in it must not look like two lines."""
    return ".".join(part if _BARE.fullmatch(part) else brief(part) for part in key)
