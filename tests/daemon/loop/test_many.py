"""Several plans: listed, resumed together, each in a worktree of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from koboshi.plans import PlanStatus, parse
from tests.daemon.loop.stages import PLAN, Theatre


@pytest.fixture
def theatre(tmp_path: Path) -> Theatre:
    """A project with a plan of three steps."""
    return Theatre(tmp_path)


def test_a_plan_works_in_a_worktree_of_its_own(theatre: Theatre) -> None:
    """The branch that is checked out does not move; the plan stays where it is."""
    ran = theatre.loop("M1.md", "--worktree")

    assert ran.returncode == 0, ran.stderr
    assert theatre.commits() == []
    made = theatre.repo.top.with_name("work-M1")
    assert (made / "c.txt").read_text() == "gamma\n"
    titles = theatre.repo.git("log", "--format=%s", "koboshi/M1").decode().splitlines()
    assert len(titles) == 4
    assert theatre.plan().status is PlanStatus.DONE


def test_plans_are_listed_and_all_are_resumed(theatre: Theatre) -> None:
    """Those that are RUNNING and left alone; one that waits for its person is not."""
    for name in ("one.md", "two.md"):
        theatre.repo.write(name, PLAN)
        theatre.loop(name, "--attempts", "1", "--worktree")
    for name in ("one.md", "two.md"):
        path = theatre.repo.top / name
        text = path.read_text().replace("STATUS: DONE", "STATUS: RUNNING")
        path.write_text(text.replace("3: [DONE] write c.txt → c.txt", "3: [PENDING] write d.txt"))
    theatre.play({"3": [{"write": {"d.txt": "delta\n"}}]})
    theatre.edit("STATUS: IDLE", "STATUS: WAITING")
    before = json.loads(theatre.loop("ls", "--json").stdout)
    ran = theatre.loop("resume", "--all")
    after = theatre.loop("ls")

    assert [(row["status"], row["done"], row["keeper"]) for row in before] == [
        ("RUNNING", 2, False),
        ("RUNNING", 2, False),
    ]
    assert ran.returncode == 0, ran.stderr
    assert {"one.md: DONE, every step is done", "two.md: DONE, every step is done"} <= set(
        ran.stdout.splitlines()
    )
    assert [row.split()[:2] for row in after.stdout.splitlines()] == [["DONE", "3/3"]] * 2
    assert parse((theatre.repo.top / "two.md").read_text()).status is PlanStatus.DONE
    assert "no plan waits" in theatre.loop("resume", "--all").stdout


def test_what_was_decided_is_told(theatre: Theatre) -> None:
    """Oldest first, with the rule's code."""
    theatre.loop("M1.md")
    rows = [json.loads(row) for row in theatre.loop("logs", "--json").stdout.splitlines()]
    said = theatre.loop("logs").stdout

    codes = [row["finding"]["code"] for row in rows if row["k"] == "admitted"]
    assert codes == ["PLN008", "PLN005", "PLN006"] * 3 + ["PLN009"]
    assert "PLN005   the run of step 1 has ended" in said


def test_why_and_events_tell_of_a_plan(theatre: Theatre) -> None:
    """Finding, action, verdict and outcome of each decision, by the same keys as an agent's."""
    theatre.play({"1": [{"sh": "true"}, {"write": {"a.txt": "alpha\n"}}]})
    theatre.loop("M1.md")

    def said(*words: str) -> str:
        argv = [sys.executable, "-m", "koboshi", *words]
        return subprocess.run(
            argv, env=theatre.env, cwd=theatre.repo.top, capture_output=True, text=True, check=True
        ).stdout

    chains = json.loads(said("why", "M1.md", "--all", "--json"))
    assert [each["action"]["key"] for each in chains][:2] == [
        "1.1.start",
        chains[1]["action"]["key"],
    ]
    assert {each["verdict"]["word"] for each in chains} == {"admitted"}
    assert {each["outcome"]["ending"] for each in chains} == {"done"}
    again = next(each for each in chains if each["finding"]["code"] == "PLN007")
    assert again["finding"]["evidence"][0].startswith("No file was changed.")
    assert again["words"]["action"] == "start step 1, attempt 2"
    assert "PLN007 step-not-verified" in said("why", "M1.md", "--all")
    events = said("events", "M1.md")
    assert "task-seen  run task_" in events
    assert "verify step 1 – done" in events


@pytest.mark.parametrize("remote", [True, False])
def test_a_finished_plan_is_reported_and_pushed(theatre: Theatre, *, remote: bool) -> None:
    """Only where it was asked for; a push that is refused is told."""
    if remote:
        theatre.repo.git("init", "-q", "--bare", str(theatre.folder / "origin"))
        theatre.repo.git("remote", "add", "origin", str(theatre.folder / "origin"))
    ran = theatre.loop("M1.md", "--push", "--report", str(theatre.folder / "report.md"))

    assert ran.returncode == 0, ran.stderr
    report = (theatre.folder / "report.md").read_text(encoding="utf-8")
    assert report.startswith("# 三つのファイルを作る\n\nDONE, 3 steps.\n")
    assert "## 2. write b.txt → b.txt\n\nDONE\n- commit: " in report
    last = theatre.plan().last_action
    if remote:
        assert last.endswith("; pushed")
        pushed = theatre.repo.git("--git-dir", str(theatre.folder / "origin"), "log", "main")
        assert pushed.count(b"commit ") == 4
    else:
        assert "not pushed: git push refused" in last
