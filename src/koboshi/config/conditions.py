"""`when` of a rule: a CEL expression, compiled to a function of what is known.

CEL reaches nothing but the names it is given, its regular expressions take linear time, and its
length, depth and loops are capped here: the file of a project may come from a stranger.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from koboshi.adapters.hearing import objection
from koboshi.core.readings import Status

from .comparisons import Comparison, Token, all_hold, comparisons
from .durations import seconds
from .facts import LOG, NAMES, TYPES, Count, Facts

#: Characters, brackets inside brackets, and loops (`lines.exists(…)`) of one expression.
LONGEST, DEEPEST, LOOPS = 1000, 20, 2
#: Outcomes that are remembered by what they came from.
_KEPT = 256

_TOKEN = re.compile(
    r"""(?P<text>[rR]?(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))"""
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<room>\s+)|(?P<sign>.)",
    re.DOTALL,
)
_AT = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?(.*)")
_MACROS = ("all", "exists", "exists_one", "filter", "map", "reduce", "fold", "sortBy", "matches")
_OPEN, _CLOSE = "([{", ")]}"


class ConditionWrong(ValueError):
    """A condition cannot be used; `column` is where, counted from 0."""

    def __init__(self, expected: str, came: str = "", column: int | None = None) -> None:
        super().__init__(expected)
        self.expected, self.came, self.column = expected, came, column


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A compiled expression, and all that it looks at."""

    text: str
    names: tuple[str | Count, ...]
    program: Any
    during: tuple[Status, ...] = ()  #: it can hold in these statuses only; empty: in any
    simple: tuple[Comparison, ...] = ()  #: the same, where it is that simple
    _known: dict[tuple[Any, ...], bool] = field(default_factory=dict)

    @property
    def patterns(self) -> tuple[str, ...]:
        """What it listens for."""
        return tuple(name[1] for name in self.names if isinstance(name, tuple) and name[0] == LOG)

    @property
    def counted(self) -> tuple[Count, ...]:
        """The events besides that it counts."""
        return tuple(n for n in self.names if isinstance(n, tuple) and n[0] != LOG)

    def holds(self, facts: Facts) -> bool:
        """Whether it is so; an expression that fails is not."""
        if self.simple:
            return all_hold(self.simple, facts)
        return self._by_cel(facts)

    def _by_cel(self, facts: Facts) -> bool:
        seen = tuple(map(facts.__getitem__, self.names))
        answer = self._known.get(seen)
        if answer is None:
            try:
                answer = self.asked(facts) is True
            except (TypeError, ValueError, RuntimeError, ArithmeticError):
                answer = False
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[seen] = answer
        return answer

    def asked(self, facts: Facts) -> Any:  # noqa: ANN401 - whatever it comes to
        """What it comes to."""
        if facts.context is None:
            facts.context = _cel().Context()
            facts.context.add_function("count", lambda *given: facts[_count(*given)])
        for name in self.names:
            if isinstance(name, str) and name not in facts.given:
                value = facts[name]
                facts.given.add(name)
                facts.context.add_variable(name, list(value) if isinstance(value, tuple) else value)
        return self.program.execute(facts.context)


def compiled(text: str) -> Condition:
    """The condition that the text says, or `ConditionWrong`."""
    if len(text) > LONGEST:
        raise ConditionWrong(f"at most {LONGEST} characters", f"{len(text)}")
    tokens = [found for found in _TOKEN.finditer(text) if found.lastgroup != "room"]
    _cap(tokens)
    try:
        program = _cel().compile(text)
    except ValueError as error:
        raise _syntax(text, str(error)) from error
    counts = tuple(dict.fromkeys(_counts(tokens)))
    own = _bound(tokens)
    variables = tuple(sorted(name for name in program.variables() if name not in own))
    for name in variables:
        if name not in NAMES:
            close = difflib.get_close_matches(name, NAMES, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConditionWrong("a name that is known", f"{name!r}{hint}", _where(tokens, name))
    simple = comparisons(list(_pieces(tokens)))
    return Condition(text, (*variables, *counts), program, _during(tokens), simple)


def _pieces(tokens: list[re.Match[str]]) -> Iterator[Token]:
    """The tokens, with a `count(…)` as one and the value of each text."""
    skip = 0
    for at, token in enumerate(tokens):
        if skip:
            skip -= 1
        elif token[0] == "count" and [t[0] for t in tokens[at + 1 : at + 2]] == ["("]:
            kind, pattern, window = (tokens[at + n] for n in (2, 4, 6))
            skip = 7
            yield Token("count", "count", _checked(kind, pattern, window))
        else:
            kind_of = token.lastgroup or ""
            value = _cel().evaluate(token[0]) if kind_of == "text" else None
            yield Token(kind_of, token[0], value)


def _cap(tokens: list[re.Match[str]]) -> None:
    depth, loops = 0, 0
    for at, token in enumerate(tokens):
        depth += token[0] in _OPEN and token.lastgroup == "sign"
        depth -= token[0] in _CLOSE and token.lastgroup == "sign"
        if depth > DEEPEST:
            raise ConditionWrong(f"at most {DEEPEST} brackets inside each other", "", token.start())
        called = at + 1 < len(tokens) and tokens[at + 1][0] == "("
        loops += called and token[0] in _MACROS
        if loops > LOOPS:
            raise ConditionWrong(f"at most {LOOPS} of {', '.join(_MACROS)}", "", token.start())


def _syntax(text: str, said: str) -> ConditionWrong:
    at = _AT.search(said)
    if at is None:
        return ConditionWrong("a condition in CEL", said.splitlines()[0][:100])
    rows = text.split("\n")[: int(at[1]) - 1]
    column = sum(len(row) + 1 for row in rows) + int(at[2]) - 1
    reason = at[3].split(" expecting ")[0].replace("<EOF>", "the end")
    return ConditionWrong("a condition in CEL", reason, column)


def _counts(tokens: list[re.Match[str]]) -> Iterator[Count]:
    """Each `count(…)`: its three texts are known when it is loaded, so that they can be checked."""
    for at, token in enumerate(tokens):
        if token[0] != "count" or at + 1 >= len(tokens) or tokens[at + 1][0] != "(":
            continue
        given = tokens[at + 2 : at + 8]
        shape = [each.lastgroup if each.lastgroup == "text" else each[0] for each in given]
        if shape != ["text", ",", "text", ",", "text", ")"]:
            expected = 'three texts: count("log", "a pattern", "5m")'
            raise ConditionWrong(expected, "something else", token.start())
        yield _checked(given[0], given[2], given[4])


def _checked(kind: re.Match[str], pattern: re.Match[str], window: re.Match[str]) -> Count:
    values = [str(_cel().evaluate(each[0])) for each in (kind, pattern, window)]
    if values[0] not in TYPES:
        raise ConditionWrong(f"one of {', '.join(TYPES)}", repr(values[0]), kind.start())
    if values[0] == LOG and not values[1]:
        raise ConditionWrong("a pattern that is not empty", "''", pattern.start())
    if wrong := objection(values[1]):
        raise ConditionWrong("a regular expression (RE2)", wrong, pattern.start())
    if seconds(values[2]) is None:
        raise ConditionWrong("a time such as '45s' or '5m'", repr(values[2]), window.start())
    return _count(*values)


def _count(kind: str, pattern: str, window: str) -> Count:
    return (kind, pattern, seconds(window) or 0.0)


def _during(tokens: list[re.Match[str]]) -> tuple[Status, ...]:
    """The status that it names in a row of `&&`: in another one it need not be asked.

    An economy: two hundred rules look at every event, and most wait for one status.
    """
    parts, depth = list[list[str]]([[]]), 0
    for token in tokens:
        depth += (token[0] in _OPEN) - (token[0] in _CLOSE)
        if not depth and token[0] in "|?":
            return ()
        if not depth and token[0] == "&":
            parts.append([])
        else:
            parts[-1].append(token[0])
    for part in parts:
        if part[:3] == ["status", "=", "="] and len(part) == 4:  # noqa: PLR2004 - the text
            return tuple(status for status in Status if part[3].strip("'\"") == status.value)
    return ()


def _bound(tokens: list[re.Match[str]]) -> set[str]:
    """Names that a loop gives to what it goes through: `lines.exists(line, …)`."""
    heads = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return {name[0] for loop, bracket, name in heads if loop[0] in _MACROS and bracket[0] == "("}


def _where(tokens: list[re.Match[str]], name: str) -> int | None:
    return next((token.start() for token in tokens if token[0] == name), None)


def _cel() -> Any:  # noqa: ANN401 - ships no types
    import cel  # noqa: PLC0415 - 0.4 s, for those who wrote a rule

    return cel
