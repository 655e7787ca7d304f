"""A table of command lines, each with its verdict and the rule that says so."""

from __future__ import annotations

import pytest

from koboshi.policy.bans import BANS, Ban
from koboshi.policy.policies import AnswerRule, Policy
from koboshi.policy.requests import Word
from tests.policy.worlds import CASES, GENEROUS, PLAIN, judged

_SIGNS = str.maketrans({"⏎": "\n", "␉": "\t", "␀": "\x1b", "⍽": "\u00a0", "⇄": "\u202e"})


def _rows(name: str) -> list[str]:
    rows = (CASES / name).read_text(encoding="utf-8").split("\n")
    return [row.translate(_SIGNS) for row in rows if row and not row.startswith("#")]


def table(name: str = "commands.txt") -> list[tuple[str, str, str]]:
    """Verdict, rule and command of each row."""
    cells = [row.split(" | ", 2) for row in _rows(name)]
    return [(verdict, rule, command) for verdict, rule, command in cells]


@pytest.mark.parametrize(("verdict", "rule", "command"), table())
def test_command_gets_its_verdict_by_that_rule(verdict: str, rule: str, command: str) -> None:
    """Not only what is said, also who says so."""
    found = judged(command)

    assert (found.verdict.value, found.rule) == (verdict, rule), found.why


@pytest.mark.parametrize(("verdict", "rule", "command"), table("broad.txt"))
def test_what_a_broad_rule_does_not_speak_of(verdict: str, rule: str, command: str) -> None:
    """`docker *` is written by somebody who thinks of `docker build`."""
    found = judged(command, GENEROUS)

    assert (found.verdict.value, found.rule) == (verdict, rule), found.why
    assert judged(command, PLAIN).verdict is not Word.ALLOW


@pytest.mark.parametrize("command", _rows("everyday.txt"))
def test_everyday_commands_pass_under_plain_rules(command: str) -> None:
    """A policy that asks about `git pull && make test` is switched off."""
    found = judged(command, PLAIN)

    assert found.verdict is Word.ALLOW, found.why


@pytest.mark.parametrize(
    ("pattern", "command", "verdict"),
    [
        ("npx *", "npx prettier --check .", Word.ASK),
        ("npx pre*", "npx prettier --check .", Word.ASK),
        ("npx prettier *", "npx prettier --check .", Word.ALLOW),
        ("npx prettier *", "npx evil", Word.ASK),
        ("npx --yes prettier *", "npx --yes prettier .", Word.ALLOW),
        ("npm *", "npm config set a b", Word.ASK),
        ("npm config *", "npm config set a b", Word.ASK),
        ("npm config set *", "npm config set a b", Word.ALLOW),
        ("docker exec app *", "docker exec app ls", Word.ALLOW),
        ("kubectl *", "kubectl -n x delete pod y", Word.ASK),
        ("npx *", "npx list", Word.ASK),
        ("apt *", "apt list", Word.ALLOW),
        ("npm install *", "npm install -g x", Word.ASK),
        ("npm install -g *", "npm install -g x", Word.ALLOW),
        ("npx rm *", "npx rm -rf /srv/x", Word.DENY),
        ("uv run *", "uv run pytest", Word.ALLOW),
        ("uv run *", "uv run rm -rf /srv/x", Word.DENY),
        ("uv run *", "uv run bash -c 'evil'", Word.ASK),
    ],
)
def test_a_rule_that_spells_it_out_speaks_of_it(pattern: str, command: str, verdict: Word) -> None:
    """What a broad rule leaves open, a narrow one decides; the built-in deny set stays."""
    policy = Policy(rules=(AnswerRule(do=Word.ALLOW, name="r", commands=(pattern,)),))

    assert judged(command, policy).verdict is verdict


@pytest.mark.parametrize(
    ("pattern", "command", "verdict"),
    [
        ("./mark.sh", "./mark.sh", Word.DENY),
        ("./mark.sh", "sub/mark.sh", Word.DENY),
        ("mark.sh", "./mark.sh", Word.DENY),
        ("/usr/bin/git push *", "git push origin", Word.DENY),
        ("./mark.sh", "./mark.sh now", Word.ASK),
        ("./mark.sh *", "./mark.sh now", Word.DENY),
        ("./mark.sh", "./remark.sh", Word.ASK),
    ],
)
def test_a_program_is_forbidden_by_any_of_its_paths(
    pattern: str, command: str, verdict: Word
) -> None:
    """Who forbids a script writes it down as it is called, and it can be called in many ways."""
    policy = Policy(rules=(AnswerRule(name="r", do=Word.DENY, commands=(pattern,)),))

    assert judged(command, policy).verdict is verdict


def test_tables_are_large_enough() -> None:
    """A table that was cut short would pass as well."""
    assert len(table()) >= 250
    assert len(table("broad.txt")) >= 300
    assert len(_rows("everyday.txt")) >= 180


@pytest.mark.parametrize(
    ("ban", "command"), [(ban, each) for ban in BANS for each in ban.denied], ids=str
)
def test_ban_denies_its_examples_whatever_is_allowed(ban: Ban, command: str) -> None:
    """`koboshi answers show` promises this to a person."""
    found = judged(command, GENEROUS)

    assert (found.verdict.value, found.rule) == ("deny", f"builtin:{ban.name}")
    assert ban.reason in found.why


@pytest.mark.parametrize(("ban", "command"), [(ban, each) for ban in BANS for each in ban.spared])
def test_ban_spares_what_looks_alike(ban: Ban, command: str) -> None:
    """A deny set that denies too much is switched off."""
    assert judged(command, GENEROUS).verdict == "allow", ban.name
