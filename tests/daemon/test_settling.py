"""What is set for an agent reaches its supervisor."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.core.actions import Mode
from koboshi.core.settings import Settings
from koboshi.daemon.settling import checked, settled
from koboshi.errors import ConfigBroken
from koboshi.store.roster import Entry, Roster
from tests.daemon.trials import Trial, trial
from tests.hosts.waiting import program

IDLE = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n' * 3


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, which is not there yet."""
    monkeypatch.setenv("KOBOSHI_CONFIG", str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    return tmp_path / "own" / "koboshi.toml"


def entry(cwd: Path, **more: str) -> Entry:
    """An agent that works there."""
    return Entry(agent="api", agent_type="claude", argv=("claude",), cwd=str(cwd), **more)  # type: ignore[arg-type]


def test_a_mistake_refuses_an_enrolment_and_not_a_take_up(
    own: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A person is there the one time, and asleep the other."""
    own.write_text('idle_after = "soon"\nrun_max = 60\n')

    with pytest.raises(ConfigBroken, match=r"koboshi.toml:1: idle_after: expected a time"):
        asyncio.run(checked(entry(tmp_path)))
    with caplog.at_level(logging.WARNING):
        assert asyncio.run(settled(entry(tmp_path))) == Settings(run_max=60.0)
    assert "idle_after: expected a time" in caplog.records[0].__dict__["reason"]


def test_a_strangers_mistakes_are_only_told(own: Path, tmp_path: Path) -> None:
    """Nobody can keep an agent from being looked after by a file in its folder."""
    own.write_text("run_max = 60\n")
    (tmp_path / "koboshi.toml").write_text('mode = "auto"\nx = 1\n')

    notes = asyncio.run(checked(entry(tmp_path)))
    assert len(notes) == 2
    assert asyncio.run(settled(entry(tmp_path))) == Settings(run_max=60.0)


def test_the_mode_of_the_command_line_wins(own: Path, tmp_path: Path) -> None:
    """An entry without one has the configured mode."""
    own.write_text('mode = "auto"\n')

    assert asyncio.run(settled(entry(tmp_path))).mode is Mode.AUTO
    assert asyncio.run(settled(entry(tmp_path, mode="observe"))).mode is Mode.OBSERVE


# --- with a daemon -------------------------------------------------------------------------------


@pytest.fixture
def koboshi(tmp_path: Path, own: Path) -> Iterator[Trial]:  # noqa: ARG001 - its place is known
    """A koboshi of its own, which knows the user's own file."""
    with trial(tmp_path) as made:
        yield made


@pytest.mark.tmux
def test_what_is_set_is_in_force_from_the_next_take_up(
    koboshi: Trial, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, variables of the caller, the command line; a restart of the daemon reads anew."""
    own.write_text('mode = "observe"\nidle_after = "5m"\n')
    monkeypatch.setenv("KOBOSHI_RUN_MAX", "77")
    monkeypatch.setenv("IDLE_SECS", "1")  # not read by `run`
    monkeypatch.setenv("KOBOSHI_API_TOKEN", "secret")
    koboshi.say("run", "-d", "--name", "a", "--", *program("printer"))

    assert koboshi.status("a")["mode"] == "observe"
    assert Roster(koboshi.state).entry("a").variables == {"KOBOSHI_RUN_MAX": "77"}
    facts = json.loads(koboshi.say("config", "a", "--json"))
    found = {each["key"]: (each["shown"], each["from"]) for each in facts["values"]}
    assert found["idle_after"] == ("5m", f"{own}:2")
    assert found["run_max"] == ("1m17s", "KOBOSHI_RUN_MAX")
    assert facts["in_force"] == {}

    own.write_text("idle_after = 9\n")
    facts = json.loads(koboshi.say("config", "a", "--json"))
    assert facts["in_force"] == {"mode": "observe", "idle_after": "5m"}
    koboshi.say("daemon", "restart")
    koboshi.until("a", lambda known: known["mode"] == "keep")
    assert json.loads(koboshi.say("config", "a", "--json"))["in_force"] == {}


@pytest.mark.tmux
def test_a_mistake_starts_nothing(koboshi: Trial, own: Path) -> None:
    """All of them are told, with exit code 2."""
    own.write_text("idle_aftr = 1\nmode = 3\n")
    ran = koboshi.type("run", "-d", "--name", "a", "--", *program("printer"))

    assert ran.returncode == 2
    assert "koboshi.toml:1: idle_aftr: expected" in ran.stderr
    assert "koboshi.toml:2: mode: expected 'observe', 'keep' or 'auto', not 3" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert Roster(koboshi.state).entries() == ()


@pytest.mark.tmux
def test_watch_reads_the_plain_names(koboshi: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the shell that typed it, its target included."""
    socket = koboshi.folder / "u"
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    command = " ".join(koboshi.script(IDLE))
    subprocess.run([*tmux, "new-session", "-d", "-s", "cc", command], check=True)
    monkeypatch.setenv("IDLE_SECS", "123")
    monkeypatch.setenv("ON_ERR_429_ACTION", "retry")
    monkeypatch.setenv("TARGET", "cc:0.0")
    try:
        deadline = time.monotonic() + 20
        while koboshi.type(
            "watch", "-S", str(socket), "--name", "a", "--as", "scripted"
        ).returncode:
            assert time.monotonic() < deadline
        facts = json.loads(koboshi.say("config", "a", "--json"))
        found = {each["key"]: (each["value"], each["from"]) for each in facts["values"]}
        assert found["idle_after"] == (123.0, "IDLE_SECS")
        put = {**dict(Settings().on_error), "429": "retry"}
        assert found["on_error"] == (put, "ON_ERR_429_ACTION")
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
