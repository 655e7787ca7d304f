"""The loop in a made-up sea: whoever dies, the laws hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.plans import Plan, course
from koboshi.rules import plans as rules
from koboshi.testing.voyages import Broken, Sea, Voyage


def test_every_voyage_comes_to_its_end() -> None:
    """And a good deal happened on the way."""
    seas = [Voyage(seed).run() for seed in range(60)]

    assert sum(sea.deaths for sea in seas) > 40
    assert sum(len(sea.edits) for sea in seas) > 20
    assert any(sailor.error == "usage_limit" for sea in seas for sailor in sea.sailors.values())
    assert any(sailor.killed for sea in seas for sailor in sea.sailors.values())


@pytest.mark.parametrize("seed", [490, 531, 895, 1349, 1758])
def test_a_stop_after_a_commit_that_nobody_wrote_down(seed: int) -> None:
    """The keeper died between the commit and the file; a stop then does not do the step again."""
    assert Voyage(seed).run().deaths > 0


@pytest.mark.soak
def test_five_thousand_voyages() -> None:
    """The same, at length."""
    deaths = sum(Voyage(seed).run().deaths for seed in range(5_000))

    assert deaths > 5_000


def broken() -> bool:
    """Whether some voyage finds that a law does not hold."""
    try:
        for seed in range(150):
            Voyage(seed).run()
    except (Broken, KeyError):
        return True
    return False


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


def test_an_attempt_that_is_taken_for_another_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A judgement that outlives its run."""

    def keeps(view: course.Course, plan: Plan) -> course.Course:
        return replace(view, plan=plan)

    monkeypatch.setattr(course, "_with_plan", keeps)
    monkeypatch.setattr("koboshi.testing.voyages.MOST", 300)

    assert broken()
