"""`koboshi fire`, `check` and a plan of one step with Gemini CLI and OpenCode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.plans import PlanStatus, parse
from tests.conftest import AgentCli
from tests.lab.conftest import furnished
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, refuse, say
from tests.lab.parts import GEMINI, OPENCODE, Part
from tests.lab.test_fire import Bench

pytestmark = [pytest.mark.lab, pytest.mark.stage]

PLAN = """\
STATUS: IDLE
GOAL: leave a mark

PLAN:
  TOTAL_STEPS: 1
  CURRENT_STEP: 0
  STEPS:
    1: [PENDING] make the mark → mark.txt
      VERIFY: test -s mark.txt
      TOUCH: mark.txt
"""
#: What names a model that needs no router, and what lets files be changed.
OPTIONS = {
    "gemini": ("-m", "gemini-2.5-pro", "--approval-mode", "auto_edit"),
    "opencode": (),
}


@pytest.fixture(params=(GEMINI, OPENCODE), ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Part:
    """The two others."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


@pytest.fixture
def bench(part: Part, model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Bench]:
    """A repository with a plan of one step; OpenCode may edit and asks about commands."""
    rights = {"permission": {"bash": "ask", "edit": "allow"}}
    room = {"settings": rights} if part.cli == "opencode" else {}
    home = furnished(part, room, model, agent_cli, tmp_path)
    (home.cwd / "kept.txt").write_text("kept\n")
    home.commit()
    (home.cwd / "M1.md").write_text(PLAN)
    yield Bench(home, tmp_path / "state")
    model.release()


def write(part: Part, path: Path, text: str) -> Turn:
    """A turn that writes a file."""
    if part.cli == "gemini":
        return call("write_file", file_path=str(path), content=text)
    return call("write", filePath=str(path), content=text)


def test_a_task_is_done_and_told(bench: Bench, part: Part, model: Model) -> None:
    """Summary, tokens, and the changed file."""
    model.expect(write(part, bench.home.cwd / "new.txt", "hello"), say("Wrote it."))

    report = bench.waited(bench.fire("write new.txt", *OPTIONS[part.cli]))

    assert (report["state"], report["exit"], report["why"]) == ("finished", 0, "")
    assert report["summary"] == "Wrote it."
    assert [(each["path"], each["kind"]) for each in report["diff"]] == [("new.txt", "A")]
    assert report["session"]
    assert report["tokens"] > 0


def test_a_denied_call_is_no_success(bench: Bench, part: Part, model: Model) -> None:
    """It ends with exit code 0."""
    model.expect(part.shell(f"touch {bench.home.path}/outside"), say("All done!"))

    report = bench.waited(bench.fire("do it", *OPTIONS[part.cli]))

    assert (report["state"], report["error"]) == ("failed", "permission_denied")
    assert report["denied"]


def test_an_error_of_the_api_is_told(bench: Bench, part: Part, model: Model) -> None:
    """By its number; Gemini CLI passes on the words alone."""
    model.expect(refuse(400, times=99))

    report = bench.waited(bench.fire("do it", *OPTIONS[part.cli]))

    word = {"gemini": "failed", "opencode": "api_400"}[part.cli]
    assert (report["state"], report["error"]) == ("failed", word)
    assert report["summary"]


def test_a_plan_of_one_step_goes_to_done(bench: Bench, part: Part, model: Model) -> None:
    """A lie is caught first."""
    model.expect(
        say("All done!"), write(part, bench.home.cwd / "mark.txt", "x\n"), say("Marked it.")
    )
    stop = str(bench.state.parent / "stop")
    words = ("--agent", part.cli, "--stop-file", stop)

    ran = bench.run("loop", "M1.md", *words, "--", *OPTIONS[part.cli])

    plan = parse((bench.home.cwd / "M1.md").read_text(encoding="utf-8"))
    assert plan.status is PlanStatus.DONE, ran.stderr
    assert (plan.results[1].attempts, plan.results[1].summary) == (2, "Marked it.")
