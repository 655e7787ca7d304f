"""Plug-ins bring rules; a broken one is named and skipped."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from koboshi.core.actions import Notify, Send, Start
from koboshi.core.events import Moment, Origin, Severity, Ticked
from koboshi.core.rules import Check, Proposal, Rule, rule
from koboshi.core.view import View
from koboshi.plugins import guarding, hookimpl
from koboshi.plugins.manager import gathered, in_force
from koboshi.rules import BUILTIN
from tests.core.worlds import Driver, blank
from tests.plugins.packages import Packages, packages

__all__ = ["packages"]


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
        if isinstance(self.brings, BaseException):
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


def test_a_module_without_a_hook_brings_what_it_made() -> None:
    """`@rule` is enough."""
    found = gathered([Entry("night", SimpleNamespace(fell=night_fell, other=3))])

    assert [r.code for r in found.rules] == ["NGT001"]
    assert found.origins == {"NGT001": "night"}


@pytest.mark.parametrize("code", ["RUN001", "PLN001"])
def test_a_code_of_koboshis_own_is_taken(code: str) -> None:
    """Also one of a rule that looks at plans."""
    taken = Rule(code=code, name="n", severity=Severity.P2, check=night_fell.check, page="")

    assert "a code that no other rule has" in gathered([Entry("n", plugin(taken))]).broken[0]


def test_a_package_that_ends_the_program_ends_nothing() -> None:
    """Some scripts are no modules."""
    found = gathered([Entry("script", SystemExit(3)), Entry("night", plugin(night_fell))])

    assert found.broken == ("plug-in 'script' is skipped: SystemExit: 3",)
    assert found.names == ("night",)


def test_a_rule_of_a_file_counts_where_a_plug_in_has_its_code(packages: Packages) -> None:
    """A person can mend their file at once."""
    packages.night()
    mine = Rule(code="NGT001", name="mine", severity=Severity.P2, check=night_fell.check, page="")

    assert [r.name for r in in_force(()) if r.code == "NGT001"] == ["night-fell"]
    assert [r.name for r in in_force((mine,)) if r.code == "NGT001"] == ["mine"]
    assert in_force(())[: len(BUILTIN)] == BUILTIN


# -- at work ----------------------------------------------------------------------------------


def asked(check: Check, caplog: pytest.LogCaptureFixture, times: int = 5) -> tuple[int, str]:
    """Ask such a rule so often; how often it was asked indeed, and what was told of it."""
    count = 0

    def counted(view: View, now: Moment) -> Proposal | None:
        nonlocal count
        count += 1
        return check(view, now)

    made = Rule(code="NGT009", name="n", severity=Severity.P2, check=counted, page="")
    (guarded,) = gathered([Entry("night", plugin(made))]).rules
    driver = Driver(blank(rules=(guarded,)))
    with caplog.at_level(logging.ERROR):
        for _ in range(times):
            driver.tell(Ticked())
    return count, "; ".join(str(record.__dict__["reason"]) for record in caplog.records)


NOTE = Notify(about="x", text="t", severity=Severity.P2)


def proposal(**parts: Any) -> Proposal:  # noqa: ANN401 - anything, as plug-ins do
    """One with something wrong in it."""
    return Proposal(**{"message": "m", "actions": (), **parts})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (True, "expected a Proposal or None, not bool"),
        ([NOTE], "expected a Proposal or None, not list"),
        (proposal(actions=[NOTE]), "expected a tuple of actions, not ["),
        (proposal(actions=("restart",)), "expected a tuple of actions, not ('restart'"),
        (
            proposal(actions=(Send(run=1, text="t", about="x", ordered=True),)),
            "expected an action of",
        ),
        (
            proposal(actions=(Start(run=2, origin=Origin.FRESH),)),
            "expected a Refresh, not a fresh Start",
        ),
        (proposal(message=None), "expected a message and evidence in words"),
        (proposal(evidence=(1,)), "expected a message and evidence in words"),
    ],
)
def test_a_rule_that_says_something_else_is_switched_off(
    said: object, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Named once, and not asked again."""
    count, told = asked(cast("Check", lambda *_: said), caplog)

    assert count == 1
    assert told.startswith(f"rule NGT009 of plug-in 'night' is switched off: {why}")


def test_a_rule_that_is_slow_again_and_again_is_switched_off(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds all agents up; twice is the machine's fault."""
    clock = iter(n * 0.06 for n in range(100))
    monkeypatch.setattr("koboshi.plugins.guarding.time.perf_counter", lambda: next(clock))
    count, told = asked(lambda *_: None, caplog)

    assert count == guarding.TIMES
    assert told == (
        "rule NGT009 of plug-in 'night' is switched off: it took 60 ms, and was slow 3 times"
    )


def test_a_rule_that_is_quick_and_right_is_asked_each_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And what it says is done."""
    count, told = asked(lambda *_: Proposal(message="m", actions=(NOTE,)), caplog)

    assert (count, told) == (5, "")
