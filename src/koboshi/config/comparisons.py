"""Conditions that are comparisons joined by `&&`, as most are: asked without CEL.

An economy, and nothing else: two hundred rules look at every event, and CEL takes some microseconds
for each whose facts have changed. Whatever is not exactly of that form is CEL's.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from koboshi.core.events import Context, Moment
from koboshi.core.view import View

from .facts import NAMES, Count, Facts

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a condition: a name, a number, a sign, a text with its value, or a count."""

    kind: str
    text: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A fact, how it is compared, and with what."""

    fact: str | Count
    compare: Callable[[Any, Any], bool]
    wanted: Any


def comparisons(tokens: list[Token]) -> tuple[Comparison, ...]:
    """The comparisons that all have to hold; none where it is anything else."""
    found = [_comparison(part) for part in _parts(tokens)]
    return () if None in found else tuple(each for each in found if each is not None)


def all_hold(wanted: tuple[Comparison, ...], facts: Facts) -> bool:
    """Whether it is so."""
    for each in wanted:  # noqa: SIM110 - a generator takes twice as long
        if not each.compare(facts[each.fact], each.wanted):
            return False
    return True


def _parts(tokens: list[Token]) -> Iterator[list[Token]]:
    part = list[Token]()
    for at, token in enumerate(tokens):
        if token.text == "&" and token.kind == "sign":
            if at and tokens[at - 1].text == "&" and not part:
                continue  # the second one
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _comparison(part: list[Token]) -> Comparison | None:
    signs = "".join(token.text for token in part if token.kind == "sign")
    rest = [token for token in part if token.kind != "sign"]
    if len(rest) == 1 and signs in ("", "!") and _kind(rest[0]) is bool:
        return Comparison(rest[0].text, operator.eq, signs == "")
    minus = signs.endswith("-")
    shape = [token.kind == "sign" for token in part]
    in_order = shape == [False, *[True] * len(signs), False]
    if len(rest) != 2 or not in_order or signs.removesuffix("-") not in _OPERATORS:  # noqa: PLR2004
        return None
    kind, wanted = _kind(rest[0]), _literal(rest[1], minus=minus)
    ordered = signs.removesuffix("-") not in ("==", "!=")
    if wanted is None or type(wanted) is not kind or (ordered and kind is not int):
        return None
    fact = rest[0].value if rest[0].kind == "count" else rest[0].text
    return Comparison(fact, _OPERATORS[signs.removesuffix("-")], wanted)


def _literal(token: Token, *, minus: bool) -> Any:  # noqa: ANN401 - a text, a number, a truth
    if token.kind == "number" and _NUMBER.fullmatch(token.text):
        return -int(token.text) if minus else int(token.text)
    if minus:
        return None
    return token.value if token.kind == "text" else _WORDS.get(token.text)


def _kind(token: Token) -> type | None:
    if token.kind == "count":
        return int
    return _kinds().get(token.text) if token.kind == "name" else None


@functools.cache
def _kinds() -> dict[str, type]:
    """Name → what it is: always the same, as `facts` promises."""
    view, now = View(context=Context(agent="")), Moment(at=0.0, utc=0.0)
    return {name: type(look(view, now)) for name, (_, look) in NAMES.items()}
