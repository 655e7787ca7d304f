"""A table of command lines, each with its verdict and the rule that says so."""

from __future__ import annotations

import pytest

from koboshi.policy.bans import BANS, Ban
from tests.policy.worlds import CASES, GENEROUS, judged

_SIGNS = str.maketrans({"⏎": "\n", "␉": "\t", "␀": "\x1b", "⍽": "\u00a0", "⇄": "\u202e"})


def table() -> list[tuple[str, str, str]]:
    """Verdict, rule and command of each row."""
    rows = (CASES / "commands.txt").read_text(encoding="utf-8").split("\n")
    cells = [row.split(" | ", 2) for row in rows if row and not row.startswith("#")]
    return [(verdict, rule, command.translate(_SIGNS)) for verdict, rule, command in cells]


@pytest.mark.parametrize(("verdict", "rule", "command"), table())
def test_command_gets_its_verdict_by_that_rule(verdict: str, rule: str, command: str) -> None:
    """Not only what is said, also who says so."""
    found = judged(command)

    assert (found.verdict.value, found.rule) == (verdict, rule), found.why


def test_table_is_large_enough() -> None:
    """A table that was cut short would pass as well."""
    assert len(table()) >= 250


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
