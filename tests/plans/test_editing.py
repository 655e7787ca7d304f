"""Edits touch only the lines they must."""

import difflib

from hypothesis import example, given
from hypothesis import strategies as st

from koboshi.plans import (
    Current,
    Plan,
    PlanStatus,
    Step,
    StepResult,
    StepState,
    parse,
    render,
    replace_steps,
    set_actions,
    set_current,
    set_current_step,
    set_result,
    set_state,
    set_status,
)
from koboshi.plans.lines import one_line
from tests.plans.texts import M1, TEXTS


def changed(before: str, after: str) -> list[str]:
    """The lines that differ, as a diff shows them."""
    rows = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [row.rstrip("\n") for row in rows if row[0] in "+-"]


def test_a_status_keeps_its_comment_in_its_column() -> None:
    """One line differs."""
    after = render(set_status(parse(M1), PlanStatus.DONE))

    assert changed(M1, after) == [
        "- STATUS: RUNNING              # IDLE / RUNNING / WAITING / DONE / FAILED",
        "+ STATUS: DONE                 # IDLE / RUNNING / WAITING / DONE / FAILED",
    ]


def test_a_step_is_advanced() -> None:
    """Its state, its result, the next step: nothing else."""
    plan = set_state(parse(M1), 2, StepState.DONE)
    plan = set_result(plan, 2, StepResult(exit=0, commit="b7", summary="実装", verified=True))
    plan = set_current_step(plan, 3)

    assert plan.faults == ()
    assert changed(M1, render(plan)) == [
        "-   CURRENT_STEP: 2",
        "+   CURRENT_STEP: 3",
        "-     2: [RUNNING] Fix1-5実装 → ai-media.py",
        "+     2: [DONE] Fix1-5実装 → ai-media.py",
        "-     EXIT: (pending)",
        "+     EXIT: 0",
        "+     COMMIT: b7",
        "+     SUMMARY: 実装",
        "+     VERIFIED: true",
    ]


def test_what_runs_is_written_beside_the_comments() -> None:
    """A command is quoted, whatever is in it."""
    current = Current(
        task_id="t-1", pid=7, spawned="2026-02-18T00:00:00", command='say "a\\b"\nSTATUS: DONE'
    )

    plan = set_current(parse(M1), current)

    assert plan.current == Current(
        task_id="t-1", pid=7, spawned="2026-02-18T00:00:00", command='say "a\\b" STATUS: DONE'
    )
    assert changed(M1, render(plan))[1::2] == [
        "+   TASK_ID: t-1                # exec bridge task ID (--fire)",
        "+   CC_PID: 7                   # Claude Code PID on M1",
        "+   SPAWN_TIME: 2026-02-18T00:00:00",
        '+   COMMAND: "say \\"a\\\\b\\" STATUS: DONE"',
    ]
    assert set_current(plan, Current()).current == Current()


def test_the_remaining_steps_are_replaced() -> None:
    """Those that are done stay; the total follows."""
    new = Step(
        number=3,
        state=StepState.PENDING,
        text="別の方法で",
        verify=("make test",),
        touch=("a.py", "b/**"),
        timeout=90.0,
        agent="codex",
        retries=1,
    )
    later = Step(number=4, state=StepState.PENDING, text="report")

    plan = replace_steps(parse(M1), 2, (new, later))

    assert plan.faults == ()
    assert plan.steps[2:] == (new, later)
    assert plan.steps[:2] == parse(M1).steps[:2]
    assert changed(M1, render(replace_steps(plan, 2, parse(M1).steps[2:]))) == []


def test_a_plan_is_built_from_nothing() -> None:
    """In the documented order."""
    plan = set_status(parse(""), PlanStatus.RUNNING)
    plan = set_actions(plan, last="planned", following="step 1")
    plan = replace_steps(plan, 0, (Step(number=1, state=StepState.PENDING, text="go"),))
    plan = set_result(plan, 1, StepResult())
    plan = set_current_step(plan, 1)
    plan = set_current(plan, Current(task_id="t"))

    assert render(plan) == (
        "STATUS: RUNNING\n\nPLAN:\n  TOTAL_STEPS: 1\n  CURRENT_STEP: 1\n  STEPS:\n"
        "    1: [PENDING] go\n\nCURRENT:\n  TASK_ID: t\n  CC_PID: (pending)\n"
        "  SPAWN_TIME: (pending)\n  COMMAND: (pending)\n\nRESULTS:\n  STEP_1:\n"
        "    EXIT: (pending)\n\nLAST_ACTION: planned\nNEXT_ACTION: step 1\n"
    )


def test_line_ends_tabs_and_a_missing_newline_are_kept() -> None:
    """A new line looks like its neighbours."""
    text = "STATUS: IDLE\r\nRESULTS:\r\n\tSTEP_1:\r\n\t\tEXIT: (pending)"

    after = render(set_result(parse(text), 1, StepResult(exit=1, verified=False)))

    assert after == ("STATUS: IDLE\r\nRESULTS:\r\n\tSTEP_1:\r\n\t\tEXIT: 1\r\n\t\tVERIFIED: false")


EDITS = st.one_of(
    st.builds(lambda s: lambda p: set_status(p, s), st.sampled_from(PlanStatus)),
    st.builds(
        lambda n, s: lambda p: set_state(p, n, s), st.integers(1, 3), st.sampled_from(StepState)
    ),
    st.builds(lambda n: lambda p: set_current_step(p, n), st.integers(0, 3)),
    st.builds(lambda a, b: lambda p: set_actions(p, last=a, following=b), st.text(), st.text()),
    st.builds(
        lambda t, c: lambda p: set_current(p, Current(task_id="t", command=c, spawned=t)),
        st.sampled_from(["", "2026-02-17T05:30:00"]),
        st.text(),
    ),
    st.builds(
        lambda n, s, v: lambda p: set_result(p, n, StepResult(exit=0, summary=s, verified=v)),
        st.integers(1, 3),
        st.text(),
        st.sampled_from([True, False, None]),
    ),
)


@given(TEXTS, EDITS)
@example(" GOAL:", lambda plan: set_status(plan, PlanStatus.IDLE))
def test_an_edit_made_twice_is_made_once(text: str, edit: object) -> None:
    """Also in a damaged file; and lines that are no part of it stay."""
    assert callable(edit)
    once: Plan = edit(parse(text))

    assert render(edit(once)) == render(once)
    assert render(parse(render(once))) == render(once)


@given(st.lists(EDITS, max_size=6))
def test_edits_never_damage_a_plan(edits: list[object]) -> None:
    """Whatever an agent said: no fault, no more sections, the goal untouched."""
    plan = parse(M1)
    for edit in edits:
        assert callable(edit)
        plan = edit(plan)

    # Two steps may be set RUNNING here, which is a fault of its own.
    assert [fault for fault in plan.faults if "both RUNNING" not in fault.reason] == []
    assert (plan.goal, len(plan.steps)) == (parse(M1).goal, 3)
    margin = [line.key for line in plan.sheet.lines if line.content and line.indent == 0]
    assert margin == [
        line.key for line in parse(M1).sheet.lines if line.content and not line.indent
    ]


@given(st.text())
def test_what_is_written_is_read_again(text: str) -> None:
    """As one line, in each place that takes an agent's words."""
    plan = set_actions(set_result(parse(M1), 2, StepResult(summary=text)), last=text)

    assert plan.results[2].summary == one_line(text)
    assert plan.last_action == (one_line(text) if text else parse(M1).last_action)
