"""`koboshi fire` and `koboshi check` with real agent CLIs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import AgentCli
from tests.lab.conftest import furnished
from tests.lab.homes import Home
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, hang, refuse, say
from tests.lab.parts import CLAUDE, CODEX, Part

pytestmark = [pytest.mark.lab, pytest.mark.stage]

ROOT = Path(__file__).resolve().parents[2]
PARTS = (*CLAUDE, CODEX)
#: What lets each CLI write files without asking.
FREELY = {"claude": ("--permission-mode", "acceptEdits"), "codex": ("-s", "workspace-write")}


def write(part: Part, path: Path, text: str) -> Turn:
    """A turn that writes a file."""
    if part.cli == "claude":
        return call("Write", file_path=str(path), content=text)
    return call("exec_command", cmd=f"printf '%s' '{text}' > {path.name}")


@dataclass(frozen=True, slots=True)
class Bench:
    """koboshi's commands in exactly the environment that the CLI shall have."""

    home: Home
    state: Path

    @property
    def env(self) -> dict[str, str]:
        """That environment."""
        path = f"{self.home.program.parent}{os.pathsep}{self.home.env['PATH']}"
        own = {"KOBOSHI_STATE": str(self.state), "PYTHONPATH": str(ROOT / "src")}
        return {**self.home.env, "PATH": path, **own}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command, to its end."""
        argv = [sys.executable, "-m", "koboshi", *words]
        return subprocess.run(
            argv, cwd=self.home.cwd, env=self.env,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def fire(self, instruction: str, *options: str, timeout: str = "90s") -> str:
        """The TASK_ID."""
        words = ("fire", "--agent", self.home.cli, "--timeout", timeout, instruction)
        ran = self.run(*words, "--", *options)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def waited(self, task: str) -> dict[str, Any]:
        """What came of it."""
        ran = self.run("check", task, "--wait", "--json")
        assert ran.stdout, ran.stderr
        report: dict[str, Any] = json.loads(ran.stdout)
        assert ran.returncode == (0 if report["state"] == "finished" else 1)
        return report


@pytest.fixture(params=PARTS, ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Part:
    """The two that the loop is proved with."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


@pytest.fixture
def bench(part: Part, model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Bench]:
    """A home for the CLI and a state folder for koboshi; a commit is there to compare with."""
    home = furnished(part, {}, model, agent_cli, tmp_path)
    (home.cwd / "kept.txt").write_text("kept\n")
    home.commit()
    yield Bench(home, tmp_path / "state")
    model.release()


def test_a_task_is_done_and_told(bench: Bench, part: Part, model: Model) -> None:
    """Exit, summary, cost where it is told, and the changed file."""
    model.expect(write(part, bench.home.cwd / "new.txt", "hello"), say("Wrote it."))

    report = bench.waited(bench.fire("- write new.txt", *FREELY[part.cli]))

    assert (report["state"], report["exit"], report["why"]) == ("finished", 0, "")
    assert report["summary"] == "Wrote it."
    assert [(each["path"], each["kind"]) for each in report["diff"]] == [("new.txt", "A")]
    assert report["session"]
    assert (report["cost"] is not None) == (part.cli == "claude")
    assert report["tokens"] > 0


def test_a_denied_call_is_no_success(bench: Bench, part: Part, model: Model) -> None:
    """It ends with exit code 0 and says that all is well."""
    model.expect(part.shell(f"touch {bench.home.path}/outside"), say("All done!"))

    report = bench.waited(bench.fire("do it"))

    assert (report["state"], report["exit"], report["error"]) == ("failed", 0, "permission_denied")
    assert report["denied"]
    assert report["diff"] == []


def test_an_error_of_the_api_is_told(bench: Bench, part: Part, model: Model) -> None:
    """By its number; Codex passes on the words of a 400 alone."""
    model.expect(refuse(400, times=99))

    report = bench.waited(bench.fire("do it"))

    assert report["state"] == "failed"
    assert report["error"] == {"claude": "api_400", "codex": "failed"}[part.cli]
    assert report["summary"]


def test_a_task_that_hangs_is_ended(bench: Bench, model: Model) -> None:
    """When its time is over, without anybody of koboshi's being there."""
    model.expect(hang(times=9))

    report = bench.waited(bench.fire("do it", timeout="6s"))

    assert (report["state"], report["error"]) == ("failed", "timeout")
    assert report["why"] == "it took longer than 6s"
    assert report["seconds"] >= 6
