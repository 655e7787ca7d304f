"""The loop in a made-up sea: whoever dies, the laws hold."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from koboshi.core.engine import Craft
from koboshi.core.gate import Verdict
from koboshi.daemon.loop import deeds
from koboshi.plans import Plan, PlanStatus, Step, course, parse, replace_steps
from koboshi.plans.course import Course
from koboshi.plans.crafts import fold, judge
from koboshi.plans.moves import Act, Halt
from koboshi.plans.spending import Spending
from koboshi.rules import plans as rules
from koboshi.rules.purses import budget_used_up
from koboshi.store.progress import Start
from koboshi.testing import voyages
from koboshi.testing.voyages import Broken, Sailor, Sea, Voyage


def test_every_voyage_comes_to_its_end() -> None:
    """And a good deal happened on the way."""
    seas = [Voyage(seed).run() for seed in range(40)]

    assert sum(sea.deaths for sea in seas) > 30
    assert sum(len(sea.edits) for sea in seas) > 15
    assert any(sailor.error == "usage_limit" for sea in seas for sailor in sea.sailors.values())
    assert any(sea.budget for sea in seas)
    assert any("planned anew" in sea.text for sea in seas)
    assert any(sailor.killed for sea in seas for sailor in sea.sailors.values())


def test_a_stop_after_a_commit_that_nobody_wrote_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keeper died between the commit and the file; a stop then does not do the step again."""
    assert Voyage(134).run().deaths > 0

    monkeypatch.setattr(Sea, "committed", lambda sea, *_: sea.perhaps_die() or "")
    with pytest.raises(Broken, match="fired again"):
        Voyage(134).run()


@pytest.mark.soak
def test_five_thousand_voyages() -> None:
    """The same, at length."""
    deaths = sum(Voyage(seed).run().deaths for seed in range(5_000))

    assert deaths > 5_000


def broken() -> str:
    """What some voyage finds that does not hold; empty: all is well."""
    try:
        for seed in range(150):
            Voyage(seed).run()
    except (Broken, KeyError) as error:
        return str(error) or type(error).__name__
    return ""


def test_a_second_commit_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law has been seen red: commits that do not know their task."""
    real = Sea.commit

    def forgetful(sea: Sea, paths: tuple[str, ...], message: str, task: str) -> str:
        sea.commits.append((task, sea.sailors[task].step))
        return real(sea, paths, message, task)

    monkeypatch.setattr(Sea, "commit", forgetful)

    assert broken()


@pytest.mark.parametrize("name", ["run_never_began", "run_not_verified_yet", "step_not_begun"])
def test_a_missing_rule_would_be_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Without it some voyage does not come to its end."""
    monkeypatch.setattr("koboshi.testing.voyages.MOST", 300)
    left = tuple(rule for rule in rules.PLANS if rule is not getattr(rules, name))
    monkeypatch.setattr(rules, "PLANS", left)

    assert broken()


def test_attempts_without_end_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody counts them."""
    monkeypatch.setattr(course.Course, "tried", lambda *_: 0)

    assert "attempt " in broken()


def test_a_budget_that_is_forgotten_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its keeper, or altogether."""
    monkeypatch.setattr("koboshi.testing.voyages.ledger", lambda _: Spending())

    assert "spent" in broken()


def test_a_budget_that_is_not_kept_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its rule nothing more is begun, and nothing ends; without the gate, too, it is."""
    left = tuple(rule for rule in rules.PLANS if rule is not budget_used_up)
    monkeypatch.setattr(rules, "PLANS", left)

    person = Voyage._person  # noqa: SLF001

    def quiet(voyage: Voyage) -> None:
        """Says no stop: whoever goes on after one has a larger budget, and helps out."""
        if voyage.view.plan.status is not PlanStatus.RUNNING:
            person(voyage)

    monkeypatch.setattr(Voyage, "_person", quiet)

    assert "does not come to an end" in broken()

    def generous(act: Act, view: Course, *rest: Any) -> Verdict:  # noqa: ANN401
        return judge(act, replace(view, terms=replace(view.terms, cost=0.0)), *rest)

    monkeypatch.setattr(voyages, "PLAN", Craft(fold=fold, judge=generous))

    assert "spent" in broken()


def test_a_lost_result_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new plan that forgets what was done."""
    real = replace_steps

    def forgets(plan: Plan, after: int, steps: tuple[Step, ...]) -> Plan:
        return real(plan, max(0, after - 1), steps)

    monkeypatch.setattr(deeds, "replace_steps", forgets)

    assert broken()


def test_an_attempt_that_is_taken_for_another_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A judgement that outlives its run."""

    def keeps(view: course.Course, plan: Plan) -> course.Course:
        return replace(view, plan=plan)

    monkeypatch.setattr(course, "_with_plan", keeps)
    monkeypatch.setattr("koboshi.testing.voyages.MOST", 300)

    assert broken()


def test_a_stop_after_a_death_runs_no_committed_step_again() -> None:
    """A keeper dies between commit and file, and the next one is told to stop: voyage 824."""
    sea = Sea(draw=Random(1), text=AT_WORK, calm=True)
    sailor = Sailor(step="one", told="", ends=0.0, good=True, error="")
    sea.sailors["task_0000000a"] = sailor
    sea.commits.append(("task_0000000a", "one"))
    deeds_ = deeds.Deeds(outside=sea, start=Start(path="M1.md", cwd="/"), name="M1.md")

    asyncio.run(deeds_.do(parse(AT_WORK), Halt(why="a person said so")))

    plan = parse(sea.text)
    assert [step.state.value for step in plan.steps] == ["DONE", "PENDING"]
    assert (plan.results[1].verified, plan.results[1].commit) == (True, "000000a")


AT_WORK = """\
STATUS: RUNNING
GOAL: go on

PLAN:
  STEPS:
    1: [RUNNING] one
    2: [PENDING] two

CURRENT:
  TASK_ID: task_0000000a
"""
