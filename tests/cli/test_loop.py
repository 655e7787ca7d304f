"""`koboshi loop`, as typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.journals import run
from tests.plans.texts import M1


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the documented plan."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "M1.md").write_text(M1, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_a_plan_is_shown(project: Path, tmp_path: Path) -> None:
    """For people; no file is made or changed."""
    ran = run("loop", "show")

    assert (ran.code, ran.err) == (0, "")
    assert ran.lines_of() == [
        "RUNNING, 1 of 3 steps done",
        "  goal     /editのSIGTERMバグを修正",
        "  but      ai-media.pyのみ変更、media-commands.ts触るな",
        "  step 1   done: SIGTERMバグ調査 → docs/edit-sigterm-analysis.md",
        "           a690fb3 分析レポート作成完了。5つの修正案。",
        "  step 2   running: Fix1-5実装 → ai-media.py",
        "  step 3   pending: 実戦テスト → /edit --steps 1",
        "  last     Step 2 spawned via exec bridge --fire",
        "  next     --check TASK_ID で完了確認 → 結果検証 → Step 3へ",
    ]
    assert list(project.iterdir()) == [project / "M1.md"]
    assert (project / "M1.md").read_text(encoding="utf-8") == M1
    assert not (tmp_path / "state").exists()


def test_a_plan_is_shown_as_json(project: Path) -> None:
    """With the keys that docs/reference/json.md names."""
    shown = run("loop", "show", "M1.md", "--json").json

    assert shown["path"] == str(project / "M1.md")
    assert (shown["status"], shown["total_steps"], shown["current_step"]) == ("RUNNING", 3, 2)
    assert shown["steps"][1] == {
        "number": 2,
        "state": "RUNNING",
        "text": "Fix1-5実装 → ai-media.py",
        "verify": [],
        "touch": [],
        "timeout": None,
        "agent": "",
        "retries": None,
    }
    assert shown["current"]["pid"] == 99356
    assert shown["results"]["1"]["commit"] == "a690fb3"
    assert shown["results"]["2"]["verified"] is None
    assert shown["faults"] == []


def test_a_damaged_plan_is_told_by_line(project: Path) -> None:
    """And left alone; what is in it cannot move the terminal."""
    broken = M1.replace("[RUNNING]", "[\x1b[2J]").replace("TOTAL_STEPS: 3", "TOTAL_STEPS: 5")
    (project / "M1.md").write_text(broken, encoding="utf-8")

    ran = run("loop", "show")
    said = run("loop", "show", "--json")

    assert (ran.code, said.code) == (2, 2)
    assert "\x1b" not in ran.out + ran.err + said.out
    assert ran.err.splitlines()[0] == (
        "koboshi: M1.md: line 6: TOTAL_STEPS says 5, and 3 are listed"
    )
    assert "M1.md: line 10: expected '2: [PENDING] …'" in ran.err
    assert [fault["line"] for fault in said.json["faults"]] == [6, 10]
    assert (project / "M1.md").read_text(encoding="utf-8") == broken


def test_a_plan_that_is_not_there_is_said_so() -> None:
    """In one line."""
    ran = run("loop", "show", "none.md")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0].endswith("none.md: no such file or directory")
