"""The end of the demo: one line becomes a plan, and the scripted agent works through it."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.daemon.loop.keeper import Keeper, resumed
from koboshi.errors import KoboshiError
from koboshi.plans import PlanStatus, parse
from koboshi.store.paths import plans_dir
from koboshi.store.planfile import PlanFile
from koboshi.store.progress import Start

from .timeline import Entry

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.plans import Plan
    from koboshi.plans.course import Course
    from koboshi.plans.moves import Advice

CLAIM = "was given one line, caught in a lie, and its work verified and committed, step by step"
GOAL = "STATUS: IDLE   # IDLE / RUNNING / WAITING / DONE / FAILED\nGOAL: greet whoever comes by\n"
_IDENTITY = ("-c", "user.name=demo", "-c", "user.email=demo@localhost")


def possible() -> bool:
    """Whether there is a git to commit with."""
    return shutil.which("git") is not None


class Errand:
    """A small repository, one line, and an agent."""

    def __init__(self, work: Path, state: Path) -> None:
        self._folder, self._state = work / "project", state
        self._bin, self._play = work / "bin", work / "play"
        self._path = self._folder / "M1.md"

    def run(self, show: Callable[[Entry], None], seconds: float) -> None:
        """From one line to DONE, or as far as that time takes it."""
        self._prepare()

        def tell(_: Course, rule: Rule | None, advice: Advice | None) -> None:
            if rule is not None and advice is not None:
                show(Entry(at=0, mark=rule.code, text=advice.message))

        start = Start(
            path=str(self._path),
            cwd=str(self._folder),
            agent="scripted",
            options=("--script", str(self._play / "work.toml"), "--state", str(self._play)),
            stop_file=str(self._play / "stop"),
            timeout=seconds,
            notify="none",
        )
        keeper = Keeper(self._state, start, tell=tell)
        keeper.progress.keep_start(start, self._environment())
        asyncio.run(_within(keeper, seconds))

    def held(self) -> bool:
        """Read back from the file and from git: two steps, one of them at the second attempt."""
        if not self._path.exists():
            return False
        plan, made = self.plan(), self._git("log", "--format=%s").splitlines()
        results = [plan.results.get(step.number) for step in plan.steps]
        tried = [result.attempts for result in results if result and result.verified]
        titles = [step.text for step in plan.steps]
        return plan.status is PlanStatus.DONE and tried == [2, 1] and made[:2] == titles[::-1]

    def plan(self) -> Plan:
        """The file."""
        return parse(self._path.read_text(encoding="utf-8", errors="replace"))

    def _prepare(self) -> None:
        for folder in (self._folder, self._bin, self._play):
            folder.mkdir(parents=True)
        script = files("koboshi.demo").joinpath("work.toml").read_text(encoding="utf-8")
        (self._play / "work.toml").write_text(script, encoding="utf-8")
        agent = self._bin / "scripted"
        words = shlex.join((sys.executable, "-m", "koboshi.scripted", "--headless"))
        agent.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        agent.chmod(0o755)
        self._git("init", "-q")
        self._git(*_IDENTITY, "commit", "-q", "--allow-empty", "-m", "begin")
        file = PlanFile(self._path, plans_dir(self._state))
        file.create(parse(GOAL))
        plan = file.sound()
        file.save(plan, resumed(plan))

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self._bin}{os.pathsep}{os.environ.get('PATH', '')}"}

    def _git(self, *words: str) -> str:
        argv = ("git", *words)
        ran = subprocess.run(argv, cwd=self._folder, capture_output=True, text=True, check=False)
        return ran.stdout


async def _within(keeper: Keeper, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await keeper.run()
    except (TimeoutError, KoboshiError, OSError):
        return  # what is missing is told by the check; its folder may be gone by now
