"""`koboshi fire` and `koboshi check`, as typed, with programs that play the part of a CLI."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from koboshi.hosts.headless import STILLBORN, HeadlessHost
from koboshi.store.firings import Firing, Firings
from tests.cli.journals import Ran, run
from tests.hosts.waiting import runs, until
from tests.store.repositories import Repo

GOOD = {
    "type": "result", "subtype": "success", "is_error": False, "result": "All done.",
    "session_id": "s-1", "total_cost_usd": 0.25,
    "usage": {"input_tokens": 100, "output_tokens": 20}, "permission_denials": [],
}  # fmt: skip


class Project:
    """A repository, a state folder, and a `claude` that does what a test says."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo.made(folder / "work")
        self.state = folder / "state"
        self.bin = folder / "bin"
        self.bin.mkdir()

    def plays(self, *lines: str, name: str = "claude", says: dict[str, Any] | None = None) -> None:
        """The CLI runs these lines of a shell, and then reports that."""
        end = [f"cat <<'EOF'\n{json.dumps(says)}\nEOF"] if says is not None else []
        script = self.bin / name
        script.write_text("\n".join(["#!/bin/sh", *lines, *end]) + "\n", encoding="utf-8")
        script.chmod(0o755)

    def fire(self, *words: str) -> str:
        """The TASK_ID."""
        ran = run("fire", *words)
        assert (ran.code, ran.err) == (0, "")
        return ran.out.strip()

    def waited(self, task: str) -> dict[str, Any]:
        """What came of it."""
        said: dict[str, Any] = run("check", task, "--wait", "--json").json
        return said


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Where everything is tried."""
    made = Project(tmp_path)
    monkeypatch.setenv("KOBOSHI_STATE", str(made.state))
    monkeypatch.setenv("PATH", f"{made.bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(made.repo.top)
    return made


def test_a_task_finishes_and_its_changes_are_told(project: Project) -> None:
    """Only what the run did: what was uncommitted before is not its work."""
    project.repo.write("mine.txt", "before\n")
    project.plays('printf "%s\\n" "$@" > said.txt', "echo more >> mine.txt", says=GOOD)

    task = project.fire("do it", "--", "--model", "opus")
    report = project.waited(task)

    assert report == {
        "task": task, "state": "finished", "agent": "claude", "seconds": report["seconds"],
        "pid": None, "exit": 0, "why": "", "error": "", "summary": "All done.", "session": "s-1",
        "cost": 0.25, "tokens": 120, "denied": [], "breaches": [],
        "ended": report["ended"], "resets": None,
        "diff": [
            {"path": "mine.txt", "kind": "M", "added": 1, "deleted": 0},
            {"path": "said.txt", "kind": "A", "added": 10, "deleted": 0},
        ],
    }  # fmt: skip
    words = (project.repo.top / "said.txt").read_text().split("\n")
    assert words[:2] == ["--model", "opus"]
    assert words[-3:-1] == ["--", "do it"]
    assert project.repo.git("for-each-ref", "refs/koboshi") == b""
    told = run("check", task)
    assert told.code == 0
    assert told.lines_of()[0].endswith(", exit 0, $0.2500")
    assert told.lines_of()[1:] == [
        "  said     All done.",
        "  diff     M mine.txt +1 -0",
        "  diff     A said.txt +10 -0",
    ]


def test_a_judgement_is_made_once(project: Project) -> None:
    """What changes later is not that run's."""
    project.plays("touch a", says=GOOD)
    task = project.fire("do it")
    first = project.waited(task)
    project.repo.write("later.txt", "x")

    assert project.waited(task) == first
    assert run("check", task, "--json").json == first


def test_a_denied_permission_is_a_failure_although_it_ends_with_0(project: Project) -> None:
    """The exit code of a CLI says little."""
    project.plays(says={**GOOD, "permission_denials": [{"tool_name": "Bash"}]})

    task = project.fire("do it")
    ran = run("check", task, "--wait")
    report = project.waited(task)

    assert ran.code == 1
    assert (report["state"], report["exit"], report["error"]) == ("failed", 0, "permission_denied")
    assert report["denied"] == ["Bash"]
    assert report["why"] == "it was not allowed: Bash"


@pytest.mark.parametrize(
    ("lines", "says", "code", "error", "why"),
    [
        (["echo boom >&2", "exit 3"], None, 3, "no_result", "ended with exit code 3 without a"),
        (["kill -9 $$"], None, -9, "no_result", "was ended by SIGKILL without a result"),
        ([], {**GOOD, "is_error": True, "api_error_status": 401}, 0, "api_401", "api_401: All"),
        (["trap 'exit 7' EXIT"], GOOD, 7, "exit", "it ended with exit code 7"),
    ],
)
def test_a_failure_says_why(
    project: Project, lines: list[str], says: dict[str, Any] | None, code: int, error: str, why: str
) -> None:
    """In a word and in words."""
    project.plays(*lines, says=says)

    report = project.waited(project.fire("do it"))

    assert (report["state"], report["exit"], report["error"]) == ("failed", code, error)
    assert why in report["why"]


def test_a_task_that_takes_too_long_is_ended_whoever_is_gone(project: Project) -> None:
    """By its recorder; what it started goes, too."""
    project.plays("sleep 300 & echo $! > child", "wait", says=GOOD)

    child = project.repo.top / "child"
    for limit in ("1s", "5s", "30s"):  # it may be slow to start what is to go with it
        report = project.waited(project.fire("--timeout", limit, "do it"))
        assert (report["state"], report["error"]) == ("failed", "timeout")
        assert report["why"] == f"it took longer than {limit}"
        if child.exists() and child.read_text():
            break

    asyncio.run(until(lambda: not runs(int(child.read_text()))))


def test_a_running_task_is_said_to_run(project: Project) -> None:
    """With its own exit code: nothing can be said yet."""
    os.mkfifo(project.repo.top / "door")
    project.plays("read line < door", says=GOOD)
    task = project.fire("do it", "--json")
    task = json.loads(task)["task"]

    running = run("check", task)
    with (project.repo.top / "door").open("w") as door:
        door.write("go\n")

    assert running.code == 5
    assert running.out.startswith("running for ")
    assert project.waited(task)["state"] == "finished"


def test_outside_of_git_nobody_can_tell_what_changed(project: Project, tmp_path: Path) -> None:
    """And it is said so."""
    (tmp_path / "plain").mkdir()
    project.plays(says=GOOD)

    task = project.fire("--cwd", str(tmp_path / "plain"), "do it")

    assert project.waited(task)["diff"] is None
    assert "not known: no git worktree" in run("check", task).out


def test_who_died_before_the_start_is_noticed(project: Project) -> None:
    """The order is on disk, no run is there."""
    firings = Firings(project.state)
    for task, age in (("task_00000001", 0.0), ("task_00000002", STILLBORN + 1)):
        made = time.time() - age
        firings.keep(Firing(task=task, agent="claude", instruction="x", cwd="/", created=made))

    assert run("check", "task_00000001").code == 5
    report = run("check", "task_00000002", "--json").json
    assert (report["state"], report["error"]) == ("failed", "unborn")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fire", "--agent", "codex", "x"], "'codex' was not found: is it installed?"),
        (["fire", " "], "expected an instruction, and it is empty"),
        (["fire", "x" * 100_001], "expected an instruction of at most 100000 bytes"),
        (["fire", "--cwd", "/nowhere", "x"], "expected a folder, not '/nowhere'"),
        (["fire", "--timeout", "soon", "x"], "--timeout: expected a time such as 90s"),
        (["check", "task_ffffffff"], "expected the TASK_ID of something that was fired"),
        (["check", "../../etc"], "expected a TASK_ID such as task_1a2b3c4d, not '../../etc'"),
    ],
)
def test_a_mistake_is_a_sentence(project: Project, words: list[str], said: str) -> None:
    """Nothing was started."""
    project.plays(says=GOOD)
    os.environ["PATH"] = f"{project.bin}:/usr/bin:/bin"
    ran: Ran = run(*words)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert asyncio.run(HeadlessHost(state_dir=project.state).find("task")) == ()
    assert not (project.state / "headless").exists()
