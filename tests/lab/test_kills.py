"""A long task under random kills: agent, supervisor, tmux, model. It is finished all the same.

    make soak                                       # with everything else that takes long
    KOBOSHI_KILLS=20 .venv/bin/python -m pytest --log-cli-level=INFO tests/lab/test_kills.py

A case is one task for one agent with ten kills on its way. Logs a line per case.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from koboshi.store.paths import socket_dir
from tests.conftest import AgentCli, need
from tests.lab.homes import Room, furnish
from tests.lab.leftovers import PAUSE
from tests.lab.lodges import Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import Call, Say, Turn, say
from tests.lab.notes import NUMBER
from tests.lab.parts import CLAUDE

log = logging.getLogger(__name__)

pytestmark = [pytest.mark.lab, pytest.mark.soak]

KILLS = int(os.environ.get("KOBOSHI_KILLS", "200"))
SEED = int(os.environ.get("KOBOSHI_KILLS_SEED", "1"))
PER_CASE = 10
STEPS, TURN = 60, 12
#: Seconds for one case; a quiet one takes a minute.
LONGEST = 420.0
INTENSITY, PERIOD = 30, 600
SETTINGS = {
    "KOBOSHI_IDLE_AFTER": "4s",
    "KOBOSHI_SEND_COOLDOWN": "3s",
    "KOBOSHI_NUDGES_MAX": "50",
    "KOBOSHI_FAILED_BASE": "2s",
    "KOBOSHI_FAILED_MAX": "8s",
    "KOBOSHI_BACKOFF_BASE": "1s",
    "KOBOSHI_BACKOFF_MAX": "4s",
    "KOBOSHI_HEALTHY_AFTER": "5s",
    "KOBOSHI_RUN_MAX": "20s",
    "KOBOSHI_REFRESH_GAP": "20s",
    "KOBOSHI_QUIET": "1s",
    "KOBOSHI_INTENSITY": str(INTENSITY),
    "KOBOSHI_PERIOD": f"{PERIOD}s",
}
_NOTE = re.compile(r"only \[\[(\d{5})")
_LOAD = re.compile(NUMBER)


@dataclass(slots=True, kw_only=True)
class Case:
    """One task and what became of it."""

    lodge: Lodge
    model: Model
    dice: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    calls: int = 0  #: that the model was asked for

    @property
    def done(self) -> Path:
        """Where the task leaves a line for each step."""
        return self.lodge.home.cwd / "done.txt"

    def steps(self) -> int:
        """Those that are done."""
        with contextlib.suppress(FileNotFoundError):
            return len(self.done.read_text().split())
        return 0

    def mind(self, told: str) -> Turn:
        """What the model says: the next step, by what is done; and what a hand-over asks for."""
        if found := _NOTE.search(told):
            return say(
                f"[[{found[1]}\nThe steps are in done.txt; go on with the next.\n{found[1]}]]"
            )
        step = f"s{self.steps() + 1}"
        work = f"grep -qx {step} done.txt 2>/dev/null || echo {step} >> done.txt; sleep 0.3"
        call = Call(tool="Bash", input={"command": work, "description": "Work"})
        if found := _LOAD.search(told):
            return Turn(blocks=(Say(text=f":{found[1]}: Going on."), call))
        if self.steps() >= STEPS:
            return say("All steps are done.")
        # Now and then a turn ends: there a run that is old enough is handed over to another.
        self.calls += 1
        return say("So far so good.") if self.calls % TURN == 0 else Turn(blocks=(call,))

    # -- the kills ------------------------------------------------------------------------------

    def kill(self) -> None:
        """One of the four; what nobody would start again by itself is started."""
        ways: dict[str, Callable[[], bool]] = {
            "agent": self._agent,
            "supervisor": self._supervisor,
            "tmux": self._tmux,
            "model": self._model,
        }
        name = self.dice.choices([*ways], weights=[5, 3, 1, 2])[0]
        if ways[name]():
            self.kills[name] += 1

    def _agent(self) -> bool:
        with contextlib.suppress(psutil.NoSuchProcess, KeyError, TypeError):
            psutil.Process(self.lodge.status("a")["run"]["pid"]).kill()
            return True
        return False

    def _supervisor(self) -> bool:
        daemon = self.lodge.daemon()
        if daemon is None:
            return False
        daemon.kill()
        daemon.wait(10)
        time.sleep(self.dice.uniform(0, 2))
        self.lodge.say("daemon", "start")
        return True

    def _tmux(self) -> bool:
        words = ["tmux", "-S", str(socket_dir(self.lodge.state) / "tmux")]
        asked = subprocess.run(
            [*words, "display-message", "-p", "#{pid}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if not asked.stdout.strip().isdecimal():
            return False
        psutil.Process(int(asked.stdout)).kill()
        return True

    def _model(self) -> bool:
        self.model.dead = True
        time.sleep(self.dice.uniform(0.5, 3))
        self.model.dead = False
        return True

    # -- the night ------------------------------------------------------------------------------

    def play(self) -> bool:
        """Whether the task was finished."""
        self.model.improvise = self.mind
        rules = self.lodge.home.cwd / ".claude" / "settings.json"
        rules.parent.mkdir(exist_ok=True)
        rules.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
        self.lodge.run()
        self.lodge.say("send", "a", "--wait", "0", "Do all steps.")
        deadline = time.monotonic() + LONGEST
        while self.steps() < STEPS and time.monotonic() < deadline:
            end = time.monotonic() + self.dice.uniform(1.0, 8.0)
            while time.monotonic() < end and self.steps() < STEPS:
                time.sleep(PAUSE)
            if self.kills.total() < PER_CASE:
                self.kill()
        return self.steps() >= STEPS

    def events(self) -> list[dict[str, Any]]:
        """The journal, as `koboshi events --json` tells it."""
        said = self.lodge.say("events", "a", "--json")
        return [json.loads(line) for line in said.splitlines()]


def most_in(times: list[float], period: float) -> int:
    """The largest number of these within any such time."""
    return max((sum(at - period < t <= at for t in times) for at in times), default=0)


@pytest.mark.timeout(7200)
def test_a_task_is_finished_whatever_is_killed(agent_cli: AgentCli, tmp_path: Path) -> None:
    """99 of 100, with every snapshot there and no more restarts than the budget has."""
    need("tmux")
    part, dice = CLAUDE[-1], random.Random(SEED)
    finished: list[bool] = []
    kills: Counter[str] = Counter()
    number = 0
    while kills.total() < KILLS and number < KILLS:  # a case may be over before its ten
        number += 1
        folder = tmp_path / f"case-{number}"
        folder.mkdir()
        path = os.pathsep.join([str(need("node").parent), "/usr/bin", "/bin"])
        program = agent_cli(part.cli, part.version)
        with Model() as model:
            room = Room(folder=folder, program=program, path=path, url=model.url, **part.room)
            lodge = Lodge(furnish(part.cli, room), model, SETTINGS)
            case = Case(lodge=lodge, model=model, dice=dice)
            try:
                finished.append(case.play())
                starts, snapshots = told(case)
                known = lodge.status("a")
                line = f"case {number}: {dict(case.kills)}, {len(starts)} starts"
                log.info("%s, %s snapshots, %s/%s", line, len(snapshots), case.steps(), STEPS)
                if not finished[-1]:
                    log.error(lodge.told(known))
                assert most_in(starts[1:], PERIOD) <= INTENSITY
                assert [ref for ref in snapshots if not there(ref, lodge.home.cwd)] == []
            finally:
                lodge.end()
        kills += case.kills
    log.info("%s kills; %s of %s finished", dict(kills), sum(finished), len(finished))

    assert kills.total() >= KILLS
    assert sum(finished) >= 0.99 * len(finished)


def told(case: Case) -> tuple[list[float], list[str]]:
    """When runs were started, and the snapshots that were said to be taken."""
    starts, snapshots = [], []
    for event in case.events():
        text = json.dumps(event)
        if event["type"] == "run-started":
            starts.append(float(event["utc"]))
        snapshots += re.findall(r"snapshot (refs/koboshi/[^\s\";,]+)", text)
    return starts, snapshots


def there(ref: str, folder: Path) -> bool:
    """Whether git has that."""
    words = ["git", "-C", str(folder), "rev-parse", "--verify", "--quiet", ref]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
