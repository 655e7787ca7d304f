"""A refresh of the real Claude Code whose supervisor is killed at a step of it."""

from __future__ import annotations

import os
import secrets
import subprocess
from pathlib import Path

import pytest

from tests.daemon.refreshes import killed_and_finished
from tests.lab.conftest import Stages
from tests.lab.leftovers import LEFT
from tests.lab.model.server import Model
from tests.lab.model.turns import Usage, say
from tests.lab.notes import NUMBER, handed_over
from tests.lab.parts import CLAUDE

pytestmark = [pytest.mark.lab, pytest.mark.stage]

FULL = Usage(input=170_000, output=100)
NOTE = "[[\\1\nThe parser is half done; next: the lexer.\n\\1]]"


@pytest.mark.parametrize("point", ["checkpoint.acted", "stop.marked", "start.acted", "load.acted"])
def test_the_note_reaches_the_next_run_once_whoever_dies(
    point: str, stages: Stages, model: Model, tmp_path: Path
) -> None:
    """Seen by the model in one request, and in no other message."""
    stage = stages(CLAUDE[-1], args=("--model", "claude-sonnet-4-5"))
    home = stage.home
    socket = Path(os.environ["TMUX_TMPDIR"]) / f"lab-{secrets.token_hex(4)}"
    LEFT.sockets.add(socket)
    model.expect(
        say("Half of the parser is written.", match="Write the parser", usage=FULL),
        say(NOTE, match=r"only \[\[(\d{5})", usage=FULL),
        say(":\\1: Going on with the lexer.", match=NUMBER),
    )
    spec = {
        "type": "claude",
        "argv": list(home.command()),
        "cwd": str(home.cwd),
        "env": dict(home.env),
        "socket": str(socket),
        "host_state": str(tmp_path / "host"),
        "state": str(tmp_path / "state"),
        "say": "Write the parser.",
    }
    try:
        killed_and_finished(spec, point)
    finally:
        LEFT.end(home.path)
        end = ["tmux", "-S", str(socket), "kill-server"]
        subprocess.run(end, check=False, capture_output=True)
        socket.unlink(missing_ok=True)

    [greeted] = handed_over(model)
    assert str(greeted.body).count("next: the lexer") == 1
