"""Plan files: every text survives, and what is wrong with one is told by line."""

import time

import pytest
from hypothesis import example, given

from koboshi.plans import (
    Current,
    Fault,
    PlanStatus,
    Step,
    StepResult,
    StepState,
    parse,
    render,
)
from tests.plans.texts import M1, TEXTS


def test_the_documented_file_is_read() -> None:
    """Every value of it, and no fault."""
    plan = parse(M1)

    assert plan.faults == ()
    assert plan.status is PlanStatus.RUNNING
    assert plan.goal == "/editのSIGTERMバグを修正"
    assert plan.constraints == "ai-media.pyのみ変更、media-commands.ts触るな"
    assert plan.current_step == 2
    assert [(step.number, step.state.name, step.text) for step in plan.steps] == [
        (1, "DONE", "SIGTERMバグ調査 → docs/edit-sigterm-analysis.md"),
        (2, "RUNNING", "Fix1-5実装 → ai-media.py"),
        (3, "PENDING", "実戦テスト → /edit --steps 1"),
    ]
    assert plan.steps[1].product == "ai-media.py"
    assert plan.current == Current(
        task_id="task_xxx",
        pid=99356,
        spawned="2026-02-17T05:30:00",
        command="docs/edit-sigterm-analysis.mdの修正案Fix1-5を全て...",
    )
    done = StepResult(
        exit=0, commit="a690fb3", summary="分析レポート作成完了。5つの修正案。", verified=True
    )
    assert plan.results == {1: done, 2: StepResult()}
    assert plan.last_action == "Step 2 spawned via exec bridge --fire"
    assert plan.next_action == "--check TASK_ID で完了確認 → 結果検証 → Step 3へ"


@given(TEXTS)
@example("")
@example("\ufeffSTATUS: IDLE")
@example("STATUS: IDLE\r\n\tX\r\x0c\x85\u2028")
@example("  # only a comment")
def test_every_text_survives(text: str) -> None:
    """To the last blank, damaged or not."""
    assert render(parse(text)) == text


def test_the_options_of_a_step_are_read() -> None:
    """Repeated or as a list, with comments, set in by tabs, ended as Windows does."""
    text = (
        "\ufeffSTATUS: IDLE # not yet\r\n"
        "GOAL: fix issue # 12 and #13  # of the tracker\r\n"
        "CONSTRAINTS:\r\n\t- only a.py\r\n\t- NOT: b.py\r\n"
        "PLAN:\r\n\tSTEPS:\r\n"
        "\t\t1: [PENDING] first  # why\r\n"
        "\t\t\tand more of it\r\n"
        "\t\t\tVERIFY: pytest -q\r\n"
        "\t\t\tVERIFY: ruff check .   # quick\r\n"
        "\t\t\tTOUCH: src/*.py, docs/**、a b.txt\r\n"
        "\t\t\tTIMEOUT: 1h 30m\r\n"
        "\t\t\tAGENT: codex\r\n"
        "\t\t\tRETRIES: 1\r\n"
        "\t\t\tOWN: is kept\r\n"
        "\t\t2: [SKIPPED] second\r\n"
        "\t\t\tVERIFY:\r\n"
        "\t\t\t\t- make test\r\n"
        "\t\t\t\t- make lint\r\n"
        "\t\t\tTIMEOUT: 45"
    )
    plan = parse(text)

    assert plan.faults == ()
    assert plan.status is PlanStatus.IDLE
    assert plan.goal == "fix issue # 12 and #13"
    assert plan.constraints == "- only a.py\n- NOT: b.py"
    assert plan.steps == (
        Step(
            number=1,
            state=StepState.PENDING,
            text="first\nand more of it",
            verify=("pytest -q", "ruff check ."),
            touch=("src/*.py", "docs/**", "a b.txt"),
            timeout=5400.0,
            agent="codex",
            retries=1,
        ),
        Step(
            number=2,
            state=StepState.SKIPPED,
            text="second",
            verify=("make test", "make lint"),
            timeout=45.0,
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("STATUS: RUNNING", "STATUS: RUNING", 1, "expected one of IDLE, RUNNING, WAITING, DONE"),
        ("STATUS: RUNNING", "STAT: RUNNING", 0, "no STATUS line"),
        ("GOAL: ", "GAOL: ", 0, "expected 'GOAL: …'"),
        ("TOTAL_STEPS: 3", "TOTAL_STEPS: 4", 6, "TOTAL_STEPS says 4, and 3 are listed"),
        ("TOTAL_STEPS: 3", "TOTAL_STEPS: three", 6, "expected a number, not 'three'"),
        ("CURRENT_STEP: 2", "CURRENT_STEP: 7", 7, "CURRENT_STEP says 7, and there are 3 steps"),
        ("[RUNNING]", "[RUN]", 10, "expected one of PENDING, RUNNING, DONE, FAILED, SKIPPED"),
        ("2: [RUNNING]", "2: RUNNING", 10, "with a state in brackets"),
        ("2: [RUNNING]", "[RUNNING]", 10, "expected step 2 as '2: [PENDING] …'"),
        ("    3: [", "    5: [", 11, "expected step 3, not 5"),
        ("[PENDING] 実", "[RUNNING] 実", 11, "steps 2 and 3 are both RUNNING"),
        ("[PENDING] 実戦テスト → /edit --steps 1", "[PENDING]", 11, "step 3 does not say what"),
        ("CC_PID: 99356", "CC_PID: ???", 15, "CC_PID: expected a number"),
        ("EXIT: 0", "EXIT: ok", 21, "EXIT: expected a number, not 'ok'"),
        ("VERIFIED: true", "VERIFIED: maybe", 24, "VERIFIED: expected true, false or (pending)"),
        ("STEP_2:", "STEP_9:", 25, "STEP_9: there is no step 9"),
        ("STEP_2:", "STEP_1:", 25, "STEP_1 stands here for the second time"),
        ("LAST_ACTION:", "STATUS:", 28, "STATUS stands here for the second time"),
        ("LAST_ACTION:", "<<<<<<< HEAD\nLAST_ACTION:", 28, "a merge left its marker here"),
        ("a690fb3", "\0\0\0", 22, "a NUL character stands here"),
        ("a690fb3", "\udcff", 22, "expected UTF-8"),
        (
            "    3: [",
            "      TIMEOUT: soon\n    3: [",
            11,
            "TIMEOUT: expected a time such as 90s, 45m or 1h, not 'soon'",
        ),
    ],
)
def test_damage_is_told_with_line_and_reason(old: str, new: str, line: int, reason: str) -> None:
    """So that a person finds it; the text is as it was."""
    assert old in M1
    damaged = M1.replace(old, new, 1)

    plan = parse(damaged)

    assert [fault.line for fault in plan.faults if reason in fault.reason] == [line]
    assert render(plan) == damaged


def test_a_fault_is_a_sentence() -> None:
    """With its line, where it has one."""
    assert str(Fault(line=3, reason="expected UTF-8")) == "line 3: expected UTF-8"
    assert str(Fault(line=0, reason="no STATUS line")) == "no STATUS line"


@pytest.mark.parametrize(
    "text",
    [
        "STATUS: " + " " * 200_000 + "x",
        "GOAL: " + " #" * 100_000,
        "GOAL: " + '"\\' * 100_000,
        "".join(f"{' ' * (n % 500)}A: b\n" for n in range(20_000)),
        "PLAN:\n  STEPS:\n" + "".join(f"    {n}: [DONE] x\n" for n in range(1, 5000)),
    ],
    ids=["blanks", "marks", "quotes", "depth", "steps"],
)
def test_a_hostile_file_is_read_in_good_time(text: str) -> None:
    """Nothing grows with the square of the text."""
    begun = time.process_time()

    assert parse(text).sheet.text == text
    assert time.process_time() - begun < 5
