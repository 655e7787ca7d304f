"""The daemon as a person meets it: it is there when needed, it is one, and agents outlive it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from koboshi.daemon.control.client import door
from tests.daemon.trials import PATIENCE, Trial, trial
from tests.hosts.waiting import program

pytestmark = pytest.mark.tmux

IDLE = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n' * 3
FAILS = '[[act]]\ndo = "fail"\ncode = "401"\n'
ASKS = '[[act]]\ndo = "ask"\ncommand = "npm test"\n\n[[act]]\ndo = "end_turn"\n'


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own."""
    with trial(tmp_path) as made:
        yield made


def mode(path: Path) -> str:
    """Permission bits."""
    return oct(path.stat().st_mode & 0o777)


def test_the_first_command_that_needs_a_daemon_starts_it(koboshi: Trial) -> None:
    """`ls` of nobody does not; `run` does. Socket and folders are the owner's alone."""
    assert "no agents yet" in koboshi.say("ls")
    assert koboshi.daemon() is None

    said = koboshi.say("run", "-d", "--name", "a", "--", *program("printer"))

    assert "a is running" in said
    first = koboshi.daemon()
    assert first is not None
    assert [mode(door(koboshi.state)), mode(door(koboshi.state).parent)] == ["0o600", "0o700"]
    secret = koboshi.state / "agents" / "a" / "environment.json"
    assert [mode(secret), mode(koboshi.state)] == ["0o600", "0o700"]
    koboshi.say("ls")
    assert koboshi.daemon() == first
    assert first.cwd() == "/"


def test_many_callers_at_once_start_one_daemon(koboshi: Trial) -> None:
    """The lock decides; whoever lost finds the other's door."""
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(lambda _: koboshi.type("daemon", "start"), range(4)))

    assert [each.returncode for each in ran] == [0] * 4
    pids = {each.stdout.split(",")[0] for each in ran}
    assert len(pids) == 1


def test_agents_outlive_a_killed_daemon_and_are_taken_up_again(koboshi: Trial) -> None:
    """A stale socket and a stale lock stay behind; nothing of the agent changes."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    before = koboshi.until_status("a", "idle")
    daemon = koboshi.daemon()
    assert daemon is not None
    daemon.kill()
    daemon.wait(PATIENCE)
    assert door(koboshi.state).exists()

    koboshi.say("ls")
    after = koboshi.until_status("a", "idle")

    assert after["run"] == {**before["run"], "started": after["run"]["started"]}
    assert abs(after["run"]["started"] - before["run"]["started"]) < 1.0
    assert psutil.pid_exists(after["run"]["pid"])
    assert koboshi.daemon() != daemon


def test_an_exit_while_no_daemon_ran_is_known_with_its_signal(koboshi: Trial) -> None:
    """The recorder saw it; in observe mode nothing is started again."""
    argv = koboshi.script(IDLE)
    words = ("--name", "a", "--mode", "observe", "--as", "scripted")
    koboshi.say("run", "-d", *words, "--", *argv)
    pid = koboshi.until_status("a", "idle")["run"]["pid"]
    koboshi.say("daemon", "stop")
    os.kill(pid, signal.SIGKILL)

    koboshi.say("daemon", "start")
    known = koboshi.until_status("a", "gone")

    assert known["run"]["exit"] == {"code": None, "signal": 9, "meant": False}


def test_a_crash_is_brought_back_by_the_daemon(koboshi: Trial) -> None:
    """The whole way: process gone, decided, started, seen."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    pid = koboshi.until_status("a", "idle")["run"]["pid"]
    os.kill(pid, signal.SIGKILL)

    known = koboshi.until("a", lambda k: k["run"]["number"] == 2 and k["status"] == "idle")

    assert known["run"]["origin"] == "resumed"
    assert "run 1 is gone" in koboshi.say("why", "a", "--all")


def test_stop_ends_all_that_the_agent_started(koboshi: Trial) -> None:
    """Also what left its session; nothing is started again, and the exit counts as meant."""
    koboshi.say("run", "-d", "--name", "a", "--", *program("toolbox"))
    koboshi.until("a", lambda known: any("far=" in line for line in known["lines"]))
    [record] = koboshi.state.glob("runs/*/child.json")
    mark = json.loads(record.read_bytes())["mark"]
    assert len(_marked(mark)) >= 3

    said = koboshi.say("stop", "a")

    assert said == "a: ended by SIGTERM\n"
    assert _marked(mark) == []
    listed = json.loads(koboshi.say("ls", "--json"))[0]
    assert (listed["status"], listed["halted"], listed["run"]["exit"]["meant"]) == (
        "gone",
        "stop",
        True,
    )
    assert "a  " in koboshi.say("ls")
    assert "stopped" in koboshi.say("ls")


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("KOBOSHI_RUN") == mark and process.status() != "zombie":
                found.append(process)
    return found


def test_a_shell_that_koboshi_runs_is_alive_and_is_ended_by_stop(koboshi: Trial) -> None:
    """Its prompt is what it is for: in a terminal of our own the recorder tells of an end."""
    koboshi.say("run", "-d", "--name", "a", "--", "bash", "--norc", "--noprofile", "-i")
    known = koboshi.until("a", lambda k: any("bash-" in line for line in k["lines"]))
    assert (known["status"], known["run"]["exit"]) == ("unknown", None)

    assert "a: ended by" in koboshi.say("stop", "a")

    assert not psutil.pid_exists(known["run"]["pid"])


def test_a_stopped_agent_is_started_again_and_taken_off_the_list(koboshi: Trial) -> None:
    """With the command it had."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    koboshi.until_status("a", "idle")
    running = koboshi.type("rm", "a")
    assert (running.returncode, "is running already" in running.stderr) == (2, True)
    koboshi.say("stop", "a")
    koboshi.say("start", "a")
    assert koboshi.until_status("a", "idle")["run"]["number"] == 2
    koboshi.say("stop", "a", "--force")

    koboshi.say("rm", "a")

    assert "no agents yet" in koboshi.say("ls")
    assert koboshi.type("status", "a").returncode == 2


def test_a_message_arrives_once_and_waits_behind_a_dialog(koboshi: Trial) -> None:
    """Text typed into a dialog would approve it."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    koboshi.say("run", "-d", "--name", "b", "--as", "scripted", "--", *koboshi.script(ASKS, "b"))
    koboshi.until_status("a", "idle")

    assert koboshi.say("send", "a", "say 'hi'; -- ü 日本") == "a has it\n"
    koboshi.until("a", lambda k: any("say 'hi'; -- ü 日本" in line for line in k["lines"]))
    koboshi.say("send", "b", "go")
    koboshi.until_status("b", "asking")
    waits = koboshi.say("send", "b", "--wait", "0.5", "and then this")

    assert waits == "b is asking; it goes in when b is at an empty prompt\n"
    assert koboshi.until_status("b", "asking")["messages"] == 1


def test_a_message_goes_in_at_the_prompt_that_a_failed_turn_left(koboshi: Trial) -> None:
    """That prompt is empty, and what is wrong (a login) may take just this message."""
    words = ("--name", "a", "--mode", "observe", "--as", "scripted")
    koboshi.say("run", "-d", *words, "--", *koboshi.script(FAILS))
    koboshi.until_status("a", "idle")
    koboshi.say("send", "a", "go")
    koboshi.until_status("a", "failed")

    assert koboshi.say("send", "a", "/login") == "a has it\n"


def test_a_program_whose_prompt_cannot_be_known_is_sent_nothing_and_that_is_said(
    koboshi: Trial,
) -> None:
    """To wait for its empty prompt would be to wait for ever."""
    koboshi.say("run", "-d", "--name", "a", "--", *program("show", "hello"))

    ran = koboshi.type("send", "a", "hello")

    assert (ran.returncode, "koboshi attach a" in ran.stderr) == (2, True)
    assert koboshi.status("a")["messages"] == 0


def test_a_message_for_one_that_was_struck_is_not_for_its_namesake(koboshi: Trial) -> None:
    """It waited for a program that is not there any more."""
    words = ("--name", "a", "--mode", "observe", "--as", "scripted")
    koboshi.say("run", "-d", *words, "--", *koboshi.script(ASKS, "old"))
    koboshi.until_status("a", "idle")
    koboshi.say("send", "a", "go")
    koboshi.until_status("a", "asking")
    koboshi.say("send", "a", "--wait", "0", "delete the old one")
    os.kill(koboshi.status("a")["run"]["pid"], signal.SIGKILL)
    koboshi.until_status("a", "gone")
    koboshi.say("rm", "a")

    koboshi.say("run", "-d", *words, "--", *koboshi.script(IDLE, "new"))

    assert koboshi.until_status("a", "idle")["messages"] == 0


def test_a_pane_of_the_users_is_watched_and_let_go_unchanged(koboshi: Trial) -> None:
    """By its target, on another server; the daemon may die in between."""
    socket = koboshi.folder / "u"
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    argv = koboshi.script(IDLE)
    subprocess.run([*tmux, "new-session", "-d", "-s", "cc", "-x", "90", "-y", "30"], check=True)
    try:
        before = _tmux_facts(tmux)
        shell = koboshi.type("watch", "-S", str(socket), "cc:0.0")
        assert (shell.returncode, "shows a shell" in shell.stderr) == (4, True)
        subprocess.run([*tmux, "send-keys", "-t", "cc", " ".join(argv), "Enter"], check=True)
        deadline = time.monotonic() + PATIENCE
        while koboshi.type("watch", "-S", str(socket), "cc:0.0", *AS_A).returncode != 0:
            assert time.monotonic() < deadline
        koboshi.until_status("a", "idle")
        koboshi.say("daemon", "restart")
        koboshi.until_status("a", "idle")
        assert koboshi.say("send", "a", "hello") == "a has it\n"
        assert koboshi.say("release", "a") == "a is on its own now\n"
        assert "released" in koboshi.say("ls")
        assert _tmux_facts(tmux) == before
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


AS_A = ("--name", "a", "--as", "scripted")


def _tmux_facts(tmux: list[str]) -> str:
    """All that a person could have set, and sizes."""
    said = ""
    for words in (
        ["show-options", "-g"],
        ["show-options", "-s"],
        ["show-hooks", "-g"],
        ["list-keys"],
        ["list-buffers"],
        ["list-panes", "-a", "-F", "#{pane_id} #{pane_width}x#{pane_height} #{pane_pipe}"],
        ["list-clients"],
        ["show-options", "-t", "cc"],
    ):
        said += subprocess.run([*tmux, *words], check=True, capture_output=True, text=True).stdout
    return said


def test_attach_shows_the_agent_and_detach_ends_that(koboshi: Trial) -> None:
    """On a terminal; elsewhere it says so."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    koboshi.until_status("a", "idle")
    assert koboshi.type("attach", "a").returncode == 4

    with koboshi.attached("a") as (client, _, shown):
        assert b"[koboshi a]" in shown
        assert koboshi.say("detach", "a") == "a goes on; 1 terminal detached\n"
        assert client.wait(PATIENCE) == 0
    assert koboshi.until_status("a", "idle")["run"]["number"] == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("run",), 2, "missing argument"),
        (("run", "--", "no-such-program-here"), 2, "was not found"),
        (("run", "--cwd", "/no/such/folder", "--", "true"), 2, "expected a folder"),
        (("run", "--as", "klaude", "--", "true"), 2, "expected one of claude"),
        (("run", "--name", "../x", "--", "true"), 2, "expected an agent name"),
        (("status", "nobody"), 2, "expected the name of an agent"),
        (("pause", "nobody"), 2, "expected the name of an agent"),
        (("send", "nobody", "x"), 2, "expected the name of an agent"),
        (("stop", "nobody"), 2, "expected the name of an agent"),
        (("start", "nobody"), 2, "expected the name of an agent"),
        (("rm", "nobody"), 2, "expected the name of an agent"),
        (("release", "nobody"), 2, "expected the name of an agent"),
        (("detach", "nobody"), 2, "expected the name of an agent"),
        (("attach", "nobody"), 4, "takes a terminal"),
        (("daemon", "dance"), 2, "invalid value"),
        (("daemon",), 2, "choose from: status, start"),
    ],
)
def test_a_mistake_is_a_sentence(
    koboshi: Trial, words: tuple[str, ...], code: int, said: str
) -> None:
    """Never a traceback."""
    ran = koboshi.type(*words)

    assert (ran.returncode, said in ran.stderr.lower()) == (code, True), ran.stderr
    assert not {"Traceback", "\ufffd"} & set(ran.stderr.split())
    assert koboshi.daemon() is None


def test_without_tmux_nothing_is_begun(koboshi: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says what to do, and no agent is left on the list that never was."""
    monkeypatch.setenv("PATH", str(koboshi.folder))
    ran = koboshi.type("run", "-d", "--name", "a", "--", sys.executable)

    assert (ran.returncode, "tmux was not found" in ran.stderr) == (4, True)
    koboshi.say("daemon", "start")
    monkeypatch.setenv("PATH", os.defpath)
    ran = koboshi.type("run", "-d", "--name", "a", "--", sys.executable)
    assert (ran.returncode, "tmux" in ran.stderr) == (1, True)
    assert "no agents yet" in koboshi.say("ls")


def test_a_relative_state_folder_is_one_for_commands_and_daemon(
    koboshi: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon works in another folder."""
    monkeypatch.setattr(Trial, "environment", {**koboshi.environment, "KOBOSHI_STATE": "state"})

    assert str(koboshi.state) in koboshi.say("daemon", "start")


def test_what_was_known_is_listed_by_a_daemon_that_has_just_begun(koboshi: Trial) -> None:
    """`ls` waits for journals to be read; and whoever stopped an agent finds it ended at once."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    koboshi.until_status("a", "idle")
    assert koboshi.say("daemon", "stop") == "the daemon has left; agents still running: 1\n"

    assert "idle" in koboshi.say("ls")
    koboshi.say("stop", "a")
    assert koboshi.status("a")["run"]["exit"]["meant"]
    assert koboshi.say("daemon", "stop") == "the daemon has left; agents still running: 0\n"


def test_a_full_disk_is_told(koboshi: Trial) -> None:
    """Nothing is done that cannot be written down, and everybody says why."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    koboshi.until_status("a", "idle")
    daemon = koboshi.daemon()
    assert daemon is not None
    _, hard = daemon.rlimit(psutil.RLIMIT_FSIZE)
    daemon.rlimit(psutil.RLIMIT_FSIZE, (1, hard))

    sent = koboshi.type("send", "a", "--wait", "1", "hello")
    stopped = koboshi.type("stop", "a", "--wait", "1")

    assert (sent.returncode, "cannot be written" in sent.stderr) == (1, True)
    assert (stopped.returncode, "cannot be written" in stopped.stderr) == (1, True)
    assert "cannot be written" in koboshi.say("ls")
    daemon.rlimit(psutil.RLIMIT_FSIZE, (hard, hard))
    known = koboshi.until("a", lambda known: known["status"] == "gone")
    assert (known["trouble"], known["run"]["exit"]["meant"]) == ("", True)


def test_a_pane_of_no_server_is_a_sentence(koboshi: Trial) -> None:
    """With what to do."""
    ran = koboshi.type("watch", "-S", str(koboshi.folder / "nobody"), "cc:0.0")

    assert (ran.returncode, "no tmux server is there" in ran.stderr) == (4, True)
    assert "tmux ls" in ran.stderr


def test_a_program_that_cannot_run_is_told_at_once(koboshi: Trial) -> None:
    """With the reason, and nothing loops."""
    broken = koboshi.folder / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)

    ran = koboshi.type("run", "-d", "--name", "a", "--", str(broken))

    assert ran.returncode == 2
    assert "it could not be started" in ran.stderr


def test_what_never_ran_is_as_old_as_its_order(koboshi: Trial) -> None:
    """Not as old as the clock."""
    (koboshi.folder / "folder").mkdir()
    assert koboshi.type("run", "-d", "--name", "a", "--", "./folder").returncode == 2

    assert time.time() - koboshi.status("a")["since"] < PATIENCE


def test_a_name_without_a_letter_of_ascii_gives_way_to_what_is_left(koboshi: Trial) -> None:
    """A program may be called in any script; the folder of an agent may not."""
    named = koboshi.folder / "日本語.sh"
    named.write_text("#!/bin/sh\nexec cat\n")
    named.chmod(0o755)

    assert "sh is running" in koboshi.say("run", "-d", "--", str(named))


def test_one_broken_agent_does_not_take_the_others_down(koboshi: Trial) -> None:
    """A damaged entry is passed over and named; a journal that cannot be read is told of."""
    koboshi.say("run", "-d", "--name", "good", "--as", "scripted", "--", *koboshi.script(IDLE))
    koboshi.say("run", "-d", "--name", "bad", "--as", "scripted", "--", *koboshi.script(IDLE, "b"))
    koboshi.until_status("bad", "idle")
    koboshi.say("daemon", "stop")
    agents = koboshi.state / "agents"
    (agents / "worse").mkdir()
    (agents / "worse" / "entry.json").write_text("{")
    (agents / "bad" / "lock").unlink()
    (agents / "bad" / "lock").mkdir()

    koboshi.say("daemon", "start")
    koboshi.until_status("good", "idle")
    known = koboshi.until("bad", lambda k: bool(k["trouble"]))

    assert "directory" in known["trouble"].lower()
    log = (koboshi.state / "daemon.log").read_text()
    assert "worse" in log
    (agents / "bad" / "lock").rmdir()
    koboshi.until_status("bad", "idle")


def test_a_screen_is_recorded_as_a_case_with_secrets_masked(koboshi: Trial) -> None:
    """One command; the folder is what the reading tests take."""
    key = "sk-ant-" + "a1b2c3d4" * 3
    script = IDLE.replace("Ready.", f"The key is {key}.")
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(script))
    koboshi.until_status("a", "idle")
    koboshi.say("send", "a", "go")
    koboshi.until("a", lambda k: any("The key is" in line for line in k["lines"]))
    koboshi.until_status("a", "idle")

    said = koboshi.say("record", "a", "--to", "case")

    assert said.startswith("case: read as idle")
    case = koboshi.folder / "case"
    names = ["expected.json", "screen.ansi", "screen.txt", "seen.json"]
    assert sorted(p.name for p in case.iterdir()) == names
    everything = "".join(p.read_text() for p in case.iterdir())
    assert "The key is xxx" in everything
    assert key not in everything
    assert json.loads((case / "expected.json").read_text())["status"] == "idle"
    assert koboshi.type("record", "a", "--to", "case").returncode == 2


def test_a_person_at_the_keyboard_is_noticed_and_not_typed_over(koboshi: Trial) -> None:
    """In koboshi's own tmux the session tells when a person last pressed a key."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLE))
    koboshi.until_status("a", "idle")
    assert "person-typed" not in koboshi.say("events", "a")
    with koboshi.attached("a") as (_, here, _):
        os.write(here, b"h")
        koboshi.until("a", lambda known: known["draft"] == "h")
        # It waits for the draft to go, and is then tried while the last key is still young.
        koboshi.say("send", "a", "--wait", "0", "hello")
        os.write(here, b"\x7f")
        koboshi.until("a", lambda known: known["draft"] == "")
        assert "person-typed" in koboshi.say("events", "a")
        koboshi.until("a", lambda known: known["messages"] == 0)
        assert "a person is typing there" in koboshi.say("why", "a", "--all")


def test_a_mode_is_changed_while_it_runs_and_outlives_the_daemon(koboshi: Trial) -> None:
    """In observe a crash is told and not mended; in keep it is."""
    words = ("--name", "a", "--mode", "observe", "--as", "scripted")
    koboshi.say("run", "-d", *words, "--", *koboshi.script(IDLE))
    pid = koboshi.until_status("a", "idle")["run"]["pid"]
    os.kill(pid, signal.SIGKILL)
    koboshi.until_status("a", "gone")
    assert "would-have" in koboshi.say("why", "a", "--all")

    assert koboshi.say("mode", "a", "keep") == "a is in mode keep\n"

    assert koboshi.until_status("a", "idle")["run"]["number"] == 2
    koboshi.say("daemon", "restart")
    assert koboshi.until_status("a", "idle")["mode"] == "keep"


def test_what_was_typed_and_printed_is_in_files_for_people(
    koboshi: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the owner alone, whole when the daemon leaves, without the agent's own secrets."""
    said = IDLE.replace("Ready.", "The password is swordfish.")
    monkeypatch.setenv("MY_PASSWORD", "swordfish")
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(said))
    koboshi.until_status("a", "idle")
    koboshi.say("send", "a", "go on")
    koboshi.until_said("send 'go on' to run 1 – done", "events", "a")
    koboshi.until_status("a", "idle")
    koboshi.say("daemon", "stop")

    logs = koboshi.state / "logs"
    [output] = logs.glob("scripted_a_*.log")
    monitor = (logs / "monitor_a.log").read_text()
    assert "typed: text 'go on'" in monitor
    assert "typed: key Enter" in monitor
    assert "MSG001" in monitor
    assert "The password is xxxxxxxxx." in output.read_text()
    assert "swordfish" not in monitor + output.read_text()
    [run] = (koboshi.state / "agents" / "a" / "sessions.jsonl").read_text().splitlines()
    assert (json.loads(run)["run"], json.loads(run)["ended"]) == (1, None)
    assert [mode(path) for path in (logs, output)] == ["0o700", "0o600"]
