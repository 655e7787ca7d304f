"""`koboshi reload` as an agent and a person type it, through a daemon and a real tmux."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.trials import Trial, trial

pytestmark = pytest.mark.tmux

WORKS = (
    '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n\n'
    '[[act]]\ndo = "work"\nseconds = 300\nsay = "Late."\n\n'
)
#: An agent that is no known CLI and restarts itself from its own shell, once.
ITSELF = """\
env | grep ^KOBOSHI_ > "$0.part"; mv "$0.part" "$0.$KOBOSHI_RUN_NUMBER"
test "$KOBOSHI_RUN_NUMBER" = 1 && {python} -m koboshi reload --reason again > "$0.said" 2>&1
sleep 300
"""


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own."""
    with trial(tmp_path) as made:
        yield made


def test_a_person_restarts_an_agent_in_its_turn(koboshi: Trial) -> None:
    """Resumed, within seconds, and told why."""
    argv = koboshi.script(WORKS)
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *argv)
    koboshi.until_status("a", "idle")
    koboshi.say("send", "a", "go")
    koboshi.until_status("a", "idle")
    koboshi.say("send", "a", "go on")
    before = koboshi.until_status("a", "working")
    asked = time.monotonic()

    said = koboshi.say("reload", "a", "--reason", "new  tools", "--context-file", "-", stdin="at 3")

    answered = time.monotonic() - asked
    assert "run 1 ends now" in said
    after = koboshi.until("a", lambda known: known["run"]["number"] == 2)
    assert time.monotonic() - asked < answered + 5.0
    assert after["run"]["session"] == before["run"]["session"]
    koboshi.until_status("a", "working")
    shown = koboshi.until_said("You are back: run #2, restarted once.", "events", "a")
    assert "person said: reload 'new tools'" in shown


def test_any_program_finds_its_daemon_and_restarts_itself(koboshi: Trial) -> None:
    """Also one that koboshi knows nothing about: the environment says who it is and where."""
    script = koboshi.folder / "agent.sh"
    script.write_text(ITSELF.format(python=sys.executable))

    koboshi.say("run", "-d", "--name", "b", "--", "sh", str(script))
    koboshi.until("b", lambda known: known["run"]["number"] == 2)
    koboshi.until("b", lambda _: Path(f"{script}.2").exists())  # its shell takes a moment

    first, second = (Path(f"{script}.{run}").read_text() for run in (1, 2))
    assert "KOBOSHI_AGENT=b" in first
    assert f"KOBOSHI_STATE={koboshi.state}" in first
    assert "KOBOSHI_RUN_NUMBER=2" in second


def test_mistakes_are_sentences(koboshi: Trial) -> None:
    """Outside of an agent, about an unknown one, about a run that is over, with too many words."""
    koboshi.say("run", "-d", "--name", "a", "--", "sleep", "300")
    long = "x" * 9000

    nobody = koboshi.type("reload")
    unknown = koboshi.type("reload", "nosuch")
    too_long = koboshi.type("reload", "a", "--context", long)
    both = koboshi.type("reload", "a", "--context", "x", "--context-file", "y")
    missing = koboshi.type("reload", "a", "--context-file", "nosuch.md")
    late = subprocess.run(
        [sys.executable, "-m", "koboshi", "reload"],
        env={**koboshi.environment, "KOBOSHI_AGENT": "a", "KOBOSHI_RUN_NUMBER": "7"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert "not inside one" in nobody.stderr
    assert "nosuch" in unknown.stderr
    assert "at most 8000 characters" in too_long.stderr
    assert "not both" in both.stderr
    assert "nosuch.md: no such file" in missing.stderr
    assert "run 7 of a is over" in late.stderr
    codes = [r.returncode for r in (nobody, unknown, too_long, both, missing, late)]
    assert codes == [2, 2, 2, 2, 4, 2]
    assert all("Traceback" not in r.stderr for r in (nobody, unknown, missing, late))
    assert os.environ.get("KOBOSHI_AGENT") is None
