"""What a value may be: each kind turns what was written into the value, or says what it expected.

TOML has numbers and lists, the environment has text: a kind takes both.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import reprlib
import unicodedata
from enum import Enum
from typing import Annotated

from pydantic import PlainValidator
from pydantic_core import PydanticCustomError

from koboshi.adapters.hearing import objection
from koboshi.core.actions import Mode

from .durations import MOST, seconds

#: Characters a text may have: it is typed into a terminal.
LONGEST = 4000
#: Patterns that one may listen for besides, and characters of one that are shown.
MOST_PATTERNS, LONGEST_ROW = 200, 200
#: The error of all kinds; `expected` and `came` are in its context.
WRONG = "wrong_value"
REACTIONS = ("skip", "retry", "reset", "safe-restart")

_CODE = re.compile(r"[45](?:[0-9]{2}|xx)", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?", re.ASCII)
_repr = reprlib.Repr()
_repr.maxstring = 60


class Trust(Enum):
    """What the `koboshi.toml` of a project may do with a field. It may come from a stranger."""

    OWN = "no"  #: nothing
    FREE = "yes"
    LESS = "only lower"
    MORE = "only higher"
    FEWER = "only fewer"


def brief(value: object) -> str:
    """What came, short enough to be shown."""
    try:
        return _repr.repr(value)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        return "a number of very many digits"


def wrong(
    expected: str, value: object = None, *, came: str = "", mark: str = ""
) -> PydanticCustomError:
    """The error of a kind; `came` in place of a value that must not be shown."""
    message = "expected {expected}, not {came}"
    said = {"expected": expected, "came": came or brief(value), "mark": mark}
    return PydanticCustomError(WRONG, message, said)


def _number(value: object, most: float) -> float | None:
    """A number from 0 to `most`; true and false are none."""
    if isinstance(value, str):
        text = value.strip()
        value = float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before it is made a float, which an integer may be too large for.
    return float(value) if math.isfinite(min(value, most + 1)) and 0 <= value <= most else None


def _seconds(value: object) -> float:
    found = seconds(value) if isinstance(value, str) else _number(value, MOST)
    if found is None:
        raise wrong("a time such as '45s', '10m', '1h30m' or a number of seconds", value)
    return found


def _percent(value: object) -> float:
    found = _number(value.rstrip(" %") if isinstance(value, str) else value, 100.0)
    if found is None or 0 < found < 1:  # 0.7 was meant as a share, and would refresh at once
        raise wrong("a percentage from 1 to 100, or 0", value)
    return found


def _count(value: object) -> int:
    found = _number(value, MOST)
    if found is None or not found.is_integer():
        raise wrong("a whole number from 0 on", value)
    return int(found)


def _tries(value: object) -> int:
    found = _number(value, MOST)
    if not found or not found.is_integer():
        raise wrong("a whole number from 1 on", value)
    return int(found)


def _mode(value: object) -> Mode:
    word = value.strip().upper() if isinstance(value, str) else ""
    if word not in Mode.__members__:
        raise wrong("'observe', 'keep' or 'auto'", value)
    return Mode[word]


def _hooks(value: object) -> str:
    if value not in ("shim", "http"):
        raise wrong("'shim' or 'http'", value)
    return str(value)


def _text(value: object) -> str:
    """One line that can be typed: a control character would be a key."""
    if not isinstance(value, str) or len(value) > LONGEST or not typable(value):
        raise wrong(f"a text of one line, at most {LONGEST} characters", value)
    return value


def _words(value: object) -> str:
    if not _text(value).strip():
        raise wrong("a text that is not empty", value)
    return str(value)


def _leftovers(value: object) -> str:
    if value not in ("tell", "end"):
        raise wrong("'tell' or 'end'", value)
    return str(value)


def _afterwards(value: object) -> str:
    if value not in ("leave", "deny"):
        raise wrong("'leave' or 'deny'", value)
    return str(value)


def typable(text: str) -> bool:
    """Whether a text is one line without control characters."""
    return all(unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in text)


def _patterns(value: object) -> tuple[str, ...]:
    """A list of RE2; all that is wrong with any of them is told at once."""
    found = _listed(value)
    if not isinstance(found, list) or not all(isinstance(p, str) and p for p in found):
        raise wrong("a list of patterns (RE2), such as ['segfault', '(?i)out of tokens']", value)
    if len(found) > MOST_PATTERNS:
        raise wrong(f"at most {MOST_PATTERNS} patterns", came=str(len(found)))
    bad = [(pattern, said) for pattern in found if (said := objection(pattern))]
    if bad:
        rows = (_caret(pattern, said) for pattern, said in bad)
        raise wrong("patterns that RE2 can read", came=_objections(bad), mark="\n".join(rows))
    return tuple(found)


def _objections(bad: list[tuple[str, str]]) -> str:
    return "; ".join(f"{brief(pattern)} ({said})" for pattern, said in bad[:5])


def _caret(pattern: str, said: str) -> str:
    """The pattern with a caret below what RE2 names; below its end where that is not found."""
    _, _, part = said.rpartition(": ")
    at = pattern.find(part) if part else -1
    row = "".join(char if char.isprintable() else "?" for char in pattern[:LONGEST_ROW])
    return f"  {row}\n  {' ' * min(at if at >= 0 else len(pattern), len(row))}^"


def _commands(value: object) -> tuple[str, ...]:
    """A list; in the environment a command per line, or a JSON list."""
    found = _listed(value)
    right = isinstance(found, list) and all(
        isinstance(each, str) and each.strip() and len(each) <= LONGEST and typable(each)
        for each in found
    )
    if not right or not isinstance(found, list):
        raise wrong("a list of commands, each a text of one line", value)
    return tuple(found)


def _listed(value: object) -> object:
    """What a file says as it is; text of the environment as a list."""
    found = value
    if isinstance(value, str):
        found = [row for row in value.split("\n") if row.strip()]
        if value.lstrip().startswith("["):
            with contextlib.suppress(ValueError, RecursionError):
                found = json.loads(value)
    return found


def _code(value: object) -> str:
    code = str(value).lower()
    if not _CODE.fullmatch(code) and code not in ("context", "login"):
        raise wrong("an HTTP code such as '429', or '4xx', '5xx'", value)
    return code


def _reaction(value: object) -> str:
    if value not in REACTIONS:
        raise wrong(f"one of {', '.join(REACTIONS)}", value)
    return str(value)


Seconds = Annotated[float, PlainValidator(_seconds)]
Percent = Annotated[float, PlainValidator(_percent)]
Count = Annotated[int, PlainValidator(_count)]
Tries = Annotated[int, PlainValidator(_tries)]
ModeWord = Annotated[Mode, PlainValidator(_mode)]
HooksWay = Annotated[str, PlainValidator(_hooks)]
Text = Annotated[str, PlainValidator(_text)]
Leftovers = Annotated[str, PlainValidator(_leftovers)]
Afterwards = Annotated[str, PlainValidator(_afterwards)]
Words = Annotated[str, PlainValidator(_words)]
Patterns = Annotated[tuple[str, ...], PlainValidator(_patterns)]
Commands = Annotated[tuple[str, ...], PlainValidator(_commands)]
Code = Annotated[str, PlainValidator(_code)]
Reaction = Annotated[str, PlainValidator(_reaction)]
