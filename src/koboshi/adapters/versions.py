"""Versions of a CLI, as it prints them, and the ranges that a manifest names.

`2.1.197 (Claude Code)`, `codex-cli 0.166.0`, `0.61.0`; `>=2.1,<3`. A version that is not known is
taken for the newest: people update, and a manifest that knows the newest screens knows most.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

Version = tuple[int, ...]

_PRINTED = re.compile(r"(?<![\w.])v?(\d{1,6}(?:\.\d{1,6}){1,3})(?![\d.])")
_BOUND = re.compile(r"^(>=|<=|==|>|<)(\d{1,6}(?:\.\d{1,6}){0,3})$")
_COMPARE: Mapping[str, Callable[[Version, Version], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_PARTS = 4


def printed_version(text: str) -> str:
    """The first version in what `--version` printed; empty when there is none."""
    found = _PRINTED.search(text)
    return found[1] if found else ""


def within(version: str, bounds: str) -> bool | None:
    """Whether the version is in that range (all of its bounds hold); None: it is not known.

    ValueError when the range is not one.
    """
    wanted = [_bound(part.strip()) for part in bounds.split(",")]
    number = printed_version(version)
    if not number:
        return None
    return all(_COMPARE[sign](_numbers(number), limit) for sign, limit in wanted)


def _bound(text: str) -> tuple[str, Version]:
    found = _BOUND.match(text)
    if found is None:
        message = f"expected a range such as '>=2.1,<3', not {text!r}"
        raise ValueError(message)
    return found[1], _numbers(found[2])


def _numbers(text: str) -> Version:
    parts = [int(part) for part in text.split(".")]
    return tuple(parts + [0] * (_PARTS - len(parts)))
