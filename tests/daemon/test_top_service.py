"""`koboshi top` in a real terminal over a real daemon: each of its keys, as a person presses it."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.trials import PATIENCE, Trial, trial

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(240)]

READY = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n'
ASKS = (
    '[[act]]\ndo = "ask"\nkind = "question"\ncommand = "色を選ぶ"\nquestion = "どの色にしますか"\n'
    'options = ["青", "赤"]\n\n[[act]]\ndo = "end_turn"\n'
)
#: Changes that the board hears of: more than Textual keeps for a terminal that it has lent.
TELLINGS = 40


class Terminal:
    """A terminal of its own with `koboshi top` in it."""

    def __init__(self, koboshi: Trial, cols: int, rows: int) -> None:
        self._socket = koboshi.folder / "person"
        around = {k: v for k, v in koboshi.environment.items() if k != "NO_COLOR"}
        around |= {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
        around |= {"LINES": "24", "COLUMNS": "80"}  # of the terminal that it was started from
        words = shlex.join([sys.executable, "-m", "koboshi", "top"])
        size = ("-x", str(cols), "-y", str(rows))
        self._tmux("-u", "-f", "/dev/null", "new-session", "-d", *size, words, env=around)

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> str:
        argv = ["tmux", "-S", str(self._socket), *words]
        ran = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        return ran.stdout

    def press(self, *keys: str) -> None:
        """Keys by their tmux names."""
        for key in keys:
            self._tmux("send-keys", key)

    def text(self) -> str:
        """What can be read on it."""
        return self._tmux("capture-pane", "-p")

    def until(self, *words: str, gone: str = "") -> str:
        """Wait until all of that can be read."""
        deadline = time.monotonic() + PATIENCE
        while True:
            shown = self.text()
            if all(word in shown for word in words) and (not gone or gone not in shown):
                return shown
            assert time.monotonic() < deadline, f"{words} not shown, or {gone!r} still:\n{shown}"
            time.sleep(0.05)

    def end(self) -> None:
        """Close it."""
        self._tmux("kill-server")


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi with one agent at rest and one that asks, in Japanese."""
    with trial(tmp_path) as made:
        for name, script in (("calm", READY * 6), ("asker", ASKS + READY * 4)):
            argv = made.script(script, f"{name}.toml")
            made.say("run", "-d", "--name", name, "--as", "scripted", "--", *argv)
            made.until_status(name, "idle")
        made.say("send", "asker", "go")
        made.until_status("asker", "asking")
        # A question stands for a moment before a person is told of it.
        deadline = time.monotonic() + PATIENCE
        while "PRM002" not in (why := made.say("why", "asker")):
            assert time.monotonic() < deadline, why
            time.sleep(0.2)
        yield made


@pytest.fixture
def terminal(koboshi: Trial) -> Iterator[Terminal]:
    """The board."""
    made = Terminal(koboshi, 110, 32)
    try:
        yield made
    finally:
        made.end()


def test_a_question_is_answered_with_its_key(koboshi: Trial, terminal: Terminal) -> None:
    """Who asks is on top and chosen; nothing is chosen for the person; the second option is."""
    shown = terminal.until("asker", "calm", "どの色にしますか", "1 waiting for you")
    assert shown.index("asker") < shown.index("calm")
    terminal.press("a")
    terminal.until("青", "赤", "Enter answers")
    terminal.press("Down", "Down", "Enter")
    koboshi.until("asker", lambda known: known["question"] is None)
    terminal.until("nobody waiting for you")

    assert "赤" in koboshi.say("why", "asker")


def test_why_stop_and_hand_over(koboshi: Trial, terminal: Terminal) -> None:
    """Each asks first where it is not safe; a no changes nothing."""
    terminal.until("asker", "calm")
    terminal.press("w")
    terminal.until("why: asker", "PRM002")
    terminal.press("Escape")
    terminal.until("1 waiting for you", gone="why: asker")
    terminal.press("Down", "s")
    terminal.until("Stop calm and all it started?")
    terminal.press("n")
    terminal.until("1 waiting for you", gone="Stop calm")
    assert koboshi.status("calm")["run"]["exit"] is None
    terminal.press("r")
    terminal.until("Have calm save its work")
    terminal.press("y")
    koboshi.until("calm", lambda known: known["refresh"] is not None or known["restarts"] == 1)
    terminal.press("s")
    terminal.until("Stop calm and all it started?")
    terminal.press("y")
    koboshi.until("calm", lambda known: known["run"]["exit"] is not None)
    terminal.until("stopped")


def test_its_terminal_is_shown_and_left_again(koboshi: Trial, terminal: Terminal) -> None:
    """`t` lends this terminal to the agent's; its own detach key leads back to the board."""
    terminal.until("asker", "calm")
    terminal.press("t")
    terminal.until("Scripted agent", "どの色にしますか", gone="waiting for you")
    terminal.press("C-b", "d")
    terminal.until("asker", "calm", "1 waiting for you")
    terminal.press("q")
    assert koboshi.status("asker")["run"]["exit"] is None


def test_one_may_stay_in_its_terminal(koboshi: Trial, terminal: Terminal) -> None:
    """The board draws nothing meanwhile: nobody would read it, and it would wait for ever."""
    terminal.until("asker", "calm", "1 waiting for you")
    terminal.press("t")
    terminal.until("Scripted agent", "どの色にしますか", gone="waiting for you")
    for order in ["pause", "resume"] * (TELLINGS // 2):
        koboshi.say(order, "calm")
    terminal.press("C-b", "d")
    terminal.until("asker", "calm", "1 waiting for you")


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 50)], ids=str)
def test_every_key_does_its_work_at_every_size(koboshi: Trial, size: tuple[int, int]) -> None:
    """Terminal, why, answer, hand over, stop: what is asked and what can be said is seen."""
    terminal = Terminal(koboshi, *size)
    try:
        terminal.until("asker", "calm", "asking", "1 waiting for you", "w why", "q quit")
        terminal.press("Enter")
        terminal.until("Scripted agent", gone="waiting for you")
        terminal.press("C-b", "d")
        terminal.until("asker", "1 waiting for you")
        terminal.press("w")
        terminal.until("why: asker", "PRM002")
        terminal.press("q")
        terminal.until("1 waiting for you", gone="why: asker")
        terminal.press("a")
        terminal.until("どの色にしますか", "青", "赤", "Enter answers")
        terminal.press("Down", "Enter")
        koboshi.until("asker", lambda known: known["question"] is None)
        terminal.until("nobody waiting for you", gone="Enter answers")
        terminal.press("Down", "r")
        terminal.until("Have calm save its work", "y  yes")
        terminal.press("y")
        koboshi.until("calm", lambda known: known["refresh"] is not None or known["restarts"] == 1)
        terminal.press("s")
        terminal.until("Stop calm", "y  yes")
        terminal.press("y")
        koboshi.until("calm", lambda known: known["run"]["exit"] is not None)
        terminal.until("stopped")
        terminal.press("q")
    finally:
        terminal.end()


def test_without_textual_the_list_is_shown(koboshi: Trial) -> None:
    """Once, with what to install."""
    hidden = "import sys; sys.modules['textual'] = None; sys.modules['textual.app'] = None; "
    code = f"{hidden}from koboshi.cli.main import main; sys.exit(main(['top']))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=koboshi.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert ran.returncode == 0
    assert "pip install 'koboshi[top]'" in ran.stderr
    assert "asker" in ran.stdout
