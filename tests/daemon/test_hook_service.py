"""A program of the owner's in the place of a restart, with a real daemon and a real tmux."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.trials import PATIENCE, Trial, trial

pytestmark = pytest.mark.tmux

IDLE = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n' * 3


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own."""
    with trial(tmp_path) as made:
        yield made


def test_a_program_brings_an_agent_back_in_its_pane(koboshi: Trial) -> None:
    """It gets the facts, types what it likes, and koboshi sees the next run."""
    socket, got = koboshi.folder / "u", koboshi.folder / "facts.json"
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    argv = shlex.join(koboshi.script(IDLE))
    hook = koboshi.folder / "raise"
    typed = shlex.join([*tmux, "send-keys", "-t", "cc", argv, "Enter"])
    hook.write_text(f"#!/bin/sh\ncat > {got}\n{typed}\necho raised\n")
    hook.chmod(0o755)
    koboshi.configure(f'[actions.restart]\nrun = ["{hook}"]\nwhen = "instead"\n')
    subprocess.run([*tmux, "new-session", "-d", "-s", "cc", "-x", "90", "-y", "30"], check=True)
    try:
        subprocess.run([*tmux, "send-keys", "-t", "cc", argv, "Enter"], check=True)
        watch = ("watch", "-S", str(socket), "cc:0.0", "--name", "a", "--as", "scripted")
        deadline = time.monotonic() + PATIENCE
        while koboshi.type(*watch).returncode != 0:
            assert time.monotonic() < deadline
        known = koboshi.until_status("a", "idle")
        os.kill(known["run"]["pid"], signal.SIGKILL)
        known = koboshi.until("a", lambda k: k["run"]["number"] == 2 and k["status"] == "idle")
        events = koboshi.say("events", "a", "--json")
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)

    facts = json.loads(got.read_text())
    assert set(facts) == {"reason", "eventId", "severity", "details", "context"}
    assert (facts["details"]["rule"], facts["context"]["agent"]) == ("RUN001", "a")
    assert facts["details"]["argv"]
    assert "hook ended with 0: raised" in events
