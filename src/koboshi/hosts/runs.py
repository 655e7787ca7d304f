"""The folder in which a run's recorder tells what became of it.

The folder is how a new supervisor learns of an exit that nobody was there to see.
`recorder.py` is the other side; its docstring lists the files.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koboshi.errors import HostError
from koboshi.hosts import recorder
from koboshi.hosts.trees import MARK, Child, end_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from koboshi.hosts.base import Launch

#: Seconds until a started recorder must have reported; a loaded machine starts Python slowly.
START_PATIENCE = 20.0

_HINT = "is the program installed, and is the cwd there?"

#: Of the terminal koboshi itself runs in, not of the agent's.
FOREIGN = (
    MARK,
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
)
FOREIGN_SIZE = ("LINES", "COLUMNS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended; all None when it never started or nobody could tell."""

    code: int | None = None
    signal: int | None = None
    error: str = ""
    seconds: float | None = None  #: how long it ran
    overdue: bool = False  #: it was ended because it took longer than it may


class RunFolder:
    """One run's folder, named so that no two runs ever share one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._child: Child | None = None
        self._status = path / "status.json"  # made once: every look asks for it

    @classmethod
    def create(cls, root: Path, launch: Launch) -> RunFolder:
        """Make a new folder under `root`, readable by nobody else."""
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = root / f"{slug(launch.agent)}-{launch.run}-{secrets.token_hex(4)}"
        path.mkdir(mode=0o700)
        return cls(path)

    def command(self, *words: str) -> tuple[str, ...]:
        """The argv of the recorder; `words` are options of its own."""
        options = ("-I", "-S", "-X", "utf8")
        return (sys.executable, *options, recorder.__file__, str(self.path), *words)

    def release(
        self,
        launch: Launch,
        env: Mapping[str, str],
        *,
        keep: tuple[str, ...] = (),
        waits: bool = False,
    ) -> None:
        """Let the waiting recorder start the program; `keep` is what it takes from its terminal.

        One that `waits` has a pid and begins with `let_go`.
        """
        recorder.write(
            str(self.path),
            "launch.json",
            {
                "argv": list(launch.argv),
                "cwd": launch.cwd,
                "env": {**env, MARK: self._mark(launch)},
                "keep": [name for name in keep if name not in launch.env],
                "limit": launch.limit,
                "waits": waits,
            },
        )

    async def let_go(self) -> None:
        """Let a program begin that waits for it; raises when it cannot."""
        go = self.path / recorder.GO
        go.touch(0o600)
        deadline = time.monotonic() + START_PATIENCE
        while await asyncio.to_thread(go.exists) and self.ended() is None:
            if time.monotonic() > deadline:
                raise HostError(f"it did not begin within {START_PATIENCE:.0f} seconds")
            await asyncio.sleep(0.005)
        ended = self.ended()
        if ended and ended.error:
            raise HostError(ended.error, hint=_HINT)

    async def started(self) -> Child:
        """Wait until the program runs; raises when it cannot be started."""
        deadline = time.monotonic() + START_PATIENCE
        while time.monotonic() < deadline:
            child = self.child()  # before the status: a short program has both
            if child:
                return child
            ended = self.ended()
            if ended and ended.error:
                raise HostError(ended.error, hint=_HINT)
            await asyncio.sleep(0.005)
        message = f"the recorder did not report within {START_PATIENCE:.0f} seconds"
        raise HostError(message)

    def child(self) -> Child | None:
        """The program's process, once it has been started."""
        if self._child is None:
            record = _read(self.path / "child.json")
            self._child = Child(**record) if record else None
        return self._child

    def ended(self) -> Ended | None:
        """How it ended, or None while it has not."""
        # Asked at every look, and mostly it is not there: a failed open costs ten times as much.
        record = _read(self._status) if os.access(self._status, os.F_OK) else None
        if record is None:
            return None
        return Ended(
            code=record.get("code"),
            signal=record.get("signal"),
            error=record.get("error", ""),
            seconds=record.get("seconds"),
            overdue=record.get("overdue", False),
        )

    def end(self, *, force: bool) -> None:
        """Signal all processes of the run; what outlived the program too."""
        child = self.child()
        if child:
            end_tree(child, force=force)

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _mark(self, launch: Launch) -> str:
        """What every process of this run carries, and no other ever will."""
        return f"{launch.agent}/{launch.run}/{self.path.name[-8:]}"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return record


def slug(name: str) -> str:
    """The name, short, with everything but letters, digits, `-` and `_` replaced."""
    return re.sub(r"[^\w-]", "_", name)[:40] or "_"


def agent_env(base: Mapping[str, str], launch: Launch) -> dict[str, str]:
    """The agent's environment: that of who asked, without the terminal it was asked from, in UTF-8.

    What the launch adds comes last.
    """
    asked = base if launch.base is None else launch.base
    env = {k: v for k, v in asked.items() if k not in FOREIGN + FOREIGN_SIZE}
    return {**with_utf8(env), **launch.env}


def own_env(base: Mapping[str, str], launch: Launch) -> dict[str, str]:
    """The same for an agent that is shown in the very terminal koboshi runs in."""
    env = {k: v for k, v in base.items() if k not in (MARK, *FOREIGN_SIZE)}
    return {**with_utf8(env), **launch.env}


def with_utf8(env: Mapping[str, str]) -> dict[str, str]:
    """The same environment with a UTF-8 character set, also where LC_ALL=C was exported."""
    effective = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    if "utf8" in effective.lower().replace("-", ""):
        return dict(env)
    return {k: v for k, v in env.items() if k != "LC_ALL"} | {"LC_CTYPE": "C.UTF-8"}
