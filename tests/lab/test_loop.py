"""`koboshi loop` with real agent CLIs: a plan of three steps on a small repository."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from koboshi.plans import Plan, PlanStatus, parse
from tests.conftest import AgentCli
from tests.lab.conftest import furnished
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Turn, call, hang, say
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.test_fire import Bench, write

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: Seconds in which a stop has to end the agent, and how often a busy machine may be too slow.
SOON, TRIES = 1.5, 5

PLAN = """\
STATUS: IDLE
GOAL: add two numbers
CONSTRAINTS: change calc.py and its test only

PLAN:
  TOTAL_STEPS: 3
  CURRENT_STEP: 0
  STEPS:
    1: [PENDING] write calc.py → calc.py
      VERIFY: python3 -m unittest -q test_old || true
      TOUCH: calc.py
    2: [PENDING] test it → test_calc.py
      VERIFY: python3 -m unittest -q test_calc test_old
      TOUCH: test_*.py
    3: [PENDING] describe it → README.md
"""
OLD = """\
import unittest

class Old(unittest.TestCase):
    def test_that_always_failed(self):
        self.fail("as ever")
"""
CALC = "def add(a, b):\n    return a + b\n"
TEST = """\
import unittest
from calc import add

class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), {sum})
"""


@pytest.fixture(params=(CLAUDE[-1], CODEX), ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Part:
    """The two that the loop is proved with."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


@pytest.fixture
def bench(part: Part, model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Bench]:
    """A small repository with a test that fails, and the plan."""
    home = furnished(part, {}, model, agent_cli, tmp_path)
    (home.cwd / "test_old.py").write_text(OLD)
    (home.cwd / ".gitignore").write_text("__pycache__\n")
    home.commit()
    (home.cwd / "M1.md").write_text(PLAN)
    yield Bench(home, tmp_path / "state")
    model.release()


def loop(bench: Bench, part: Part, *words: str) -> subprocess.CompletedProcess[str]:
    """`koboshi loop …` with a stop file of its own."""
    more = ("--agent", part.cli, "--stop-file", str(bench.state.parent / "stop"))
    return bench.run("loop", words[0], *(more if words[0] != "answer" else ()), *words[1:])


def plan(bench: Bench) -> Plan:
    """The file now."""
    return parse((bench.home.cwd / "M1.md").read_text(encoding="utf-8"))


def commits(bench: Bench) -> list[str]:
    """What was committed after the first commit."""
    words = ["git", "log", "--reverse", "--format=%s"]
    ran = subprocess.run(words, cwd=bench.home.cwd, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()[1:]


def test_a_plan_goes_to_done(bench: Bench, part: Part, model: Model) -> None:
    """A lie is caught, a stray file refused, an old failure does not block; all is committed."""
    cwd = bench.home.cwd
    model.expect(
        say("All done, calc.py is written!"),  # it is not
        write(part, cwd / "calc.py", CALC),
        say("Now it is."),
        write(part, cwd / "notes.txt", "mine"),
        say("I took some notes."),  # and touched what it must not
        write(part, cwd / "test_calc.py", TEST.format(sum=3)),
        part_rm(part),
        say("Tested."),
        write(part, cwd / "README.md", "adds"),
        say("Described."),
    )

    ran = loop(bench, part, "M1.md", *allowed(part))

    done = plan(bench)
    assert (ran.returncode, done.status) == (0, PlanStatus.DONE), ran.stderr
    assert commits(bench) == [step.text for step in done.steps]
    assert [done.results[n].attempts for n in (1, 2, 3)] == [2, 2, 1]
    assert done.results[2].summary == "Tested."
    told = [request.told for request in model.asked]
    assert any("No file was changed." in each for each in told)
    assert any("may touch (test_*.py): notes.txt" in each for each in told)


def allowed(part: Part) -> tuple[str, ...]:
    """What else the agent may do here: remove its notes."""
    if part.cli == "claude":
        return ("--", "--permission-mode", "acceptEdits", "--allowedTools", "Bash(rm notes.txt)")
    return ()


def part_rm(part: Part) -> Turn:
    """A turn that removes the notes."""
    if part.cli == "claude":
        return call("Bash", command="rm notes.txt", description="Work")
    return call("exec_command", cmd="rm notes.txt")


def test_one_line_goes_to_done(bench: Bench, part: Part, model: Model) -> None:
    """The planner answers in the shape that it was given; its steps are worked through."""
    cwd = bench.home.cwd
    (cwd / "M1.md").unlink()
    steps = [
        {"do": "write calc.py", "verify": ["test -s calc.py"], "touch": ["calc.py"]},
        {"do": "test it", "verify": ["python3 -m unittest -q test_calc"], "touch": ["test_*"]},
        {"do": "describe it", "verify": [], "touch": ["README.md"]},
    ]
    answer = json.dumps({"steps": steps})
    model.expect(
        # Claude Code ends with that call; the model is not asked again.
        call("StructuredOutput", steps=steps) if part.cli == "claude" else say(answer),
        write(part, cwd / "calc.py", CALC),
        say("Written."),
        write(part, cwd / "test_calc.py", TEST.format(sum=3)),
        say("Tested."),
        write(part, cwd / "README.md", "adds"),
        say("Described."),
    )

    ran = loop(bench, part, "add two numbers")

    done = plan(bench)
    assert (ran.returncode, done.status) == (0, PlanStatus.DONE), ran.stderr
    assert commits(bench) == ["write calc.py", "test it", "describe it"]
    assert [done.results[n].attempts for n in (1, 2, 3)] == [1, 1, 1]


def test_three_failures_are_a_question(bench: Bench, part: Part, model: Model) -> None:
    """FAILED, and what was tried; an answer goes on."""
    model.expect(*[say(f"All done, {n}.") for n in range(3)])

    failed = loop(bench, part, "M1.md")

    assert failed.returncode == 1
    assert plan(bench).status is PlanStatus.FAILED
    assert "Step 1 failed 3 times: No file was changed." in plan(bench).next_action
    cwd = bench.home.cwd
    model.expect(
        write(part, cwd / "calc.py", CALC),
        say("Written."),
        write(part, cwd / "test_calc.py", TEST.format(sum=3)),
        say("Tested."),
        write(part, cwd / "README.md", "adds"),
        say("Described."),
    )
    answered = loop(bench, part, "answer", "really write the file")
    assert answered.returncode == 0, answered.stderr
    assert any("really write the file" in request.told for request in model.asked)


def runs(pid: int | None) -> bool:
    """Whether that process is there; one that is dead and not reaped has no words any more."""
    with contextlib.suppress(OSError):
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    return False


def stopped(bench: Bench, part: Part, model: Model) -> float:
    """Stop the plan while its agent waits for the model: seconds until the agent was gone."""
    stop, before = bench.state.parent / "stop", len(model.asked)
    stop.unlink(missing_ok=True)
    (bench.home.cwd / "M1.md").write_text(PLAN)
    with ThreadPoolExecutor() as pool:
        ended = pool.submit(loop, bench, part, "M1.md")
        deadline = time.monotonic() + 60
        while len(model.asked) == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        pid = plan(bench).current.pid
        assert runs(pid)
        stop.touch()
        began = time.monotonic()
        while runs(pid):
            assert time.monotonic() < began + 20
            time.sleep(0.02)
        waited = time.monotonic() - began

        assert ended.result().returncode == 1
    assert plan(bench).status is PlanStatus.WAITING
    return waited


def test_the_stop_file_stops_the_real_thing(bench: Bench, part: Part, model: Model) -> None:
    """Within a second, the agent too; a machine that stalls is slow once, and not each time."""
    model.expect(hang(times=EVER))
    waited = [stopped(bench, part, model)]
    while waited[-1] >= SOON and len(waited) < TRIES:
        waited.append(stopped(bench, part, model))

    assert waited[-1] < SOON, waited
