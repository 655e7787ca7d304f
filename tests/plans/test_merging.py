"""A person's edit and ours: merged where they do not conflict, both shown where they do."""

import pytest
from hypothesis import given

from koboshi.plans import (
    Merged,
    Plan,
    PlanStatus,
    Step,
    StepResult,
    StepState,
    merge,
    parse,
    render,
    replace_steps,
    set_actions,
    set_current_step,
    set_result,
    set_state,
    set_status,
    waiting,
)
from koboshi.plans.merging import fields
from tests.plans.test_editing import EDITS
from tests.plans.texts import M1, TEXTS


def advanced() -> Plan:
    """The plan after step 2 was verified."""
    plan = set_state(parse(M1), 2, StepState.DONE)
    plan = set_result(plan, 2, StepResult(exit=0, commit="b7", summary="ok", verified=True))
    plan = set_current_step(plan, 3)
    return set_actions(plan, last="verified", following="step 3")


def test_edits_in_different_places_are_both_kept() -> None:
    """The person's comments and order are the ground."""
    theirs = M1.replace("触るな", "触るな。README可").replace("PLAN:", "# my note\nOWN: x\nPLAN:")
    theirs = theirs.replace("実戦テスト", "本番テスト")

    merged = merge(parse(M1), advanced(), parse(theirs))

    assert merged.clashes == ()
    expected = render(advanced()).replace("触るな", "触るな。README可")
    expected = expected.replace("PLAN:", "# my note\nOWN: x\nPLAN:").replace("実戦", "本番")
    assert render(merged.plan) == expected


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("CURRENT_STEP: 2", "CURRENT_STEP: 1", ("PLAN", "CURRENT_STEP")),
        ("[RUNNING] Fix", "[SKIPPED] Fix", ("PLAN", "STEPS", "2", "[state]")),
        ("Fix1-5実装", "Fix1-3実装", ("PLAN", "STEPS", "2")),
        ("NEXT_ACTION: --check", "NEXT_ACTION: wait for me --check", ("NEXT_ACTION",)),
    ],
)
def test_edits_in_the_same_place_are_a_conflict(old: str, new: str, path: tuple[str, ...]) -> None:
    """Both versions are told, none is chosen."""
    theirs = M1.replace(old, new)

    merged = merge(parse(M1), advanced(), parse(theirs))

    assert [clash.path for clash in merged.clashes] == [path]
    assert new in render(merged.plan)
    assert merged.plan.results[2].commit == "b7"


def test_an_order_to_do_what_a_step_verifies_changes_is_a_conflict() -> None:
    """Its agent works by the old words."""
    theirs = M1.replace("    3: [", "      VERIFY: make check\n    3: [")

    merged = merge(parse(M1), advanced(), parse(theirs))

    assert [clash.path for clash in merged.clashes] == [("PLAN", "STEPS", "2", "VERIFY")]


def test_new_steps_of_both_are_a_conflict_and_of_one_are_not() -> None:
    """A new plan for the rest, and a person who only wrote a constraint."""
    ours = replace_steps(parse(M1), 2, (Step(number=3, state=StepState.PENDING, text="new"),))

    theirs = parse(M1.replace("実戦", "本番"))
    both = merge(parse(M1), ours, theirs)
    merged = merge(parse(M1), ours, parse(M1.replace("GOAL: ", "GOAL: all of ")))

    assert [clash.path for clash in both.clashes] == [("PLAN", "STEPS", "3")]
    assert both.plan.steps == theirs.steps
    assert merged.clashes == ()
    assert merged.plan.steps[2].text == "new"
    assert merged.plan.goal.startswith("all of")


def test_a_person_who_adds_a_step_is_not_held_up() -> None:
    """Ours changes the state of another one."""
    theirs = M1.replace("TOTAL_STEPS: 3", "TOTAL_STEPS: 4").replace(
        "--steps 1\n", "--steps 1\n    4: [PENDING] docs\n", 1
    )

    merged = merge(parse(M1), advanced(), parse(theirs))

    assert (merged.clashes, merged.plan.faults) == ((), ())
    assert [step.state.name for step in merged.plan.steps] == ["DONE", "DONE", "PENDING", "PENDING"]


@given(TEXTS)
def test_nothing_of_a_persons_text_is_lost(text: str) -> None:
    """Merged or not: with no change of ours the text is theirs, whatever it is."""
    same = merge(parse(M1), parse(M1), parse(text))

    assert (render(same.plan), same.clashes) == (text, ())
    merged = merge(parse(M1), advanced(), parse(text))
    theirs, kept = fields(parse(text).sheet), fields(merged.plan.sheet)
    base, ours = fields(parse(M1).sheet), fields(advanced().sheet)
    own = {path for path in theirs if theirs[path] != base.get(path) and theirs[path]}
    assert [path for path in own if kept.get(path) not in (theirs[path], ours.get(path))] == []


@given(EDITS, EDITS)
def test_who_comes_first_does_not_matter(one: object, other: object) -> None:
    """Without a conflict both changes are in, whichever was ours."""
    assert callable(one)
    assert callable(other)
    base = parse(M1)
    ours, theirs = one(base), other(base)

    merged, mirrored = merge(base, ours, theirs), merge(base, theirs, ours)

    assert [clash.path for clash in merged.clashes] == [clash.path for clash in mirrored.clashes]
    if not merged.clashes:
        facts = ("status", "goal", "steps", "current", "results", "last_action", "next_action")
        for fact in facts:
            assert getattr(merged.plan, fact) == getattr(mirrored.plan, fact)


def test_the_same_change_by_both_is_one() -> None:
    """A person who already wrote DONE."""
    done = set_status(parse(M1), PlanStatus.DONE)

    merged = merge(parse(M1), set_actions(done, last="all done"), done)

    assert (merged.plan.status, merged.plan.last_action) == (PlanStatus.DONE, "all done")


def test_a_conflict_waits_and_shows_both_versions() -> None:
    """In the file itself, which is still a plan; once it is settled the list goes."""
    theirs = M1.replace("NEXT_ACTION: --check", "NEXT_ACTION: wait for me --check")
    merged = merge(parse(M1), advanced(), parse(theirs))

    plan = waiting(merged)

    assert (plan.status, plan.faults) == (PlanStatus.WAITING, ())
    assert render(plan).endswith(
        "CONFLICT:\n  1: NEXT_ACTION: koboshi has 'step 3', the file has"
        " 'wait for me --check TASK_ID で完了確認 → 結果検証 → Step 3へ'\n"
    )
    assert "CONFLICT" not in render(waiting(Merged(plan=plan)))
