"""The line that tells how a plan goes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from koboshi.cli.loop.lines import progress
from koboshi.plans import parse
from koboshi.plans.course import Course
from tests.daemon.loop.stages import Theatre

PLAN = """\
STATUS: RUNNING
GOAL: mend it

PLAN:
  TOTAL_STEPS: 3
  CURRENT_STEP: 2
  STEPS:
    1: [DONE] look
    2: [RUNNING] mend it → calc.py
    3: [PENDING] try it

CURRENT:
  TASK_ID: task_0a0a0a0a
  SPAWN_TIME: 2026-02-17T05:30:00

RESULTS:
  STEP_2:
    ATTEMPTS: 1
"""
#: 252 seconds after the run of step 2 began.
NOW = 1771306452.0


def test_a_line_says_where_it_is() -> None:
    """The bar, the step, the attempt, the time since its start, and what it is at."""
    view = Course(plan=parse(PLAN))

    assert progress(view, "Edit calc.py", NOW) == (
        "█▒░ step 2/3 · attempt 1 · 04:12 · working: Edit calc.py"
    )
    assert progress(view, "", NOW).endswith("working: mend it → calc.py")
    assert "· 00:00 ·" in progress(view, "", 0.0)  # a clock that was set back


def test_a_plan_of_many_steps_has_a_bar_with_room_for_words() -> None:
    """It is never full while a step runs."""
    rows = "".join(f"    {n}: [DONE] x\n" for n in range(1, 99))
    text = PLAN.replace("    1: [DONE] look\n", rows).replace("    2: [R", "    99: [R")
    bar = progress(Course(plan=parse(text)), "", NOW).split()[0]

    assert bar == "█" * 19 + "▒"


@pytest.mark.parametrize("columns", [40, 120])
def test_a_terminal_sees_what_the_agent_is_at(tmp_path: Path, columns: int) -> None:
    """Live, in one line that fits."""
    theatre = Theatre(tmp_path)
    edit = {"type": "tool_use", "name": "Edit", "input": {"file_path": f"{theatre.repo.top}/a.txt"}}
    said = json.dumps({"type": "assistant", "message": {"content": [edit]}})
    theatre.play({"1": [{"write": {"a.txt": "alpha\n"}, "sh": f"echo '{said}'; sleep 3"}]})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    argv = theatre.argv("M1.md", "--stop-file", str(tmp_path / "stop"))
    env = {**theatre.env, "TERM": "xterm", "COLUMNS": str(columns)}
    with subprocess.Popen(
        argv, env=env, cwd=theatre.repo.top, stdout=theirs, stderr=theirs, stdin=theirs
    ) as ran:
        os.close(theirs)
        shown = _all_of(ours)
    rows = [row.split("\x1b[K")[-1] for row in shown.split("\r")]
    lines = [row for row in rows if " step 1/3 · attempt 1 · 00:0" in row]

    assert ran.returncode == 0, shown
    assert max(map(len, lines)) <= columns
    assert any("working: Edit" in row for row in lines) == (columns == 120)
    assert any("working: Edit a.txt" in row for row in lines) == (columns == 120)


def _all_of(descriptor: int) -> str:
    found = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:
            piece = b""
        if not piece:
            os.close(descriptor)
            return found.decode()
        found += piece
