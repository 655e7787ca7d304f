"""`refresh`, `ask` and `progress` through a daemon and a real tmux."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koboshi.daemon.control.client import Refused, call_running
from tests.daemon.trials import Trial, trial

pytestmark = pytest.mark.tmux

IDLES = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n\n'


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own."""
    with trial(tmp_path) as made:
        yield made


def test_a_person_hands_an_agent_over(koboshi: Trial) -> None:
    """Saved, ended, started afresh, told; no rule had to find anything."""
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *koboshi.script(IDLES))
    before = koboshi.until_status("a", "idle")
    said = koboshi.say("refresh", "a", "--reason", "a new plan")
    after = koboshi.until(
        "a", lambda known: known["run"]["number"] == 2 and known["refresh"] is None
    )

    assert "at the end of its turn" in said
    assert after["run"]["origin"] == "fresh"
    assert after["run"]["session"] != before["run"]["session"]
    shown = koboshi.say("events", "a")
    assert "person said: refresh 'a new plan'" in shown
    assert "load 'ckpt-" in shown
    assert "refreshes 1" in koboshi.say("report", "a", "--since", "10m")


def test_what_cannot_be_handed_over_is_refused_and_not_left_waiting(koboshi: Trial) -> None:
    """An unknown program, a mode that only looks, a run that is over."""
    koboshi.say("run", "-d", "--name", "g", "--", "sleep", "300")
    koboshi.say(
        "run", "-d", "--name", "o", "--mode", "observe", "--as", "scripted", "--",
        *koboshi.script(IDLES),
    )  # fmt: skip
    koboshi.until_status("o", "idle")

    assert "no way to be handed over" in koboshi.type("refresh", "g").stderr
    assert "its mode is 'observe'" in koboshi.type("refresh", "o").stderr
    with pytest.raises(Refused, match="run 7 of o is over"):
        call_running(koboshi.state, "refresh", name="o", run=7, note="x")
    assert koboshi.status("o")["refresh"] is None


def test_an_agent_asks_and_a_person_answers(koboshi: Trial) -> None:
    """The call waits, `ls` shows it, a person is told once, the first answer counts."""
    koboshi.say("run", "-d", "--name", "a", "--", "sleep", "300")
    koboshi.until("a", lambda known: known["run"]["number"] == 1)
    came = list[Any]()
    words = {"name": "a", "run": 1, "ticket": "t", "question": "Which port?", "options": ["80"]}

    def ask() -> None:
        came.append(call_running(koboshi.state, "ask", patience=60.0, wait=50.0, **words))

    asker = threading.Thread(target=ask)
    asker.start()
    koboshi.until("a", lambda known: bool(known["asked"]))
    assert "asks you: Which port?" in koboshi.say("ls")
    assert json.loads(koboshi.say("questions", "--json"))[0]["id"] == "a:ask1"
    assert "options: 80" in koboshi.say("questions")
    assert koboshi.say("answer", "a:ask1", "use 8080") == "a: told: use 8080\n"
    asker.join(30.0)
    late = koboshi.type("answer", "a:ask1", "81")

    assert came == [{"agent": "a", "answer": "use 8080"}]
    assert (late.returncode, "is not open any more" in late.stderr) == (1, True)
    assert koboshi.say("questions") == "nobody asks anything\n"
    events = koboshi.say("events", "a")
    assert events.count("agent said: ask 'Which port? [80]'") == 1
    assert "person said: reply 'use 8080'" in events
    assert "MSG002" in koboshi.say("why", "a")


def test_progress_is_shown_and_an_empty_word_is_a_mistake(koboshi: Trial) -> None:
    """In `status`; control characters do not reach it."""
    koboshi.say("run", "-d", "--name", "a", "--", "sleep", "300")
    koboshi.until("a", lambda known: known["run"]["number"] == 1)
    call_running(koboshi.state, "progress", name="a", run=1, text="step 3\n\x1b[2J of 7")

    assert koboshi.status("a")["progress"]["text"] == "step 3 [2J of 7"
    assert "step 3" in koboshi.say("status", "a")
    wrongs: tuple[dict[str, Any], ...] = (
        {"text": " \x1b "},
        {"text": "x", "run": 9},
        {"text": "x" * 501},
    )
    for wrong in wrongs:
        with pytest.raises(Refused):
            call_running(koboshi.state, "progress", **{"name": "a", "run": 1, **wrong})
