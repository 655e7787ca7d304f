"""`[[rule]]` tables → rules that look, or all that is wrong with them.

Rule 1: all or none. A set of rules with one left out could do what nobody meant.
Rule 2: examples run when a rule is loaded; one that comes out otherwise is a mistake.
Rule 3: a project's file may add rules that tell, and none that types, runs or restarts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from koboshi.core.events import Severity
from koboshi.core.rules import Rule

from .conditions import Condition, ConditionWrong, compiled
from .examples import Example, outcome, probes
from .facts import TYPES
from .kinds import Seconds, Words, wrong
from .mistakes import Mistake, dotted, in_our_words
from .proposals import KINDS, TELLING, Step, check_of, steps

if TYPE_CHECKING:
    from .lines import Lines

#: Rules of one file.
MOST = 500
TABLE = "rule"

_CODE = re.compile(r"[A-Z]{1,6}-?[0-9]{1,4}", re.ASCII)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
#: How CEL tells of a function that there is none of.
_UNKNOWN = re.compile(r"Undefined variable or function: '(\w+)'")
#: In the place of what is missing, while the rest is looked at.
_STAND_IN = {"name": "nameless", "when": "true"}
#: A rule that restarts and does not say how often does so no more often than that.
_RESTART_COOLDOWN = 1800.0


def _code(value: object) -> str:
    if not isinstance(value, str) or not _CODE.fullmatch(value):
        raise wrong("a code such as 'OWN001': letters, then digits", value)
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > 60 or not _NAME.fullmatch(value):  # noqa: PLR2004
        raise wrong("a name such as 'tests-fail-again', which says what is found", value)
    return value


def _severity(value: object) -> Severity:
    if not isinstance(value, str) or value not in Severity.__members__:
        raise wrong("'P0', 'P1' or 'P2'", value)
    return Severity[value]


def _types(value: object) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or any(each not in TYPES for each in listed):
        raise wrong(f"a list of event types: {', '.join(TYPES)}", value)
    return tuple(listed)


def _enabled(value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong("true or false", value)
    return value


def _acts(value: object) -> bool:
    if value not in ("act", "observe"):
        raise wrong("'act' or 'observe'", value)
    return value == "act"


def _examples(value: object) -> tuple[Example, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str | dict) for each in value):
        raise wrong("a list of lines, or of tables with what is known", value)
    return tuple(value)


def _actions(value: object) -> tuple[Step, ...]:
    found = steps(value)
    if found is None:
        raise wrong(f"a list of actions: {', '.join(KINDS)}", value)
    return found


class RuleTable(BaseModel):
    """A rule that somebody wrote into a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    code: Annotated[str, PlainValidator(_code)]
    """Letters and digits, such as `OWN001`; no other rule may have it."""
    name: Annotated[str, PlainValidator(_name)]
    """What is found, in words joined by hyphens: `tests-fail-again`."""
    severity: Annotated[Severity, PlainValidator(_severity)] = Severity.P1
    """`P0` now, `P1` soon, `P2` for the record."""
    on: Annotated[tuple[str, ...], PlainValidator(_types)] = ()
    """Types of events; the rule looks while one of them was there within the hour and is still
    known (see below), and once for each. `log` is a line in which a pattern of `when` was found.
    Empty: always."""
    when: Words
    """What has to be so, in CEL. The names are listed below."""
    match: Annotated[tuple[Example, ...], PlainValidator(_examples)] = ()
    """Examples for which it is found: a line that a pattern of `count("log", …)` is found in, or a
    table of names and values, with the lines of the last minute as `log`."""
    not_match: Annotated[tuple[Example, ...], PlainValidator(_examples)] = ()
    """Examples for which it is not."""
    actions: Annotated[tuple[Step, ...], PlainValidator(_actions)] = (Step(kind="notify"),)
    """What is done about it, in that order; each is a word, or a table of one with a text:
    `["notify", {send = "look at the tests first"}]`."""
    message: Words = ""
    """What a person is told; else the name and the line that it was found in."""
    cooldown: Seconds = 0.0
    """The least time between two actions of a kind that this rule asks for."""
    enabled: Annotated[bool, PlainValidator(_enabled)] = True
    """Whether it looks at all."""
    mode: Annotated[bool, PlainValidator(_acts)] = True
    """`act`, or `observe`: what it would do is shown and not done. What `koboshi rules CODE --set`
    or the page says goes over it, for all agents, until it is taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """The rules of one file; none where something is wrong with one of them."""

    rules: tuple[Rule, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    off: tuple[Rule, ...] = ()  #: those that are not enabled
    places: Mapping[str, int | None] = field(default_factory=dict)  #: code → its line


def rulebook(
    tables: object,
    file: str,
    lines: Lines,
    *,
    foreign: bool = False,
    taken: Iterable[str] = (),
    commands: Iterable[str] = (),
) -> Rulebook:
    """The rules that these tables say; `foreign`: they are a stranger's.

    `commands` are the programs that the same file names; without any, they are in another one.
    """
    if not isinstance(tables, list) or len(tables) > MOST:
        said = f"a list of tables, at most {MOST}: [[{TABLE}]]"
        at = lines.of((TABLE,))
        return Rulebook(mistakes=(Mistake(file=file, line=at, key=TABLE, expected=said),))
    made, off, mistakes, codes = list[Rule](), list[Rule](), list[Mistake](), set(taken)
    places = dict[str, int | None]()
    for number, table in enumerate(tables):
        reader = _Reader(file, lines, number, foreign=foreign, commands=tuple(commands))
        rule = reader.rule(table, codes)
        mistakes += reader.mistakes
        if rule is not None and isinstance(table, dict):
            (made if table.get("enabled", True) else off).append(rule)
            places[rule.code] = lines.of((TABLE, str(number), "code"))
    if mistakes:
        ordered = sorted(mistakes, key=lambda each: each.line or 0)
        return Rulebook(mistakes=tuple(ordered), places=places)
    return Rulebook(rules=tuple(made), off=tuple(off), places=places)


class _Reader:
    """One table, and everything that is wrong in it."""

    def __init__(
        self, file: str, lines: Lines, number: int, *, foreign: bool, commands: tuple[str, ...]
    ) -> None:
        self._file, self._lines, self._number = file, lines, number
        self._foreign, self._commands = foreign, commands
        self.mistakes: list[Mistake] = []

    def rule(self, table: object, codes: set[str]) -> Rule | None:
        """The rule, if nothing is wrong."""
        read = self._read(table)
        if read is None:
            return None
        if read.code in codes:
            self._wrong("code", "a code that no other rule has", repr(read.code))
        codes.add(read.code)
        condition = self._condition(read.when)
        if condition is not None:
            self._objections(read, condition)
        return None if self.mistakes or condition is None else _made(read, condition)

    def _read(self, table: object) -> RuleTable | None:
        """What it says; where something is wrong, the rest, in which more may be wrong."""
        try:
            return RuleTable.model_validate(table)
        except ValidationError as error:
            bad = set()
            for each in error.errors(include_url=False):
                key = (TABLE, str(self._number), *(str(part) for part in each["loc"]))
                bad.add(key[-1])
                known = RuleTable.model_fields
                self.mistakes.append(in_our_words(self._file, self._lines, key, each, known))
        if not isinstance(table, dict):
            return None
        rest = {name: value for name, value in table.items() if name not in bad}
        return RuleTable.model_validate({**_STAND_IN, "code": f"STAND-{self._number}", **rest})

    def _condition(self, text: str) -> Condition | None:
        try:
            condition = compiled(text)
        except ConditionWrong as error:
            mark = _caret(text, error.column)
            self._wrong("when", error.expected, error.came, mark)
            return None
        failed = next(probes(condition), "")
        unknown = _UNKNOWN.search(failed)
        if unknown:
            mark = _caret(text, text.find(unknown[1]))
            self._wrong("when", "a function that is known, such as count", repr(unknown[1]), mark)
        elif failed:
            self._wrong("when", "a condition that is true or false", failed)
        return condition

    def _objections(self, read: RuleTable, condition: Condition) -> None:
        for key, wanted in (("match", True), ("not_match", False)):
            for example in getattr(read, key):
                if said := outcome(condition, example, wanted=wanted):
                    self._wrong(key, said, repr(example)[:80])
        for step in read.actions if self._foreign else ():
            if step.kind not in TELLING:
                said = f"one of {', '.join(TELLING)} in the file of a project"
                self._wrong("actions", said, repr(step.kind))
        for step in read.actions if self._commands else ():
            if step.kind == "command" and step.text not in self._commands:
                said = f"a command that is configured ({', '.join(self._commands)})"
                self._wrong("actions", said, repr(step.text))

    def _wrong(self, key: str, expected: str, came: str = "", mark: str = "") -> None:
        path = (TABLE, str(self._number), key)
        self.mistakes.append(
            Mistake(
                file=self._file,
                line=self._lines.of(path),
                key=dotted(path),
                expected=expected,
                came=came,
                mark=mark,
            )
        )


def _caret(text: str, column: int | None) -> str:
    """The row of the condition with a caret below the place."""
    if column is None:
        return ""
    begin = text.rfind("\n", 0, column) + 1
    row = text[begin:].split("\n", 1)[0]
    return f"  {row}\n  {' ' * (column - begin)}^"


def _made(read: RuleTable, condition: Condition) -> Rule:
    restarts = any(step.kind in ("restart", "refresh") for step in read.actions)
    return Rule(
        code=read.code,
        name=read.name,
        severity=read.severity,
        check=check_of(
            read.code, read.name, read.severity, read.on, condition, read.actions, read.message
        ),
        page=_page(read),
        during=condition.during,
        listens=condition.patterns,
        cooldown=read.cooldown or (_RESTART_COOLDOWN if restarts else 0.0),
        observes=not read.mode,
    )


def _page(read: RuleTable) -> str:
    """Its page: what the file says."""
    first = read.name.replace("-", " ").capitalize()
    actions = ", ".join(step.kind for step in read.actions) or "nothing"
    shown = "; ".join(f"`{each}`" for each in read.match[:3]) or "none given"
    # Whether it does is a person's to say, too (store/switches): this is what its file says.
    does = f"Asks for: {actions}.{'' if read.mode else ' By its file it only observes.'}"
    return (
        f"{first}.\n\n## Why\nA rule of your own.\n\n## Example\n{shown}: `{read.when}`"
        f"\n\n## Safety\n{does}"
    )
