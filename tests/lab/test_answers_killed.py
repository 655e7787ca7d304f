"""The supervisor of the real Claude Code is killed on the way of an answer, by either way.

Whoever takes over presses no second key: the question is answered once, or left to a person, and
the agent lives.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from koboshi.core.actions import Answer
from tests.daemon import refreshes
from tests.lab.conftest import Lodges, Stages
from tests.lab.journals import record
from tests.lab.leftovers import LEFT
from tests.lab.model.server import Model
from tests.lab.model.turns import call, say
from tests.lab.parts import CLAUDE
from tests.lab.stage import Stage
from tests.lab.test_answers import WAYS, results, ruled, waiting, ways

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: Way and point, and what comes of it: the tool ran once, or a person is asked.
ENDS = {
    ("keys", "decided"): "ran",
    ("keys", "marked"): "asked",
    ("keys", "pressed"): "ran",
    ("keys", "acted"): "ran",
    ("keys", "told"): "ran",
    ("hook", "held"): "ran",
    ("hook", "decided"): "ran",
    ("hook", "marked"): "ran",
    ("hook", "said"): "ran",
    ("hook", "acted"): "ran",
    ("hook", "told"): "ran",
}


def supervise(spec: dict[str, Any], point: str = "") -> int:
    """One supervisor to its end; how it ended."""
    return refreshes.supervise(spec, point, program="doomed_answer")


def spec_of(stage: Stage, way: str, socket: Path, tmp_path: Path) -> dict[str, Any]:
    """What both supervisors are told."""
    home = stage.home
    return {
        "type": "claude",
        "argv": list(home.command(*WAYS[way])),
        "cwd": str(home.cwd),
        "env": dict(home.env),
        "socket": str(socket),
        "host_state": str(tmp_path / "host"),
        "state": str(tmp_path / "s"),
        "say": "Make it.",
        "made": str(home.cwd / "made.txt"),
    }


@pytest.mark.parametrize(("way", "point"), ENDS, ids=str)
def test_killed_on_the_way_it_is_answered_once_or_left(
    way: str, point: str, stages: Stages, model: Model, tmp_path: Path
) -> None:
    """One answer at most that anybody could have taken, one result, and an agent that goes on."""
    stage = stages(CLAUDE[-1])
    socket = Path(os.environ["TMUX_TMPDIR"]) / f"lab-{secrets.token_hex(4)}"
    LEFT.sockets.add(socket)
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    spec = spec_of(stage, way, socket, tmp_path)
    tmux = ["tmux", "-S", str(socket)]
    try:
        assert supervise(spec, point) == -signal.SIGKILL
        assert supervise(spec) == 0
        alive = stage.processes()
        shown = subprocess.run([*tmux, "capture-pane", "-p"], check=True, capture_output=True)
    finally:
        LEFT.end(stage.home.path)
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)
        socket.unlink(missing_ok=True)

    ran = (stage.home.cwd / "made.txt").exists()
    told = record(Path(spec["state"]), "a1")
    answers = [each for each in told.done if isinstance(each, Answer)]
    assert alive
    # A second key would stand in the box of an agent that is at its prompt.
    assert not re.search(r"^[❯>]\s*\d+\s*$", shown.stdout.decode(), re.MULTILINE)
    assert ("ran" if ran else "asked") == ENDS[way, point]
    assert len(results(model)) == ran
    assert len(answers) <= 1, answers
    assert bool(told.told) is not ran


def test_a_daemon_that_is_killed_while_a_hook_waits_leaves_the_dialog(
    lodges: Lodges, model: Model
) -> None:
    """Whoever comes back has the question in the list, and a person's answer goes by keys, once."""
    lodge = ruled(lodges, CLAUDE[-1], "hook")
    lodge.run()
    model.expect(call("Bash", command="touch third.txt", description="Make"), say("Made."))
    lodge.say("send", "a", "Make a third.")
    question = waiting(lodge, "hook")
    daemon = lodge.daemon()
    assert daemon is not None
    daemon.kill()
    daemon.wait()

    assert question["through"] == "hook"
    while (question := waiting(lodge))["through"] == "hook":
        pass
    lodge.say("answer", question["id"], "yes")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert (lodge.home.cwd / "third.txt").exists()
    assert ways(lodge) == ["keys"]
