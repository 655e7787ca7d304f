"""The scripted agent as a real program in a real pseudo-terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from koboshi.adapters.registry import adapter
from koboshi.core.readings import Reading, Status
from koboshi.observations import ScreenSeen
from koboshi.scripted.program import cursor_of
from koboshi.scripted.terminal import Ears

SRC = Path(__file__).parents[2] / "src"
PATIENCE = 20.0  # seconds; the machine is shared

NIGHT = """
[[act]]
do = "work"
seconds = 0.3
say = "ファイルを読みました"

[[act]]
do = "ask"
command = "rm -rf build"

[[act]]
do = "crash"
signal = 9

[[act]]
do = "limit"
seconds = 1

[[act]]
do = "done"
"""

_SEQUENCE = re.compile(
    "\x1b\\[(?P<args>[0-9;?]*)(?P<verb>[A-Za-z])|\x1b\\]2;(?P<title>[^\x07]*)\x07|(?P<text>[^\x1b]+)"
)


class Screen:
    """As much of a terminal as the program needs."""

    def __init__(self) -> None:
        self.rows: dict[int, str] = {}
        self.title, self._row, self.modes = "", 1, set[str]()

    def feed(self, text: str) -> None:
        """Obey these bytes."""
        for found in _SEQUENCE.finditer(text):
            args, verb = found["args"], found["verb"]
            if found["title"] is not None:
                self.title = found["title"]
            elif found["text"] is not None:
                self.rows[self._row] = found["text"].rstrip("\r\n")
            elif verb == "H":
                self._row = int((args or "1").split(";")[0])
            elif verb == "J":
                self.rows.clear()
            elif verb == "K":
                self.rows[self._row] = ""
            elif verb in "hl":
                (self.modes.add if verb == "h" else self.modes.discard)(args)

    def text(self) -> str:
        """What it shows."""
        return "\n".join(self.rows.get(n, "") for n in range(1, max(self.rows, default=0) + 1))


class Pane:
    """The program in a pseudo-terminal, driven by hand."""

    def __init__(self, *argv: str, cols: int = 80, rows: int = 24) -> None:
        self._keys, tty = pty.openpty()
        self.tty = tty
        self.resize(cols, rows, tell=False)
        self.before = termios.tcgetattr(tty)
        self.program = subprocess.Popen(
            [sys.executable, "-m", "koboshi.scripted", *argv],
            stdin=tty,
            stdout=tty,
            stderr=tty,
            env={**os.environ, "PYTHONPATH": str(SRC), "PYTHONUTF8": "1"},
            start_new_session=True,
        )
        self.screen = Screen()
        self._bytes = b""

    def resize(self, cols: int, rows: int, *, tell: bool = True) -> None:
        """Another size; the program hears of it by a signal."""
        fcntl.ioctl(self.tty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        if tell:
            self.program.send_signal(signal.SIGWINCH)

    def send(self, keys: str) -> None:
        """Press keys."""
        os.write(self._keys, keys.encode())

    def read(self) -> Reading:
        """What the adapter makes of the screen now."""
        while select.select([self._keys], [], [], 0.02)[0]:
            self._bytes += os.read(self._keys, 65_536)
            whole = self._bytes.rfind(b"\x1b[?25h")
            if whole >= 0:
                self.screen.feed(self._bytes[: whole + 6].decode())
                self._bytes = self._bytes[whole + 6 :]
        return adapter("scripted").read(ScreenSeen(text=self.screen.text(), utc=time.time()))

    def until(self, wanted: Callable[[Reading], object]) -> Reading:
        """Wait until the reading is as wanted."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            reading = self.read()
            if wanted(reading):
                return reading
        raise AssertionError(f"waited in vain; the screen was:\n{self.screen.text()}")

    def ended(self) -> int:
        """The exit code, once it has ended."""
        end = time.monotonic() + PATIENCE
        while self.program.poll() is None and time.monotonic() < end:
            self.read()
        return self.program.wait(1)

    def close(self) -> None:
        """End the program, if it still runs."""
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        os.close(self._keys)
        os.close(self.tty)


Start = Callable[..., Pane]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the program on the night's script; everything is cleaned up."""
    panes: list[Pane] = []
    script = tmp_path / "night.toml"
    script.write_text(NIGHT, "utf-8")

    def started(*argv: str, **size: int) -> Pane:
        panes.append(
            Pane("--script", str(script), "--state", str(tmp_path / "state"), *argv, **size)
        )
        return panes[-1]

    yield started
    for pane in panes:
        pane.close()


def is_status(status: Status) -> Callable[[Reading], bool]:
    """Wait for that status."""
    return lambda reading: reading.status is status


def test_the_words_for_the_next_run_are_in_the_project(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a supervisor looks for them, and before the program ends."""
    (tmp_path / "night.toml").write_text('[[act]]\ndo = "reload"\nreason = "new"\ncontext = "3"\n')
    monkeypatch.chdir(tmp_path)
    pane = start("--session", "s1")
    pane.until(is_status(Status.IDLE))
    pane.send("go on\r")

    assert pane.ended() == 129
    left = tmp_path / ".claude" / "self-reborn"
    assert [(left / name).read_text() for name in ("restart_reason", "context.md")] == ["new", "3"]


def test_a_small_night_from_start_to_end(start: Start, tmp_path: Path) -> None:
    """Work, a question, a kill, a resume, a limit, the end, and the terminal as it was."""
    pane = start("--session", "s1")
    pane.until(is_status(Status.IDLE))
    assert {"?2004", "?7", "?25"} == pane.screen.modes
    pane.send("go on\r")
    asking = pane.until(is_status(Status.ASKING))
    assert asking.prompt is not None
    assert asking.prompt.subject == "rm -rf build"
    assert "● ファイルを読みました" in asking.lines
    pane.send("1")
    assert pane.ended() == -signal.SIGKILL
    assert Status.WORKING is pane.read().status  # the dead frame says so for ever

    pane = start("--resume", "s1")
    pane.until(is_status(Status.IDLE))
    pane.send("go on\r")
    limited = pane.until(is_status(Status.LIMITED))
    assert limited.limit is not None
    assert limited.limit.resets_at is not None
    assert abs(limited.limit.resets_at - time.time()) < 60
    pane.until(lambda _: time.time() > ((limited.limit and limited.limit.resets_at) or 0))
    pane.send("go on\r")
    pane.until(lambda reading: "● Everything is done." in reading.lines)
    pane.send("/exit\r")
    assert pane.ended() == 0
    assert pane.before == termios.tcgetattr(pane.tty)

    kept = json.loads((tmp_path / "state" / "sessions" / "s1.json").read_text("utf-8"))
    assert kept["progress"] == 5
    hooks = (tmp_path / "state" / "hooks.jsonl").read_text("utf-8").splitlines()
    starts = [hook for hook in map(json.loads, hooks) if hook["hook_event_name"] == "SessionStart"]
    assert [hook["source"] for hook in starts] == ["startup", "resume"]


def test_sigterm_restores_the_terminal(start: Start) -> None:
    """Exit 143, as a shell shows it."""
    pane = start()
    pane.until(is_status(Status.IDLE))
    assert pane.before != termios.tcgetattr(pane.tty)

    pane.program.send_signal(signal.SIGTERM)

    assert pane.ended() == 143
    assert pane.before == termios.tcgetattr(pane.tty)


def test_it_follows_the_size_of_its_terminal(start: Start) -> None:
    """Down to 40 columns, with Japanese in the box."""
    pane = start()
    pane.until(is_status(Status.IDLE))
    pane.send("これはとても長い下書きなので、四十桁の端末では折り返されるはずです")
    pane.until(lambda reading: reading.draft.endswith("はずです"))

    pane.resize(40, 16)

    pane.until(lambda _: "─" * 40 in pane.screen.text().split("\n"))
    reading = pane.read()
    assert reading.draft == "これはとても長い下書きなので、四十桁の端末では折り返されるはずです"


def test_a_bracketed_paste_stays_in_the_box(start: Start) -> None:
    """Newlines in it submit nothing."""
    pane = start()
    pane.until(is_status(Status.IDLE))

    pane.send("\x1b[200~one\rtwo\x1b[201~")

    assert Status.IDLE is pane.until(lambda reading: reading.draft == "one\ntwo").status


def test_notes_are_files(start: Start, tmp_path: Path) -> None:
    """A name that would leave the folder is no name."""
    pane = start("--session", "s1")
    pane.until(is_status(Status.IDLE))
    pane.send("/save n1\r")
    pane.until(lambda reading: adapter("scripted").saved(reading.lines, "n1"))
    pane.send("/load ../sessions/s1.json\r")
    pane.until(lambda reading: "● No such note: ../sessions/s1.json" in reading.lines)

    assert [path.name for path in (tmp_path / "state" / "notes").iterdir()] == ["n1"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--resume", "nobody"), "no session found with the name 'nobody'"),
        (("--session", "../up"), "expected a session's name"),
        (("--script", "missing.toml"), "missing.toml: cannot be read"),
        ((), "expected a terminal"),
    ],
)
def test_what_cannot_work_is_said(argv: tuple[str, ...], message: str, tmp_path: Path) -> None:
    """Exit 2, one line, no traceback."""
    script = tmp_path / "night.toml"
    script.write_text(NIGHT, "utf-8")
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "koboshi.scripted", "--script", str(script)),
            *("--state", str(tmp_path / "state"), *argv),
        ],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_keys_come_out_of_bytes_whatever_way_they_are_cut() -> None:
    """A paste or an arrow may arrive in pieces; a lone ESC is the key."""
    text = "hé\r\x1b[A\x1b[200~a\rb\x1b[201~\x03"
    expected = [("type", "hé"), ("key", "Enter"), ("key", "Up"), ("paste", "a\nb"), ("key", "C-c")]

    assert expected == Ears().hear(text.encode())
    assert Ears().hear(b"\x1b") == [("key", "Escape")]
    for cut in range(1, len(text.encode())):
        if text.encode()[:cut].endswith(b"\x1b"):
            continue
        ears = Ears()
        heard = ears.hear(text.encode()[:cut]) + ears.hear(text.encode()[cut:])
        assert [what for what in expected if what[0] != "type"] == [
            w for w in heard if w[0] != "type"
        ]


def test_the_cursor_is_parked_where_the_real_ones_park_it() -> None:
    """After the draft, or on the selected option."""
    rule = "─" * 40

    assert cursor_of(f"{rule}\n❯\n{rule}\n  ? for shortcuts") == (2, 1)
    assert cursor_of(f"{rule}\n❯ a\n  日本\n{rule}\n  ? for shortcuts") == (6, 2)
    assert cursor_of(f"{rule}\n   1. No\n ❯ 2. Yes\n\n Esc to cancel") == (9, 2)


@pytest.mark.tmux
def test_killed_in_tmux_its_frame_stays_and_only_the_process_tells(tmp_path: Path) -> None:
    """The shell draws its prompt over the dead frame; what runs in the pane is the truth."""
    script = tmp_path / "night.toml"
    script.write_text(NIGHT, "utf-8")
    tmux = ["tmux", "-u", "-S", str(tmp_path / "s"), "-f", os.devnull]
    agent = f"{sys.executable} -m koboshi.scripted --script {script} --state {tmp_path / 'state'}"

    def ask(*argv: str) -> str:
        return subprocess.run(
            [*tmux, *argv], check=True, capture_output=True, encoding="utf-8"
        ).stdout

    def look() -> Reading:
        command, x, y = ask(
            "display", "-p", "#{pane_current_command} #{cursor_x} #{cursor_y}"
        ).split()
        cursor = (int(x), int(y))
        return adapter("scripted").read(
            ScreenSeen(text=ask("capture-pane", "-p"), command=command, cursor=cursor)
        )

    def until(status: Status) -> Reading:
        end = time.monotonic() + PATIENCE
        while (reading := look()).status is not status and time.monotonic() < end:
            time.sleep(0.05)
        assert reading.status is status
        return reading

    ask("new-session", "-d", "-x", "80", "-y", "24", "-e", f"PYTHONPATH={SRC}", "bash --norc")
    try:
        ask("send-keys", "-l", agent)
        ask("send-keys", "Enter")
        until(Status.IDLE)
        ask("send-keys", "-l", "go on")
        ask("send-keys", "Enter")
        until(Status.ASKING)
        ask("send-keys", "1")
        gone = until(Status.GONE)

        assert "esc to interrupt" in ask("capture-pane", "-p")
        assert gone.reason == "shell_prompt"
    finally:
        ask("kill-server")
