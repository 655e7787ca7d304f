"""A project with a plan, and a CLI that plays from a screenplay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from koboshi.plans import Plan, parse
from tests.store.repositories import Repo

ROOT = Path(__file__).resolve().parents[3]
PLAYER = Path(__file__).parent / "player.py"

PLAN = """\
STATUS: IDLE                 # IDLE / RUNNING / WAITING / DONE / FAILED
GOAL: 三つのファイルを作る
CONSTRAINTS: keep it small

PLAN:
  TOTAL_STEPS: 3
  CURRENT_STEP: 0
  STEPS:
    1: [PENDING] write a.txt → a.txt
      VERIFY: grep -q alpha a.txt
      TOUCH: a.txt
    2: [PENDING] write b.txt → b.txt
      VERIFY: grep -q beta b.txt
    3: [PENDING] write c.txt → c.txt
"""
#: What an agent does that does what it is told.
PLAY: dict[str, list[dict[str, Any]]] = {
    "1": [{"write": {"a.txt": "alpha\n"}}],
    "2": [{"write": {"b.txt": "beta\n"}}],
    "3": [{"write": {"c.txt": "gamma\n"}}],
}


class Theatre:
    """Everything one test needs."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo.made(folder / "work")
        self.state = folder / "state"
        self.bin = folder / "bin"
        self.folder = folder
        self.bin.mkdir()
        script = self.bin / "claude"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -S {PLAYER} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        self.path = self.repo.write("M1.md", PLAN)
        self.play(PLAY)

    def play(self, scenes: dict[str, list[dict[str, Any]]]) -> None:
        """The screenplay; steps that it does not name are played as usual."""
        text = json.dumps({**PLAY, **scenes})
        (self.folder / "play.json").write_text(text, encoding="utf-8")

    def plan(self) -> Plan:
        """The file, which must be a plan."""
        plan = parse(self.path.read_text(encoding="utf-8"))
        assert plan.faults == ()
        return plan

    def edit(self, old: str, new: str) -> None:
        """A person's edit."""
        text = self.path.read_text(encoding="utf-8")
        assert old in text
        self.path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def calls(self) -> list[dict[str, Any]]:
        """What the CLI was told, call by call."""
        try:
            rows = (self.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(row) for row in rows]

    @property
    def env(self) -> dict[str, str]:
        """Of koboshi's process."""
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        own = {"KOBOSHI_STATE": str(self.state), "PLAYER": str(self.folder), "PATH": path}
        return {**os.environ, **own, "PYTHONPATH": str(ROOT / "src")}

    def argv(self, *words: str) -> list[str]:
        """`koboshi loop …` in a process of its own."""
        return [sys.executable, "-m", "koboshi", "loop", *words]

    def loop(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The same, to its end."""
        begins = words[0] not in ("resume", "answer", "stop", "show", "logs", "ls")
        stop = ("--stop-file", str(self.folder / "stop")) if begins else ()
        return subprocess.run(
            self.argv(*words, *stop), env=self.env, cwd=self.repo.top, capture_output=True,
            text=True, timeout=100, check=False,
        )  # fmt: skip

    def commits(self) -> list[str]:
        """Titles of what was committed after the first commit, oldest first."""
        rows = self.repo.git("log", "--reverse", "--format=%s").decode().splitlines()
        return rows[1:]
