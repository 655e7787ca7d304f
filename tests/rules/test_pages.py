"""Rules as a catalogue: codes, names and pages."""

from __future__ import annotations

import re

import pytest

from koboshi.core.rules import Rule
from koboshi.errors import UnknownRule
from koboshi.rules import BUILTIN, find
from koboshi.rules.catalogue import ALL

#: What a name must not say: a name is the thing found, never the cure.
CURES = {
    "restart", "start", "stop", "kill", "send", "answer", "notify", "refresh", "resume", "save",
    "load", "continue", "nudge", "escalate", "tell", "wait", "retry", "fix", "exit",
}  # fmt: skip
#: Nouns that read like one: a nudge that was given, a budget of restarts, a refresh under way.
NOUNS = {"restart-budget-spent", "nudge-without-effect", "refresh-stuck", "start-held-up"}


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.code)
def test_a_rule_has_a_page(rule: Rule) -> None:
    """A first line, then Why, Example and Safety, each with something under it."""
    first, *rest = rule.page.split("\n\n## ")
    titles = [section.split("\n", 1)[0] for section in rest]

    assert titles == ["Why", "Example", "Safety"]
    assert re.fullmatch(r"[A-Z].*\.", first)
    assert all(section.split("\n", 1)[1].strip() for section in rest)
    assert re.match(r"(Safe|Unsafe|Manual)\. ", rest[2].split("\n", 1)[1])


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.code)
def test_a_name_is_the_thing_found(rule: Rule) -> None:
    """It reads after "allow", and no verb in it is a cure."""
    words = set(rule.name.split("-"))

    assert re.fullmatch(r"[A-Z]{3}\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    assert rule.name in NOUNS or not words & CURES


def test_codes_and_names_are_used_once() -> None:
    """Codes are never reused."""
    assert len({rule.code for rule in ALL}) == len(ALL)
    assert len({rule.name for rule in ALL}) == len(ALL)


def test_a_rule_is_found_by_its_code_and_by_its_name() -> None:
    """In either case of letters."""
    rule = BUILTIN[0]

    assert [find(w) for w in (rule.code, rule.code.lower(), rule.name, rule.name.upper())] == [
        rule
    ] * 4


def test_an_unknown_code_is_an_error_that_says_what_to_do() -> None:
    """Expected and what came."""
    with pytest.raises(UnknownRule, match="not 'RUN999'") as error:
        find("RUN999")

    assert "koboshi rules" in error.value.hint
