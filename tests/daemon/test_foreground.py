"""An agent in the person's own terminal: what passes, what is told, and every way out of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from koboshi.core.events import ActionFinished, Event, PersonTyped, RunExited, RunStarted
from koboshi.hosts.base import Key, Launch
from koboshi.hosts.tmux import TmuxHost
from koboshi.store.history import follow
from koboshi.store.paths import journal_dir
from koboshi.store.queries import with_context
from koboshi.store.tail import tail
from koboshi.store.wire import Judged
from tests.conftest import need
from tests.hosts.waiting import program, runs, until_seen, until_text
from tests.hosts.wrapping import REST_BEGINS, REST_ENDS, SOURCE, window, wrapped

#: An agent that has switched on what agents switch on, and dies without a word.
DRESSED = "\\e[?1049h\\e[?1h\\e[?1000;1006h\\e[?1004h\\e[?2004h\\e[>1u\\e[?25l\\e[31m"
UNDRESSED = (
    *(b"\x1b[?1049l", b"\x1b[?1l", b"\x1b[?1000l", b"\x1b[?1006l", b"\x1b[?1004l"),
    *(b"\x1b[?2004l", b"\x1b[<1u", b"\x1b[?25h", b"\x1b[m"),
)
#: Nothing is started again: what ends, ends.
ONCE = ("--agent", "doll", "--set", "mode=0")
KEEP = ("--agent", "doll", "--set", "backoff_base=0.2")


def dressed(*options: str) -> tuple[str, ...]:
    """The command for an agent in the middle of its alternate screen."""
    return wrapped(*program("modes", DRESSED), options=options or ONCE)


def undressed(shown: bytes) -> bool:
    """Whether all of that was switched off behind the last thing the agent wrote."""
    return all(off in shown for off in UNDRESSED)


def told(state: Path, agent: str = "doll") -> list[Event]:
    """What is in the journal."""
    return [event for event, _ in with_context(follow(tail(journal_dir(state, agent)), ()))]


# --- ways out ----------------------------------------------------------------------------------


def test_a_meant_exit_ends_the_wrapper_with_one_line(tmp_path: Path) -> None:
    """Code 0, the line as it was, and where to read more."""
    with window(*wrapped("true", options=("--agent", "doll")), state=tmp_path) as person:
        assert person.code() == 0
        assert person.restored()
        assert person.shown.endswith(
            b"koboshi: run 1 ended with code 0; no actions, see `koboshi why doll`\r\n"
        )


def test_an_exit_code_is_passed_on(tmp_path: Path) -> None:
    """The agent's own."""
    with window(*dressed(), state=tmp_path) as person:
        person.until_shown(b"size=")
        assert person.raw
        person.type(b"q")
        assert person.code() == 7
        assert person.restored()
        assert undressed(person.shown)


def test_an_agent_killed_in_its_alternate_screen_leaves_the_terminal_in_order(
    tmp_path: Path,
) -> None:
    """Nothing of it runs any more that could."""
    with window(*dressed(), state=tmp_path) as person:
        person.until_shown(b"size=")
        person.agent().kill()
        assert person.code() == 128 + signal.SIGKILL
        assert person.restored()
        assert undressed(person.shown)
        assert b"run 1 was ended by SIGKILL" in person.shown


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_wrapper_ends_both_in_order(number: signal.Signals, tmp_path: Path) -> None:
    """The agent is asked to end, and does."""
    with window(*dressed(), state=tmp_path) as person:
        person.until_shown(b"size=")
        agent = person.agent()
        person.process.send_signal(number)
        assert person.code() == 128 + number
        assert person.restored()
        assert undressed(person.shown)
        assert not runs(agent.pid)
        assert f"left by {number.name}".encode() in person.shown


def test_a_fault_of_our_own_leaves_the_terminal_in_order(tmp_path: Path) -> None:
    """And the traceback comes after that, where it can be read."""
    broken = (
        "import sys, koboshi.daemon.supervisor as s, koboshi.daemon.foreground as f\n"
        "from koboshi.observations import PersonSeen\n"
        "s.Supervisor.tick = lambda self: 1 / 0 if self.world.view.person_at > 0 else None\n"
        "sys.exit(f.main())"
    )
    command = (sys.executable, "-c", broken, *dressed()[3:])
    with window(*command, state=tmp_path) as person:
        person.until_shown(b"size=")
        person.type(b"z")
        assert person.code() == 1
        assert person.restored()
        before, _, after = person.shown.rpartition(REST_ENDS)
        assert undressed(before + REST_ENDS)
        assert b"ZeroDivisionError" in after


def test_a_window_that_is_closed_ends_both(tmp_path: Path) -> None:
    """The terminal hangs up; nothing stays behind."""
    with window(*dressed(), state=tmp_path) as person:
        person.until_shown(b"size=")
        agent = person.agent()
        os.close(person.slave)
        os.close(person.master)
        assert person.process.wait(30) == 128 + signal.SIGHUP
        assert not runs(agent.pid)


def test_a_wrapper_killed_leaves_the_terminal_in_order(tmp_path: Path) -> None:
    """SIGKILL: the guardian does what nobody else can."""
    with window(*dressed(), state=tmp_path) as person:
        person.until_shown(b"size=")
        agent = person.agent()
        person.process.kill()
        person.until(lambda: person.restored() and b"was killed" in person.shown)
        assert undressed(person.shown)
        person.until(lambda: not runs(agent.pid))


def test_the_guardian_goes_with_the_wrapper(tmp_path: Path) -> None:
    """No process is left, and the terminal is put back once."""
    with window(*dressed(), state=tmp_path) as person:
        person.until_shown(b"size=")
        children = psutil.Process(person.process.pid).children(recursive=True)
        assert any("guardian.py" in " ".join(child.cmdline()) for child in children)
        person.type(b"q")
        person.code()
        person.until(lambda: not any(runs(child.pid) for child in children))
        assert person.shown.count(REST_BEGINS) == 1


def test_a_stop_leaves_the_terminal_to_the_shell_and_comes_back(tmp_path: Path) -> None:
    """SIGTSTP from outside; with `fg` the modes are back and the program draws anew."""
    with window(*dressed(), state=tmp_path, size=(70, 20)) as person:
        person.until_shown(b"size=70x20.")
        person.process.send_signal(signal.SIGTSTP)
        person.until(lambda: psutil.Process(person.process.pid).status() == psutil.STATUS_STOPPED)
        person.until(person.restored)
        person.until(lambda: undressed(person.shown))

        person.shown = b""
        person.process.send_signal(signal.SIGCONT)
        person.until(lambda: person.raw)
        person.until_shown(b"size=70x19.")  # only another size makes every program draw anew
        person.until(lambda: person.shown.rpartition(b"size=70x")[2][:3] == b"20.")
        assert b"\x1b[?1049h" in person.shown
        assert b"\x1b[?2004h" in person.shown
        assert b"\x1b[>1u" in person.shown
        person.type(b"z")
        person.until_shown(b"<7a>")
        person.type(b"q")
        assert person.code() == 7
        assert person.restored()


# --- what passes -------------------------------------------------------------------------------


def test_keys_that_signal_are_the_agents(tmp_path: Path) -> None:
    """Ctrl-C, Ctrl-Z, Ctrl-backslash, Ctrl-S, Ctrl-Q arrive as bytes."""
    with window(*dressed(), state=tmp_path) as person:
        person.until_shown(b"size=")
        for key in (b"\x03", b"\x1a", b"\x1c", b"\x13", b"\x11", b"\x00", b"\r", b"\n"):
            person.type(key)
            person.until_shown(b"<%s>" % key.hex().encode())
        assert person.process.poll() is None


def test_a_window_of_another_size_is_told_to_the_agent(tmp_path: Path) -> None:
    """At the start and later."""
    with window(*dressed(), state=tmp_path, size=(101, 33)) as person:
        person.until_shown(b"size=101x33.")
        person.resize(66, 11)
        person.until_shown(b"size=66x11.")


def test_an_agent_finds_the_persons_terminal_in_its_environment(tmp_path: Path) -> None:
    """As if it had been started alone."""
    out = tmp_path / "environ"
    env = {"TERM": "xterm-kitty", "TERM_PROGRAM": "somebody", "TMUX": "/x,1,1", "COLUMNS": "7"}
    command = wrapped(*program("environ", out), options=ONCE)
    with window(*command, state=tmp_path, env=env) as person:
        person.until(out.exists)
    found = json.loads(out.read_text())
    kept = {name: found.get(name) for name in env}
    assert kept == {**env, "COLUMNS": None}


def test_a_huge_paste_and_a_huge_output_lose_nothing(tmp_path: Path) -> None:
    """A megabyte in, through the whole wrapper."""
    data, out = b"\x1b[200~" + os.urandom(1 << 20).replace(b"\x1b", b"") + b"\x1b[201~", "typed"
    command = wrapped(*program("pour", "in", tmp_path / out, len(data)), options=ONCE)
    with window(*command, state=tmp_path) as person:
        person.until_shown(b"ready:")
        person.type(data)
        assert person.code() == 0
        assert (tmp_path / out).read_bytes() == data


def test_a_piped_input_is_typed_and_ctrl_c_stays_ours(tmp_path: Path) -> None:
    """Only the keyboard is missing: the agent is shown, and lives on when the pipe ends."""
    read, write = os.pipe()
    with window(*dressed(), state=tmp_path, stdin=read) as person:
        os.close(read)
        person.until_shown(b"size=")
        os.write(write, b"z")
        person.until_shown(b"<7a>")
        os.close(write)
        person.type(b"\x03")
        assert person.code() == 128 + signal.SIGINT
        assert person.restored()


def test_without_a_terminal_it_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """In a pipe nobody could see it."""
    ended = subprocess.run(
        wrapped("true"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "KOBOSHI_STATE": str(tmp_path)},
    )
    assert ended.returncode == 4
    assert "expected a terminal on standard output" in ended.stderr
    assert "tmux" in ended.stderr


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Before the terminal is touched."""
    with window(*wrapped("no-such-program"), state=tmp_path) as person:
        assert person.code() == 2
        assert b"not 'no-such-program'" in person.shown
        assert REST_BEGINS not in person.shown


# --- the engine behind it ----------------------------------------------------------------------


def test_a_crashed_agent_is_started_again_in_the_same_terminal(tmp_path: Path) -> None:
    """On a clear screen, with the modes of the dead one gone; then its exit is meant."""
    script = tmp_path / "twice.sh"
    script.write_text(f'test -e {tmp_path}/was && exec sleep 0\ntouch {tmp_path}/was\nexec "$@"\n')
    command = wrapped("sh", str(script), *program("modes", DRESSED), options=KEEP)
    with window(*command, state=tmp_path) as person:
        person.until_shown(b"size=")
        person.agent().kill()
        assert person.code() == 0
        assert person.restored()
        before, _, after = person.shown.partition(REST_BEGINS)
        assert b"size=" in before
        assert undressed(REST_BEGINS + after)
        assert b"run 1 was ended by SIGKILL; it will be started again" in after
        assert b"\x1b[H\x1b[2J" in after
        assert b"koboshi: run 2 ended with code 0; 1 action," in after
    starts = [event.body.run for event in told(tmp_path) if isinstance(event.body, RunStarted)]
    assert starts == [1, 2]


def test_between_two_runs_ctrl_c_leaves(tmp_path: Path) -> None:
    """There is no agent that could hear it; the code is that of the last one."""
    options = ("--agent", "doll", "--set", "backoff_base=600")
    with window(*dressed(*options), state=tmp_path) as person:
        person.until_shown(b"size=")
        person.type(b"k")
        person.until_shown(b"it will be started again")
        person.type(b"\x03")
        assert person.code() == 128 + signal.SIGKILL
        assert person.restored()


def test_an_agent_that_dies_of_the_persons_ctrl_c_stays_down(tmp_path: Path) -> None:
    """Whoever presses it means it."""
    with window(*wrapped(*program("show", "x"), options=KEEP), state=tmp_path) as person:
        person.until_shown(b"pid=")
        person.type(b"\x03")
        assert person.code() == 128 + signal.SIGINT
        assert person.restored()


def test_whoever_calls_again_gets_another_run(tmp_path: Path) -> None:
    """After a meant exit, too; one agent, one journal."""
    for number in (1, 2):
        with window(*wrapped("true", options=KEEP), state=tmp_path) as person:
            assert person.code() == 0
            assert f"run {number} ended with code 0".encode() in person.shown
    exits = [event.body.run for event in told(tmp_path) if isinstance(event.body, RunExited)]
    assert exits == [1, 2]


def test_what_is_written_to_standard_error_is_not_drawn_over_the_agent(tmp_path: Path) -> None:
    """It is in the log beside the journal."""
    noisy = (
        "import os, sys, koboshi.daemon.foreground as f\n"
        "ready = f.Foreground._begun\n"
        "def shout(self, s):\n    os.write(2, b'LOUD'); ready(self, s)\n"
        "f.Foreground._begun = shout\n"
        "sys.exit(f.main())"
    )
    with window(sys.executable, "-c", noisy, *dressed()[3:], state=tmp_path) as person:
        person.until_shown(b"size=")
        person.type(b"q")
        person.code()
        assert b"LOUD" not in person.shown
    assert "LOUD" in (tmp_path / "agents" / "doll" / "koboshi.log").read_text()


def scripted(folder: Path, **numbers: float) -> tuple[str, ...]:
    """The bundled agent, at its prompt after a short turn."""
    script = folder / "script.toml"
    script.write_text('[[act]]\ndo = "work"\nseconds = 0.2\nsay = "At your service."\n')
    options = ["--agent", "doll", "--type", "scripted"]
    for name, value in numbers.items():
        options += ["--set", f"{name}={value}"]
    argv = (sys.executable, "-m", "koboshi.scripted", "--script", str(script))
    return wrapped(*argv, "--state", str(folder / "agent"), options=tuple(options))


def test_while_a_person_types_koboshi_holds_still(tmp_path: Path) -> None:
    """Told in the journal; the next message comes a hold after the last key (law 10)."""
    hold = 7.0
    command = scripted(tmp_path, idle_after=3, send_cooldown=0, person_hold=hold, quiet=0.2)
    with window(*command, state=tmp_path) as person:
        person.until_shown(b"At your service.")
        # The message that got it going; more of them if nobody looked for a while.
        person.until(lambda: bool(sends(tmp_path)) and not unfinished(tmp_path))
        began = time.monotonic()
        person.type(b"a")
        while time.monotonic() - began < 5:  # a person at work: longer than `idle_after`
            person.type(b"b\x7f")
            person.read(0.1)
        person.type(b"\x7f" * 20)  # all of the line, also if a message was just being typed there
        before = len(sends(tmp_path))
        person.until(lambda: len(sends(tmp_path)) > before, 60)
    typed = [event.now.at for event in told(tmp_path) if isinstance(event.body, PersonTyped)]
    after = [at for at in sends(tmp_path) if at > typed[0]]
    assert 2 <= len(typed) <= 8
    assert min(at - max(key for key in typed if key < at) for at in after) >= hold


def sends(state: Path) -> list[float]:
    """When koboshi decided to type a message; that takes a moment."""
    lines = (line.record for line in tail(journal_dir(state, "doll")))
    judged = [record.decision for record in lines if isinstance(record, Judged)]
    return [d.now.at for d in judged if d.action.kind == "send" and d.verdict.admitted]


def unfinished(state: Path) -> bool:
    """Whether one of them is still being typed."""
    ends = [event.body for event in told(state) if isinstance(event.body, ActionFinished)]
    return len(sends(state)) > sum(end.action.kind == "send" for end in ends)


# --- inside a real tmux ------------------------------------------------------------------------


def screen_of(
    tmp_path: Path, argv: tuple[str, ...], wait: str, keys: tuple[str, ...], last: str
) -> str:
    """What a tmux pane shows of that program after these keys, the last of which shows `last`."""

    async def run() -> str:
        host = TmuxHost(socket=f"test-{secrets.token_hex(4)}", state_dir=tmp_path / "tmux")
        env = {"PYTHONPATH": str(SOURCE), "KOBOSHI_STATE": str(tmp_path / "state")}
        try:
            place = await host.start(
                Launch(agent="doll", run=1, argv=argv, cwd=str(tmp_path), env=env)
            )
            await until_text(host, place, wait)
            await host.type(place, tuple(Key(name=key) for key in keys))
            seen = await until_seen(host, place, lambda it: bool(re.search(last, it.text)))
            since = time.monotonic()
            while time.monotonic() - since < 1:
                now = await host.look(place)
                if (now.text, now.cursor) != (seen.text, seen.cursor):
                    since = time.monotonic()
                seen = now
                await asyncio.sleep(0.05)
            return f"{seen.ansi}\n{seen.cursor}"
        finally:
            await host.shutdown()

    return asyncio.run(run())


PROGRAMS = {
    "vim": (
        ("vim", "-u", "NONE", "-i", "NONE", "-n", "text"),
        "line 1",
        ("G", "o", "x", "日", "Escape", "g", "g", "d", "d"),
        r"\Aline 2 ",
    ),
    "less": (
        ("less", "text"),
        "line 1",
        ("G", "?", "7", "Enter"),
        r"\Aline 197 [\s\S]*\(END\)",
    ),
}


@pytest.mark.tmux
@pytest.mark.parametrize("name", PROGRAMS)
def test_in_tmux_a_screen_is_the_same_as_without_us(name: str, tmp_path: Path) -> None:
    """Character by character, colours and cursor too."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    argv, wait, keys, last = PROGRAMS[name]
    (tmp_path / "text").write_text("".join(f"line {n} 日本語\n" for n in range(1, 200)))

    direct = screen_of(tmp_path, argv, wait, keys, last)
    under = screen_of(tmp_path, wrapped(*argv, options=ONCE), wait, keys, last)
    assert under == direct


@pytest.mark.tmux
def test_in_tmux_the_scripted_agent_looks_the_same(tmp_path: Path) -> None:
    """Its box, its title and the words in it."""
    command = scripted(tmp_path, mode=0)
    agent = command[command.index("--", 3) + 1 :]
    direct = screen_of(tmp_path, (*agent, "--session", "s1"), "shortcuts", ("h", "i"), "❯ hi")
    under = screen_of(tmp_path, command, "shortcuts", ("h", "i"), "❯ hi")
    assert "hi" in direct
    assert under.splitlines()[1:] == direct.splitlines()[1:]  # the first names the session


def wraps(process: psutil.Process, state: Path) -> bool:
    """Whether that is the wrapper with that state folder, which only this test has."""
    with contextlib.suppress(psutil.Error):
        ours = process.environ().get("KOBOSHI_STATE") == str(state)
        return ours and process.cmdline()[1:3] == ["-m", "koboshi.daemon.foreground"]
    return False


@pytest.mark.tmux
def test_in_tmux_a_shell_is_usable_after_the_wrapper_was_killed(tmp_path: Path) -> None:
    """The shell was quicker than the guardian or not: its line works, and the screen is its own."""
    need("tmux")
    script = f"KOBOSHI_STATE={tmp_path} PYTHONPATH={SOURCE} {' '.join(dressed()[:-1])} '{DRESSED}'"
    (tmp_path / "go").write_text(script)

    async def run() -> None:
        host = TmuxHost(socket=f"test-{secrets.token_hex(4)}", state_dir=tmp_path / "tmux")
        shell = ("env", "PS1=$ ", "bash", "--norc", "--noprofile")
        try:
            place = await host.start(Launch(agent="d", run=1, argv=shell, cwd=str(tmp_path)))
            await host.type(place, (*(Key(name=k) for k in ". ./go"), Key(name="Enter")))
            await until_text(host, place, "size=")
            (wrapper,) = filter(lambda p: wraps(p, tmp_path), psutil.process_iter())
            wrapper.kill()
            await until_text(host, place, "koboshi was killed")
            await host.type(place, (*(Key(name=k) for k in "echo $((6*7))"), Key(name="Enter")))
            seen = await until_text(host, place, "\n42")
            assert "echo $((6*7))" in seen.text
            assert "size=" not in seen.text
        finally:
            await host.shutdown()

    asyncio.run(run())
