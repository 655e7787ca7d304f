"""Words for a step: what was tried, and what its commit says."""

from __future__ import annotations

from dataclasses import replace

from koboshi.plans import parse
from koboshi.plans.course import MOST_CUT_OFF, Course
from koboshi.plans.instructions import (
    CUT_OFF,
    TRIED,
    commit_message,
    cut_off,
    report_of,
    with_attempt,
)

PLAN = """\
STATUS: RUNNING
GOAL: mend {step}

PLAN:
  TOTAL_STEPS: 1
  CURRENT_STEP: 1
  STEPS:
    1: [RUNNING] look at {goal} \\n

RESULTS:
  STEP_1:
    ATTEMPTS: 2
    TRIED: attempt 1: nothing | attempt 2: less
"""


def test_each_attempt_is_told_once() -> None:
    """Whoever tells of it again after a death changes nothing."""
    first = with_attempt("", 1, "no file\nwas changed")
    both = with_attempt(first, 2, "a | b")

    assert both == "attempt 1: no file was changed | attempt 2: a; b"
    assert with_attempt(both, 2, "a | b") == both
    assert len(with_attempt("", 1, "x" * 9999)) < TRIED + 20


def test_what_was_cut_off_does_not_count_up_to_a_bound() -> None:
    """Whatever takes the machine down each time comes to an end, too."""
    plan = parse(PLAN)
    (step,) = plan.steps
    tried = ""
    for n in range(1, 40):
        tried = with_attempt(tried, n, f"{CUT_OFF}its recorder is gone")
    many = replace(plan, results={1: replace(plan.results[1], tried=tried)})

    assert cut_off(tried) == 39
    assert Course(plan=plan).allowed(step) == 3
    assert Course(plan=many).allowed(step) == 3 + MOST_CUT_OFF


def test_what_was_tried_is_read_and_reported() -> None:
    """From the file alone."""
    plan = parse(PLAN)

    assert plan.faults == ()
    assert plan.results[1].tried == "attempt 1: nothing | attempt 2: less"
    assert "- tried before: attempt 1: nothing" in report_of(plan)


def test_a_commit_says_what_its_template_says() -> None:
    """What a plan says is no template."""
    plan = parse(PLAN)
    (step,) = plan.steps

    assert commit_message("", plan, step) == "look at {goal} \\n\n\nStep 1 of 1: mend {step}"
    assert commit_message("[{number}/{total}] {step}\\n\\n{goal} {x}", plan, step) == (
        "[1/1] look at {goal} \\n\n\nmend {step} {x}"
    )
