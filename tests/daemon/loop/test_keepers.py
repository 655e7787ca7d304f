"""The daemon works on plans by itself: it takes up, takes over, leaves and takes up again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest

from koboshi.daemon.control.client import Refused, call_running
from koboshi.daemon.lock import agent_lock
from koboshi.daemon.loop.keepers import Kept
from koboshi.plans import PlanStatus, StepState
from koboshi.store.progress import Progress, Start
from tests.daemon.loop.stages import PLAN, Theatre
from tests.daemon.loop.test_deaths import (
    begun,
    check_all_done,
    everything,
    open_door,
    read_all_the_time,
    slow,
    until,
)

#: Seconds of the longest life that is given to a daemon.
LIFE = 1.2


class Lodge:
    """A theatre with a daemon."""

    def __init__(self, theatre: Theatre) -> None:
        self.theatre = theatre
        self.daemons: list[subprocess.Popen[bytes]] = []

    def rise(self) -> subprocess.Popen[bytes]:
        """A daemon begins, in an environment that knows nothing of the theatre's `claude`."""
        known = {k: v for k, v in os.environ.items() if k != "PLAYER"}
        own = {"KOBOSHI_STATE": str(self.theatre.state), "KOBOSHI_CONFIG": str(self.theatre.folder)}
        env = {**known, **own, "PYTHONPATH": self.theatre.env["PYTHONPATH"]}
        words = [sys.executable, "-m", "koboshi.daemon.service"]
        daemon = subprocess.Popen(words, env=env, cwd="/", start_new_session=True)
        self.daemons.append(daemon)
        return daemon

    def fall(self, daemon: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
        """It ends."""
        daemon.send_signal(number)
        daemon.wait(30)

    def register(self, *words: str) -> None:
        """The plan was started once in a terminal, which died before anything was done."""
        stop = self.theatre.folder / "stop"
        stop.touch()
        path = self.theatre.path
        progress = Progress(self.theatre.state, path)
        start = {"path": str(path), "cwd": str(path.parent), "stop_file": str(stop)}
        progress.folder.mkdir(parents=True)
        more: dict[str, Any] = dict(word.split("=") for word in words)
        (progress.folder / "options.json").write_text(json.dumps({**start, **more}))
        (progress.folder / "environment.json").write_text(json.dumps(self.theatre.env))
        stop.unlink()

    def until_status(self, status: PlanStatus, seconds: float = 60.0) -> float:
        """Wait until the file says so."""
        return until(lambda: self.theatre.plan().status is status, seconds)


@pytest.fixture
def lodge(tmp_path: Path) -> Iterator[Lodge]:
    """A project with a plan of three steps, and perhaps a daemon."""
    made = Lodge(Theatre(tmp_path))
    yield made
    for daemon in made.daemons:
        if daemon.poll() is None:
            made.fall(daemon)
    for left in everything(made.theatre):
        with contextlib.suppress(psutil.Error):
            left.kill()


def test_a_daemon_that_starts_goes_on_with_a_running_plan(lodge: Lodge) -> None:
    """Nobody says resume; agent and verify commands have the environment of whoever started it."""
    lodge.register()
    lodge.theatre.edit("grep -q beta b.txt", 'grep -q beta b.txt && test -n "$PLAYER"')
    lodge.theatre.edit("STATUS: IDLE", "STATUS: RUNNING")
    lodge.rise()

    lodge.until_status(PlanStatus.DONE)

    check_all_done(lodge.theatre)


@pytest.mark.parametrize("status", ["IDLE", "WAITING", "FAILED", "DONE"])
def test_a_plan_that_does_not_say_running_is_left_alone(lodge: Lodge, status: str) -> None:
    """What it says is a person's to change; once it says RUNNING, it goes on."""
    lodge.register()
    lodge.theatre.edit("STATUS: IDLE", f"STATUS: {status}")
    text = lodge.theatre.path.read_text()
    lodge.rise()
    until(lambda: bool(call_running(lodge.theatre.state, "ping")))
    settled = time.monotonic() + 1.5
    until(lambda: time.monotonic() > settled)

    assert lodge.theatre.path.read_text() == text
    lodge.theatre.edit(f"STATUS: {status}", "STATUS: RUNNING")
    lodge.until_status(PlanStatus.DONE)


def test_a_plan_that_somebody_was_quicker_with_is_left_and_told_of(
    lodge: Lodge, caplog: pytest.LogCaptureFixture
) -> None:
    """No trouble of its own: it is not put off, and the log says why nothing was done."""
    path = lodge.theatre.path
    start = Start(path=str(path), cwd=str(path.parent))
    progress = Progress(lodge.theatre.state, path)
    progress.folder.mkdir(parents=True)
    ended = threading.Event()
    kept = Kept(lodge.theatre.state, start, ended.set)
    with caplog.at_level("INFO"), agent_lock(progress.lock):
        kept.thread.start()
        kept.thread.join(30)

    assert (ended.is_set(), kept.trouble) == (True, "")
    said = [(each.message, getattr(each, "reason", "")) for each in caplog.records]
    assert ("a plan was not taken up", "somebody else works on it") in said
    assert lodge.theatre.calls() == []


def test_a_loop_in_a_terminal_that_dies_is_taken_over(lodge: Lodge) -> None:
    """The daemon keeps its hands off while it lives; the agent is not fired again."""
    lodge.rise()
    keeper = begun(lodge.theatre)
    settled = time.monotonic() + 1.5
    until(lambda: time.monotonic() > settled)
    progress = Progress(lodge.theatre.state, lodge.theatre.path)
    assert progress.lock.read_text().strip() == str(keeper.pid)
    keeper.kill()
    keeper.communicate()
    until(lambda: progress.lock.read_text().strip() == str(lodge.daemons[0].pid), 5)
    open_door(lodge.theatre)

    lodge.until_status(PlanStatus.DONE)
    assert [call["step"] for call in lodge.theatre.calls()] == ["1", "2", "3"]
    assert lodge.theatre.plan().results[1].attempts == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_daemon_that_leaves_leaves_its_agents(lodge: Lodge, number: int) -> None:
    """They work on, and the next daemon goes on with them."""
    keeper = begun(lodge.theatre)
    keeper.kill()
    keeper.communicate()
    pid = lodge.theatre.plan().current.pid
    assert pid is not None
    first = lodge.rise()
    progress = Progress(lodge.theatre.state, lodge.theatre.path)
    until(lambda: progress.lock.read_text().strip() == str(first.pid))
    lodge.fall(first, number)

    assert psutil.pid_exists(pid)
    assert lodge.theatre.plan().status is PlanStatus.RUNNING
    lodge.rise()
    open_door(lodge.theatre)
    lodge.until_status(PlanStatus.DONE)
    assert [call["step"] for call in lodge.theatre.calls()] == ["1", "2", "3"]


def test_resume_shows_what_the_daemon_does(lodge: Lodge) -> None:
    """It does not work on it itself, and ends with the plan."""
    keeper = begun(lodge.theatre)
    keeper.kill()
    keeper.communicate()
    daemon = lodge.rise()
    progress = Progress(lodge.theatre.state, lodge.theatre.path)
    until(lambda: progress.lock.read_text().strip() == str(daemon.pid))
    theatre, pipe = lodge.theatre, subprocess.PIPE
    argv = theatre.argv("resume")
    with subprocess.Popen(
        argv, env=theatre.env, cwd=theatre.repo.top, stdout=pipe, stderr=pipe, text=True
    ) as shows:
        assert shows.stderr is not None
        assert "the daemon works on it" in shows.stderr.readline()
        open_door(theatre)
        said, complaints = shows.communicate(timeout=100)

    assert shows.returncode == 0, complaints
    assert "DONE, 3 steps" in said
    assert progress.lock.read_text().strip() == str(daemon.pid)


def test_stop_reaches_the_daemon(lodge: Lodge) -> None:
    """The agent is ended; the plan waits, and the daemon does not begin it again."""
    keeper = begun(lodge.theatre)
    keeper.kill()
    keeper.communicate()
    pid = lodge.theatre.plan().current.pid
    assert pid is not None
    lodge.rise()
    assert lodge.theatre.loop("stop").returncode == 0
    lodge.until_status(PlanStatus.WAITING)

    assert not psutil.pid_exists(pid)
    assert lodge.theatre.plan().steps[0].state is StepState.PENDING
    settled = time.monotonic() + 1.5
    until(lambda: time.monotonic() > settled)
    assert lodge.theatre.plan().status is PlanStatus.WAITING


def test_no_more_plans_at_a_time_than_allowed(lodge: Lodge) -> None:
    """Six that say RUNNING: four are worked on, the others when those are done."""
    theatre = lodge.theatre
    os.mkfifo(theatre.folder / "door")
    lodge.register()
    whole = PLAN.replace("STATUS: IDLE", "STATUS: RUNNING")
    for number in range(6):
        path = theatre.repo.write(f"p{number}/P{number}.md", whole)
        progress = Progress(theatre.state, path)
        progress.folder.mkdir(parents=True)
        start = {"path": str(path), "cwd": str(path.parent), "stop_file": str(theatre.folder / "s")}
        (progress.folder / "options.json").write_text(json.dumps(start))
        (progress.folder / "environment.json").write_text(json.dumps(theatre.env))
    theatre.play({"1": [{"write": {"a.txt": "alpha\n"}, "sh": f"cat {theatre.folder}/door"}]})
    lodge.rise()
    until(lambda: len(theatre.calls()) == 4)
    settled = time.monotonic() + 1.5
    until(lambda: time.monotonic() > settled)

    assert len(theatre.calls()) == 4


def killed_until_done(lodge: Lodge, seed: int, most: int) -> int:
    """Daemons are killed at random moments; how often."""
    draw, kills = Random(seed), 0
    while True:
        daemon = lodge.rise()
        patience = draw.uniform(0.3, LIFE) if kills < most else 120.0
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            # Read once: it may be done between two looks.
            status = lodge.theatre.plan().status
            if status is PlanStatus.DONE:
                return kills
            assert status is PlanStatus.RUNNING, lodge.theatre.path.read_text()
            time.sleep(0.02)
        kills += 1
        if draw.random() < 0.3:  # the machine: everything at once
            for each in everything(lodge.theatre):
                with contextlib.suppress(psutil.Error):
                    each.kill()
        lodge.fall(daemon)


def test_a_plan_survives_every_death_of_daemons(lodge: Lodge) -> None:
    """Daemons, agents and everything at once are killed; nobody ever says resume."""
    slow(lodge.theatre)
    lodge.register()
    lodge.theatre.edit("STATUS: IDLE", "STATUS: RUNNING")

    with read_all_the_time(lodge.theatre) as wrong:
        kills = killed_until_done(lodge, seed=11, most=6)

    assert wrong == []
    assert kills > 2
    check_all_done(lodge.theatre)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_hundred_deaths_of_daemons(tmp_path: Path) -> None:
    """The same, at length: as many plans as it takes."""
    kills = plans = 0
    while kills < 100:
        (tmp_path / str(plans)).mkdir()
        lodge = Lodge(Theatre(tmp_path / str(plans)))
        slow(lodge.theatre)
        lodge.register()
        lodge.theatre.edit("STATUS: IDLE", "STATUS: RUNNING")
        with read_all_the_time(lodge.theatre) as wrong:
            kills += killed_until_done(lodge, seed=200 + plans, most=40)
        plans += 1

        assert wrong == []
        check_all_done(lodge.theatre)
        lodge.fall(lodge.daemons[-1])
    sys.stdout.write(f"{kills} deaths of daemons in {plans} plans\n")


def ask(lodge: Lodge, verb: str, **args: Any) -> Any:  # noqa: ANN401 - JSON
    """One verb of the daemon's."""
    return call_running(lodge.theatre.state, verb, patience=30.0, **args)


def test_plans_are_listed_stopped_resumed_edited_and_answered_at_the_door(lodge: Lodge) -> None:
    """As a page asks for it; what came of each is told."""
    theatre = lodge.theatre
    keeper = begun(theatre)
    keeper.kill()
    keeper.communicate()
    pid = theatre.plan().current.pid
    lodge.rise()
    until(lambda: bool(call_running(theatre.state, "ping")))
    until(lambda: ask(lodge, "plans")[0]["keeper"])
    [row] = ask(lodge, "plans")
    id_ = row["id"]

    assert (row["status"], row["done"], row["steps"]) == ("RUNNING", 0, 3)
    assert row["step"]["text"] == "write a.txt → a.txt"
    assert json.loads(theatre.loop("ls", "--json").stdout) == ask(lodge, "plans")
    assert ask(lodge, "plan", id=id_)["plan"]["steps"][0]["verify"] == ["grep -q alpha a.txt"]
    assert ask(lodge, "plan-why", id=id_)[0]["finding"]["code"] == "PLN008"
    told = ask(lodge, "plan-follow")
    stopped = ask(lodge, "plan-stop", id=id_, wait=10.0)
    assert (stopped["outcome"], stopped["status"]) == ("done", "WAITING")
    assert not psutil.pid_exists(pid or 0)
    news = ask(lodge, "plan-follow", epoch=told["epoch"], after=told["count"], wait=5.0)
    assert [each["id"] for each in news["plans"]] == [id_]
    with pytest.raises(Refused, match="nothing to stop"):
        ask(lodge, "plan-stop", id=id_)

    text = ask(lodge, "plan", id=id_)["text"]
    mine = text.replace("keep it small", "keep it tiny")
    assert ask(lodge, "plan-edit", id=id_, base=text, text=mine)["outcome"] == "done"
    assert theatre.plan().constraints == "keep it tiny"
    with pytest.raises(Refused, match="you wrote 'huge', the file says 'keep it tiny'"):
        ask(lodge, "plan-edit", id=id_, base=text, text=text.replace("keep it small", "huge"))
    with pytest.raises(Refused, match="this would be no plan: line 1"):
        ask(
            lodge, "plan-edit", id=id_, base=text, text=text.replace("STATUS: WAITING", "STATUS: X")
        )
    assert theatre.plan().constraints == "keep it tiny"

    theatre.play({"1": [{"sh": "rm -f a.txt"}]})
    assert ask(lodge, "plan-resume", id=id_, wait=10.0)["outcome"] == "done"
    lodge.until_status(PlanStatus.FAILED)
    with pytest.raises(Refused, match="is FAILED"):
        ask(lodge, "plan-resume", id=id_)
    assert "What shall be different?" in ask(lodge, "plans")[0]["waits"]
    theatre.play({})
    ask(lodge, "plan-answer", id=id_, text="write it", wait=10.0)
    lodge.until_status(PlanStatus.DONE)
    assert "write it" in theatre.calls()[-3]["told"]
    with pytest.raises(Refused, match="asks nothing"):
        ask(lodge, "plan-answer", id=id_, text="more")
    with pytest.raises(Refused, match="expected a plan that was started here, not 'nope'"):
        ask(lodge, "plan", id="nope")
