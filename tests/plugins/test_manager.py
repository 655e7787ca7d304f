"""Plug-ins bring rules; a broken one is named and skipped."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from koboshi.core.events import Moment, Severity, Ticked
from koboshi.core.rules import Proposal, Rule, rule
from koboshi.core.view import View
from koboshi.plugins import hookimpl
from koboshi.plugins.manager import gathered
from tests.core.worlds import Driver, blank


@rule("NGT001", "night-fell", Severity.P2)
def night_fell(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """It is night."""
    return None


@rule("NGT002", "night-broke", Severity.P2)
def night_broke(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """It raises."""
    raise LookupError("no moon")


@dataclass
class Entry:
    """An entry point."""

    name: str
    brings: object

    def load(self) -> object:
        """The plug-in, or what is wrong with it."""
        if isinstance(self.brings, Exception):
            raise self.brings
        return self.brings


def plugin(*rules: object) -> object:
    """A plug-in with these rules."""

    @hookimpl
    def register_rules() -> list[object]:
        return list(rules)

    return SimpleNamespace(register_rules=register_rules)


def test_a_plug_in_brings_rules() -> None:
    """They look like all others."""
    found = gathered([Entry("night", plugin(night_fell))])

    assert (found.names, [r.code for r in found.rules], found.broken) == (
        ("night",),
        ["NGT001"],
        (),
    )


@pytest.mark.parametrize(
    ("brings", "said"),
    [
        (ImportError("no module named moon"), "ImportError: no module named moon"),
        (plugin("no rule"), "TypeError: expected a rule made with @rule, not 'no rule'"),
        (plugin(night_fell, night_fell), "ValueError: expected a code that no other rule has"),
        (plugin(Rule(code="?", name="n", severity=Severity.P2, check=night_fell.check, page="")),
         "ValueError: expected a code such as"),
    ],
)  # fmt: skip
def test_a_broken_one_is_named_and_skipped(brings: object, said: str) -> None:
    """The next one is not."""
    found = gathered([Entry("moon", brings), Entry("night", plugin(night_fell))])

    assert found.names == ("night",)
    assert found.broken[0].startswith(f"plug-in 'moon' is skipped: {said}")


def test_a_hook_that_is_not_known_is_a_mistake() -> None:
    """A misspelt name would never be called."""

    @hookimpl
    def register_rulez() -> list[object]:
        return []

    found = gathered([Entry("typo", SimpleNamespace(register_rulez=register_rulez))])

    assert "register_rulez" in found.broken[0]


def test_a_check_that_raises_is_switched_off_and_told(caplog: pytest.LogCaptureFixture) -> None:
    """The supervisor goes on."""
    rules = gathered([Entry("night", plugin(night_broke))]).rules
    driver = Driver(blank(rules=rules))
    with caplog.at_level(logging.ERROR):
        driver.tell(Ticked())
        driver.tell(Ticked())

    assert len(caplog.records) == 1
    assert "NGT002 of plug-in 'night'" in str(caplog.records[0].__dict__["reason"])
