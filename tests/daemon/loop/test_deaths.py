"""Whoever dies, at any moment: the loop goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import psutil
import pytest

from koboshi.hosts import recorder
from koboshi.hosts.base import Launch
from koboshi.hosts.runs import RunFolder
from koboshi.plans import (
    Current,
    PlanStatus,
    StepResult,
    StepState,
    parse,
    render,
    set_current,
    set_result,
    set_state,
    set_status,
)
from koboshi.store.firings import Firing, Firings
from tests.daemon.loop.stages import Theatre

#: Seconds of the longest life that is given to a keeper.
LIFE = 2.0


@contextlib.contextmanager
def staged(folder: Path) -> Iterator[Theatre]:
    """A project with a plan of three steps; whoever is left when a test fails is ended."""
    made = Theatre(folder)
    try:
        yield made
    finally:
        for left in everything(made):
            with contextlib.suppress(psutil.Error):
                left.kill()


@pytest.fixture
def theatre(tmp_path: Path) -> Iterator[Theatre]:
    """The same for one test."""
    with staged(tmp_path) as made:
        yield made


@contextlib.contextmanager
def read_all_the_time(theatre: Theatre) -> Iterator[list[str]]:
    """A reader in a tight loop; what was wrong with the file, if it ever was."""
    over, wrong = threading.Event(), list[str]()

    def read() -> None:
        while not over.is_set():
            plan = parse(theatre.path.read_text(encoding="utf-8"))
            wrong.extend(str(fault) for fault in plan.faults)
            over.wait(0.001)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield wrong
    finally:
        over.set()
        reader.join()


def everything(theatre: Theatre) -> list[psutil.Process]:
    """All processes of that theatre but ours: keeper, recorders, agents."""
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if each.environ().get("PLAYER") == str(theatre.folder):
                found.append(each)
    return found


def killed_until_done(theatre: Theatre, seed: int, most: int) -> int:
    """Start, kill at a random moment, start again …; how often somebody was killed."""
    draw, kills = Random(seed), 0
    words: tuple[str, ...] = ("M1.md", "--stop-file", str(theatre.folder / "stop"))
    while True:
        with (
            (theatre.folder / "said").open("w") as said_to,
            subprocess.Popen(
                theatre.argv(*words), env=theatre.env, cwd=theatre.repo.top, stderr=said_to
            ) as keeper,
        ):
            patience = draw.uniform(0.0, LIFE) if kills < most else 60
            with contextlib.suppress(subprocess.TimeoutExpired):
                keeper.wait(patience)
            if keeper.poll() is not None:
                said = (theatre.folder / "said").read_text()
                assert keeper.returncode == 0, said
                return kills
            kills += 1
            if draw.random() < 0.3:  # the machine: everything at once
                for each in everything(theatre):
                    with contextlib.suppress(psutil.Error):
                        each.kill()
            keeper.kill()
        words = ("resume",)
        if theatre.plan().status is PlanStatus.DONE:
            return kills


def check_all_done(theatre: Theatre) -> None:
    """DONE, each step committed once, no step fired twice at once."""
    plan = theatre.plan()
    assert plan.status is PlanStatus.DONE, theatre.path.read_text()
    assert [step.state for step in plan.steps] == [StepState.DONE] * 3
    assert theatre.commits() == [step.text for step in plan.steps]
    assert [plan.results[n].verified for n in (1, 2, 3)] == [True] * 3
    hashes = theatre.repo.git("log", "--reverse", "--format=%h").decode().split()[1:]
    assert [plan.results[n].commit for n in (1, 2, 3)] == hashes
    assert not (theatre.folder / "twice").exists()
    order = [int(call["step"]) for call in theatre.calls()]
    assert order == sorted(order), "a step that was verified was run again"


def slow(theatre: Theatre) -> None:
    """Agents that take a moment, so that they can be met at work."""
    scenes = {}
    for step, name, word in (("1", "a", "alpha"), ("2", "b", "beta"), ("3", "c", "gamma")):
        scenes[step] = [{"write": {f"{name}.txt": f"{word}\n"}, "sh": "sleep 0.3"}]
    theatre.play(scenes)


def test_a_plan_survives_every_death(theatre: Theatre) -> None:
    """Keepers, agents and everything at once are killed; the file is a plan all the time."""
    slow(theatre)
    theatre.edit("STATUS: IDLE", "STATUS: RUNNING")

    with read_all_the_time(theatre) as wrong:
        kills = killed_until_done(theatre, seed=7, most=8)

    assert wrong == []
    assert kills > 2
    check_all_done(theatre)


@pytest.mark.soak
def test_a_hundred_deaths(tmp_path: Path) -> None:
    """The same, at length: as many plans as it takes."""
    kills = plans = 0
    while kills < 100:
        (tmp_path / str(plans)).mkdir()
        theatre = Theatre(tmp_path / str(plans))
        slow(theatre)
        theatre.edit("STATUS: IDLE", "STATUS: RUNNING")
        with read_all_the_time(theatre) as wrong:
            kills += killed_until_done(theatre, seed=100 + plans, most=40)
        plans += 1

        assert wrong == []
        check_all_done(theatre)
    sys.stdout.write(f"{kills} deaths in {plans} plans\n")


def begun(theatre: Theatre, *words: str) -> subprocess.Popen[bytes]:
    """A keeper whose agent of step 1 is at work."""
    theatre.play({"1": [{"write": {"a.txt": "alpha\n"}, "sh": f"cat {theatre.folder}/door"}]})
    os.mkfifo(theatre.folder / "door")
    argv = theatre.argv("M1.md", "--stop-file", str(theatre.folder / "stop"), *words)
    keeper = subprocess.Popen(argv, env=theatre.env, cwd=theatre.repo.top, stderr=subprocess.PIPE)
    until(lambda: bool(theatre.calls()) and theatre.plan().current.pid is not None)
    return keeper


def until(so: object, seconds: float = 30.0) -> float:
    """Wait until something is so; how long that took."""
    assert callable(so)
    began = time.monotonic()
    while not so():
        assert time.monotonic() - began < seconds, "not so in time"
        time.sleep(0.01)
    return time.monotonic() - began


def quickest(folder: Path, seconds: float, once: Callable[[Theatre], float]) -> float:
    """The least that took, in up to three tries from the start: a machine may stall for a while."""
    took = list[float]()
    for number in range(3):
        with staged(folder / str(number)) as theatre:
            took.append(once(theatre))
        if took[-1] < seconds:
            break
    return min(took)


def open_door(theatre: Theatre) -> None:
    """Let the agent go on."""
    with (theatre.folder / "door").open("w") as door:
        door.write("go\n")


def test_an_agent_that_goes_on_is_watched_on(theatre: Theatre) -> None:
    """The keeper is killed and started again while the agent works: it is not fired again."""
    keeper = begun(theatre)
    pid = theatre.plan().current.pid
    keeper.kill()
    keeper.communicate()
    again = subprocess.Popen(
        theatre.argv("resume"), env=theatre.env, cwd=theatre.repo.top, stderr=subprocess.DEVNULL
    )
    assert pid is not None
    assert psutil.pid_exists(pid)
    open_door(theatre)

    assert again.wait(60) == 0
    assert [call["step"] for call in theatre.calls()] == ["1", "2", "3"]
    assert theatre.plan().results[1].attempts == 1


def test_an_agent_that_finished_meanwhile_is_verified(theatre: Theatre) -> None:
    """Nobody was there when it ended."""
    keeper = begun(theatre)
    keeper.kill()
    keeper.communicate()
    open_door(theatre)
    until((theatre.folder / "ends").exists)
    ran = theatre.loop("resume")

    assert ran.returncode == 0, ran.stderr
    assert [call["step"] for call in theatre.calls()] == ["1", "2", "3"]
    assert "PLN005 the run of step 1 has ended" in ran.stderr.splitlines()[0]


def test_a_run_that_nobody_released_is_started_anew(
    theatre: Theatre,
) -> None:
    """Its folder is there, its recorder was never told what to start."""
    theatre.loop("M1.md", "--attempts", "1")
    task = theatre.plan().current.task_id
    [folder] = (theatre.state / "headless").glob(f"{task}-*")
    for name in ("child.json", "status.json", "stdout", "stderr"):
        (folder / name).unlink()
    record = theatre.state / "tasks" / task
    (record / "report.json").unlink()
    firing = json.loads((record / "firing.json").read_text())
    (record / "firing.json").write_text(json.dumps({**firing, "created": time.time() - 11}))
    theatre.edit("STATUS: DONE", "STATUS: RUNNING")
    theatre.edit("3: [DONE] write c.txt → c.txt", "3: [RUNNING] write c.txt → c.txt")
    theatre.play({"3": [{"write": {"c.txt": "again\n"}}]})
    ran = theatre.loop("resume")

    assert "PLN003 run" in ran.stderr.splitlines()[0]
    assert ran.returncode == 0, ran.stderr


def test_an_agent_that_was_killed_is_fired_again(theatre: Theatre) -> None:
    """It counts as an attempt."""
    keeper = begun(theatre)
    keeper.kill()
    keeper.communicate()
    pid = theatre.plan().current.pid
    assert pid is not None
    theatre.play({})
    os.kill(pid, signal.SIGKILL)
    ran = theatre.loop("resume")

    assert ran.returncode == 0, ran.stderr
    assert [call["step"] for call in theatre.calls()] == ["1", "1", "2", "3"]
    assert theatre.plan().results[1].attempts == 2


def test_a_machine_that_goes_off_takes_no_attempt_away(theatre: Theatre) -> None:
    """Keeper, recorder and agent are gone at once, four times in one step: it is done."""
    keeper = begun(theatre)
    for number in range(2, 6):
        for each in everything(theatre):
            with contextlib.suppress(psutil.Error):
                each.kill()
        keeper.communicate()
        if number < 5:
            argv = theatre.argv("resume")
            keeper = subprocess.Popen(
                argv, env=theatre.env, cwd=theatre.repo.top, stderr=subprocess.PIPE
            )
            until(lambda count=number: len(theatre.calls()) == count)
    theatre.play({})
    ran = theatre.loop("resume")

    assert ran.returncode == 0, ran.stderr
    result = theatre.plan().results[1]
    assert (result.attempts, result.verified) == (5, True)
    assert result.tried.count("(cut off, does not count) The run failed") == 4


@pytest.mark.parametrize("how", ["file", "plan", "order", "edit"])
def test_stop_ends_the_agent_within_a_second(tmp_path: Path, how: str) -> None:
    """The state is kept, nothing is counted; resume goes on."""
    seconds = 1.5 if how == "edit" else 1.0
    assert quickest(tmp_path, seconds, lambda theatre: stopped(theatre, how)) < seconds


def stopped(theatre: Theatre, how: str) -> float:
    """How long a stop took; all else about it is checked."""
    keeper = begun(theatre)
    pid = theatre.plan().current.pid
    assert pid is not None
    if how == "order":
        assert theatre.loop("stop").returncode == 0
    elif how == "edit":
        theatre.edit("STATUS: RUNNING", "STATUS: WAITING")
    else:
        (theatre.folder / ("stop" if how == "file" else "stop-M1")).touch()
    waited = until(lambda: not alive(pid))
    _, said = keeper.communicate(timeout=30)

    assert keeper.returncode == 1
    assert b"the plan is WAITING: stopped:" in said
    plan = theatre.plan()
    assert (plan.status, plan.steps[0].state) == (PlanStatus.WAITING, StepState.PENDING)
    assert plan.results[1].attempts == 0
    for name in ("stop", "stop-M1"):
        (theatre.folder / name).unlink(missing_ok=True)
    theatre.play({})
    assert theatre.loop("resume").returncode == 0
    return waited


def alive(pid: int) -> bool:
    """Whether it runs, and is no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_stop_ends_an_agent_that_nobody_looks_after(theatre: Theatre) -> None:
    """Whoever fired it was killed, and no daemon is there: the word itself ends it."""
    keeper = begun(theatre)
    keeper.kill()
    keeper.communicate()
    pid = theatre.plan().current.pid
    assert pid is not None

    ran = theatre.loop("stop")

    assert (ran.returncode, ran.stdout) == (0, "stopped: M1.md is WAITING\n")
    assert not alive(pid)
    plan = theatre.plan()
    assert (plan.status, plan.steps[0].state) == (PlanStatus.WAITING, StepState.PENDING)
    again = theatre.loop("stop")
    assert (again.returncode, again.stderr) == (
        1, "koboshi: M1.md is WAITING: there is nothing to stop\n"
    )  # fmt: skip
    theatre.play({})
    assert theatre.loop("resume").returncode == 0
    assert theatre.plan().results[1].attempts == 1


def test_stop_is_heard_while_the_file_is_damaged(tmp_path: Path) -> None:
    """The agent is ended; the file is as its person left it."""
    assert quickest(tmp_path, 1.0, stopped_with_damage) < 1.0


def stopped_with_damage(theatre: Theatre) -> float:
    """How long a stop took while the file was damaged; all else about it is checked."""
    keeper = begun(theatre)
    pid = theatre.plan().current.pid
    assert pid is not None
    theatre.edit("    2: [PENDING]", "    2: [PENDIG]")
    text = theatre.path.read_text(encoding="utf-8")
    journal = theatre.state / "plans"
    until(lambda: any('"damaged"' in p.read_text() for p in journal.glob("*/journal.jsonl")))
    (theatre.folder / "stop").touch()
    waited = until(lambda: not alive(pid))
    _, said = keeper.communicate(timeout=30)

    assert b"stopped:" in said
    assert b"PENDIG" in said
    assert theatre.path.read_text(encoding="utf-8") == text
    return waited


def test_nothing_is_begun_while_the_stop_file_is_there(theatre: Theatre) -> None:
    """And it is said so."""
    (theatre.folder / "stop").touch()

    ran = theatre.loop("M1.md")

    assert ran.returncode == 1
    assert "nothing is begun while" in ran.stderr
    assert theatre.calls() == []


def test_a_person_edits_while_it_works(theatre: Theatre) -> None:
    """Another goal and another last step are taken in; nothing is lost."""
    keeper = begun(theatre)
    theatre.edit("CONSTRAINTS: keep it small", "CONSTRAINTS: 小さく、速く   # by me")
    theatre.edit("3: [PENDING] write c.txt → c.txt", "3: [PENDING] write d.txt → d.txt")
    open_door(theatre)
    keeper.communicate(timeout=60)

    assert keeper.returncode == 0
    assert theatre.commits()[2] == "write d.txt → d.txt"
    assert "小さく、速く" in theatre.calls()[1]["told"]
    assert "小さく、速く   # by me" in theatre.path.read_text()


def test_a_conflict_waits(theatre: Theatre) -> None:
    """The step at work is reworded: both versions are shown, the person's stands."""
    keeper = begun(theatre)
    theatre.edit("[RUNNING] write a.txt → a.txt", "[RUNNING] write A.TXT → A.TXT")
    _, said = keeper.communicate(timeout=60)

    assert keeper.returncode == 1, said
    plan = theatre.plan()
    assert plan.status is PlanStatus.WAITING
    assert plan.steps[0].text == "write A.TXT → A.TXT"
    assert "told 'write a.txt → a.txt', the file says 'write A.TXT → A.TXT'" in plan.next_action


def test_a_damaged_file_is_left_alone_until_it_is_mended(theatre: Theatre) -> None:
    """The agent goes on meanwhile; what it did is verified later."""
    keeper = begun(theatre)
    whole = theatre.path.read_text()
    theatre.path.write_text(whole.replace("STATUS: RUNNING", "STATUS: RUNING"))
    open_door(theatre)
    journal = theatre.state / "plans"
    until(lambda: any('"damaged"' in p.read_text() for p in journal.glob("*/journal.jsonl")))
    kept = theatre.path.read_text()
    theatre.path.write_text(whole)
    keeper.communicate(timeout=60)

    assert kept == whole.replace("STATUS: RUNNING", "STATUS: RUNING")
    assert keeper.returncode == 0
    assert [call["step"] for call in theatre.calls()] == ["1", "2", "3"]


def test_two_keepers_of_one_plan_are_one_too_many(theatre: Theatre) -> None:
    """The second says who the first is."""
    keeper = begun(theatre)
    second = theatre.loop("resume")
    open_door(theatre)
    keeper.communicate(timeout=60)

    assert second.returncode == 1
    assert f"pid {keeper.pid}" in second.stderr
    assert keeper.returncode == 0


def test_what_a_killed_writer_left_is_nobodys_work(theatre: Theatre) -> None:
    """A file of ours beside the plan is swept, and not taken for the step's."""
    keeper = begun(theatre)
    keeper.kill()
    keeper.communicate()
    left = theatre.path.with_name(".M1.md.0123abcd")
    left.write_text("half a plan")
    open_door(theatre)
    ran = theatre.loop("resume")

    assert ran.returncode == 0, ran.stderr
    assert theatre.plan().results[1].attempts == 1
    assert not left.exists()


def test_the_first_move_comes_soon_after_a_start(theatre: Theatre) -> None:
    """Within two seconds on an idle machine, of which Python takes a part; this one is shared."""
    keeper = begun(theatre)
    keeper.kill()
    keeper.communicate()
    open_door(theatre)
    until((theatre.folder / "ends").exists)
    began = time.time()
    theatre.loop("resume")
    notes = next((theatre.state / "plans").glob("*/journal.jsonl")).read_text().splitlines()
    first = next(json.loads(row) for row in notes if json.loads(row)["utc"] > began)

    assert first["utc"] - began < 10


def test_a_run_that_nobody_let_begin_is_fired_again(theatre: Theatre) -> None:
    """Its keeper died before it was let go: no attempt is lost, and none is counted."""
    plan = set_status(theatre.plan(), PlanStatus.RUNNING)
    plan = set_state(plan, 1, StepState.RUNNING)
    plan = set_result(plan, 1, StepResult(attempts=1))
    plan = set_current(plan, Current(task_id="task_0000abcd", pid=1, command="x"))
    theatre.path.write_text(render(plan), encoding="utf-8")
    told = f"step 1 of 3\n{plan.steps[0].text}"
    Firings(theatre.state).keep(
        Firing(task="task_0000abcd", agent="claude", instruction=told, cwd=str(theatre.repo.top),
               created=time.time(), timeout=None, before="", why_none="x")
    )  # fmt: skip
    launch = Launch(agent="task_0000abcd", run=1, argv=("claude",), cwd=str(theatre.repo.top))
    folder = RunFolder.create(theatre.state / "headless", launch)
    spec = {"agent": launch.agent, "run": 1, "argv": ["claude"], "cwd": launch.cwd, "env": []}
    size = {"cols": 80, "rows": 24, "created": time.time()}
    recorder.write(str(folder.path), "spec.json", {**spec, **size})
    recorder.write(str(folder.path), "status.json", {"error": recorder.UNLEASHED})

    ran = theatre.loop("resume")

    assert ran.returncode == 0, ran.stderr
    assert [call["step"] for call in theatre.calls()] == ["1", "2", "3"]
    assert theatre.plan().results[1].attempts == 1
    assert not theatre.plan().results[1].tried
