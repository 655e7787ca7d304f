"""Words for a step: what was tried, and what its commit says."""

from __future__ import annotations

from koboshi.plans import parse
from koboshi.plans.instructions import TRIED, commit_message, report_of, with_attempt

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
