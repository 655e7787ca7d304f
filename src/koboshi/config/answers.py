"""`[answers]` of a `koboshi.toml` → a `Policy`, and everything that is wrong in it, at once.

Rule 1: no value makes this raise.
Rule 2: with a mistake anywhere in it nothing is allowed by it: a deny that was left out, or an
order that has a hole, would make the rest allow more than was meant.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from koboshi.core.readings import PromptKind
from koboshi.policy.bans import NAMES
from koboshi.policy.judging import judge
from koboshi.policy.policies import (
    SHELL_TOOLS,
    AnswerRule,
    Policy,
    QuestionRule,
    is_host,
    pattern_words,
)
from koboshi.policy.requests import Request, Surroundings, Word

from .kinds import brief, typable
from .lines import Key

_Entry = TypeVar("_Entry")
TABLE = "answers"
RULE, QUESTION = "rule", "question"
_SCALARS = ("plan", "trust", "variables", "override_builtin")
_RULE_KEYS = (
    "do", "tool", "command", "path", "domain", "mcp", "answer", "reason", "match", "not_match",
)  # fmt: skip
_QUESTION_KEYS = ("pattern", "answer", "match", "not_match")
_STRICTNESS = (Word.ALLOW, Word.ASK, Word.DENY)
_MOST_RULES = 500
_LONGEST = 4000
#: Where the examples happen.
EXAMPLES = Surroundings(worktree="/home/you/project", home="/home/you", resolve=posixpath.normpath)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that cannot be used, by its key."""

    key: Key
    expected: str
    came: str = ""
    meant: str = ""


@dataclass(slots=True)
class _Table:
    """One table while it is read; faults are collected."""

    raw: Mapping[str, Any]
    key: Key
    faults: list[Fault]

    def fault(self, name: str, expected: str, came: object = None) -> None:
        came = "" if came is None else brief(came)
        self.faults.append(Fault(key=(*self.key, name), expected=expected, came=came))

    def only(self, known: tuple[str, ...]) -> None:
        for name in self.raw:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                meant = close[0] if close else ""
                expected = f"one of {', '.join(known)}"
                self.faults.append(
                    Fault(key=(*self.key, name), expected=expected, came=brief(name), meant=meant)
                )

    def word(self, name: str, default: Word | None = None) -> Word | None:
        value = self.raw.get(name, default)
        if isinstance(value, str) and value in list(Word):
            return Word(value)
        self.fault(name, "'allow', 'deny' or 'ask'", "nothing" if value is None else value)
        return default

    def text(self, name: str) -> str:
        value = self.raw.get(name, "")
        if isinstance(value, str) and len(value) <= _LONGEST and typable(value):
            return value
        self.fault(name, f"a text of one line, at most {_LONGEST} characters", value)
        return ""

    def texts(self, name: str, *, lines: bool = False) -> tuple[str, ...]:
        """A text or a list of texts; empty where the key is not there."""
        if name not in self.raw:
            return ()
        value = self.raw[name]
        found = [value] if isinstance(value, str) else value
        right = isinstance(found, list) and all(
            isinstance(each, str)
            and each.strip()
            and len(each) <= _LONGEST
            and (lines or typable(each))
            for each in found
        )
        if right and found:
            return tuple(found)
        self.fault(name, "a text, or a list of texts, none of them empty", value)
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """`[answers]` of one file."""

    policy: Policy = field(default_factory=Policy)
    faults: tuple[Fault, ...] = ()
    given: frozenset[str] = frozenset()  #: the keys that are there


def read_answers(raw: object) -> Answers:
    """What the table says; with a fault in it, what of it makes things stricter."""
    faults: list[Fault] = []
    if not isinstance(raw, dict):
        return Answers(faults=(Fault(key=(TABLE,), expected="a table", came=brief(raw)),))
    table = _Table(raw, (TABLE,), faults)
    table.only((*_SCALARS, RULE, QUESTION))
    policy = Policy(
        rules=tuple(_entries(table, RULE, _rule)),
        questions=tuple(_entries(table, QUESTION, _question)),
        plan=table.word("plan", Word.ASK) or Word.ASK,
        trust=table.word("trust", Word.ASK) or Word.ASK,
        variables=table.texts("variables"),
        overridden=_overridden(table),
    )
    policy = closed(policy) if faults else policy
    return Answers(policy=policy, faults=tuple(faults), given=frozenset(raw))


def closed(policy: Policy) -> Policy:
    """What of a policy makes things stricter."""
    return Policy(
        rules=tuple(rule for rule in policy.rules if rule.do is not Word.ALLOW),
        stricter=policy.stricter,
        plan=Word.ASK if policy.plan is Word.ALLOW else policy.plan,
        trust=Word.ASK if policy.trust is Word.ALLOW else policy.trust,
    )


def _overridden(table: _Table) -> frozenset[str]:
    names = table.texts("override_builtin")
    for name in names:
        if name not in NAMES:
            table.fault("override_builtin", f"some of {', '.join(sorted(NAMES))}", name)
    return frozenset(names) & NAMES


def _entries(
    table: _Table, name: str, read: Callable[[_Table, str], _Entry | None]
) -> Iterator[_Entry]:
    found = table.raw.get(name, [])
    if not isinstance(found, list) or len(found) > _MOST_RULES:
        table.fault(name, f"at most {_MOST_RULES} tables [[{TABLE}.{name}]]", found)
        return
    for number, raw in enumerate(found):
        key = (TABLE, name, str(number))
        if isinstance(raw, dict):
            entry = read(_Table(raw, key, table.faults), f"{TABLE}.{name}[{number}]")
            if entry is not None:
                yield entry
        else:
            table.faults.append(Fault(key=key, expected="a table", came=brief(raw)))


def _rule(table: _Table, name: str) -> AnswerRule | None:
    before = len(table.faults)
    table.only(_RULE_KEYS)
    do = table.word("do")
    always = _always(table, do)
    rule = AnswerRule(
        do=do or Word.ASK,
        name=name,
        tools=table.texts("tool"),
        commands=table.texts("command"),
        paths=table.texts("path"),
        domains=table.texts("domain"),
        mcp=table.texts("mcp"),
        always=always,
        reason=table.text("reason"),
    )
    _sense(table, rule)
    if len(table.faults) == before:
        _examples(table, lambda example: _takes(rule, example), rule.do)
    # A deny or an ask with a fault in it still counts as far as it can be read.
    return rule if len(table.faults) == before or do not in (None, Word.ALLOW) else None


def _always(table: _Table, do: Word | None) -> bool:
    answer = table.raw.get("answer", "once")
    if answer not in ("once", "always") or (answer == "always" and do is not Word.ALLOW):
        table.fault("answer", "'once', or 'always' where it allows", answer)
    return bool(answer == "always")


def _sense(table: _Table, rule: AnswerRule) -> None:
    """What can be seen to be wrong without an example."""
    if not (rule.tools or rule.commands or rule.paths or rule.domains or rule.mcp):
        table.fault("do", "a tool, command, path, domain or mcp beside it", "nothing")
    for each in rule.commands:
        if not pattern_words(each):
            table.fault("command", "words whose quotes close", each)
    for each in rule.domains:
        if each != "*" and not is_host(each.removeprefix("*.")):
            table.fault("domain", "a host such as 'docs.python.org'", each)
    others = [name for name in ("path", "domain", "mcp", "command") if name in table.raw]
    if len(others) > 1 and set(others) != {"command", "path"}:
        table.fault(others[1], f"a rule of its own, not beside {others[0]}")


def _question(table: _Table, name: str) -> QuestionRule | None:
    before = len(table.faults)
    table.only(_QUESTION_KEYS)
    pattern, answer = table.text("pattern"), table.text("answer")
    for key, value in (("pattern", pattern), ("answer", answer)):
        if not value.strip():
            table.fault(key, "a text that is not empty", table.raw.get(key, "nothing"))
    rule = QuestionRule(pattern=pattern, answer=answer, name=name)
    if len(table.faults) == before:
        _examples(table, lambda example: ("", rule.takes(example)), Word.ALLOW)
    return rule if len(table.faults) == before else None


# -- examples -----------------------------------------------------------------------------------


def _examples(table: _Table, takes: Callable[[str], tuple[str, bool]], do: Word) -> None:
    for key, wanted in (("match", True), ("not_match", False)):
        for example in table.texts(key, lines=True):
            said, taken = takes(example)
            if taken is not wanted:
                not_ = "" if wanted else "not "
                table.fault(key, f"what it does {not_}{do.value}{said}", example)


def _takes(rule: AnswerRule, example: str) -> tuple[str, bool]:
    """Whether a rule, alone, decides about that example; and who does instead."""
    found = judge(example_request(rule, example), Policy(rules=(rule,)), EXAMPLES)
    taken = found.rule == rule.name
    instead = found.rule not in (rule.name, "default")
    return (f" ({found.rule}: {found.why})" if instead and not taken else ""), taken


def example_request(rule: AnswerRule, example: str) -> Request:
    """The request that an example of this rule stands for."""
    tool = rule.tools[0] if rule.tools else ""
    permission = PromptKind.PERMISSION
    if rule.commands:
        return Request(kind=permission, tool=tool or "Bash", command=example)
    if rule.paths:
        return Request(kind=permission, tool=tool or "Edit", paths=(example,))
    if rule.domains:
        return Request(kind=permission, tool=tool or "WebFetch", domains=(example,))
    if tool in SHELL_TOOLS:
        return Request(kind=permission, tool=tool, command=example)
    return Request(kind=permission, tool=example)


def in_project(policy: Policy, answers: Answers) -> tuple[Policy, list[str]]:
    """The owner's policy under a project's, which may only make it stricter; what it may not."""
    project = answers.policy
    refused = [rule.name for rule in project.rules if rule.do is Word.ALLOW]
    refused += [rule.name for rule in project.questions]
    refused += [f"{TABLE}.{key}" for key in _SCALARS[2:] if key in answers.given]
    for key in _SCALARS[:2]:
        if key in answers.given:
            word = max(getattr(policy, key), getattr(project, key), key=_STRICTNESS.index)
            refused += [f"{TABLE}.{key}"] if word is not getattr(project, key) else []
            policy = replace(policy, **{key: word})
    stricter = tuple(
        replace(rule, name=f"project's {rule.name}")
        for rule in project.rules
        if rule.do is not Word.ALLOW
    )
    return replace(policy, stricter=stricter), refused
