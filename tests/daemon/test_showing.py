"""The verbs for whoever shows agents: over a real daemon and a real terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koboshi.daemon.control.client import Refused, call
from tests.daemon.trials import PATIENCE, Trial, trial

pytestmark = pytest.mark.tmux

KEY = "sk-ant-api03-0123456789abcdef"
SCRIPT = (
    f'[[act]]\ndo = "work"\nseconds = 0.2\nsay = "the key is {KEY}"\n\n[[act]]\ndo = "end_turn"\n'
)


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi with one agent at its prompt."""
    with trial(tmp_path) as made:
        argv = made.script(SCRIPT * 3)
        made.say("run", "-d", "--name", "a", "--as", "scripted", "--", *argv)
        made.until_status("a", "idle")
        yield made


def ask(koboshi: Trial, verb: str, **args: Any) -> Any:  # noqa: ANN401
    """One verb."""
    return call(koboshi.state, verb, patience=40.0, **args)


def test_what_changed_is_told_by_number(koboshi: Trial) -> None:
    """Everything to who knows nothing; then only what changed, as soon as it did."""
    first = ask(koboshi, "follow")
    assert (first["full"], [each["agent"] for each in first["agents"]]) == (True, ["a"])
    epoch, after = first["epoch"], first["count"]

    koboshi.say("pause", "a")
    told = ask(koboshi, "follow", epoch=epoch, after=after, wait=20.0)
    assert (told["full"], told["agents"][0]["paused"], told["gone"]) == (False, True, [])
    koboshi.say("stop", "a")
    koboshi.say("rm", "a")
    gone = ask(koboshi, "follow", epoch=epoch, after=told["count"], wait=20.0)
    assert gone["gone"] == ["a"]
    again = ask(koboshi, "follow", epoch="of another daemon", after=gone["count"], wait=20.0)
    assert again["full"] is True


def test_the_terminal_is_told_once_it_was_looked_at_again(koboshi: Trial) -> None:
    """With its colours, and without secrets."""
    first = ask(koboshi, "picture", name="a")
    assert first["screen"]["ansi"]
    koboshi.say("send", "a", "go")

    deadline = time.monotonic() + PATIENCE
    told = first
    while "the key is" not in told["screen"]["text"]:
        assert time.monotonic() < deadline
        after = {"epoch": told["epoch"], "after": told["count"]}
        fresh = ask(koboshi, "picture", name="a", wait=5.0, **after)
        told = fresh if fresh["screen"] else told

    assert KEY not in told["screen"]["text"] + told["screen"]["ansi"]
    assert "the key is xxxx" in told["screen"]["text"]
    after = {"epoch": told["epoch"], "after": told["count"] + 1000}
    assert ask(koboshi, "picture", name="a", wait=0.0, **after)["screen"] is None


def test_the_past_can_be_asked_for(koboshi: Trial) -> None:
    """Timeline, reasons, runs and notes; the reasons are what `why --json` prints."""
    koboshi.say("send", "a", "go")
    told = ask(koboshi, "timeline", name="a", seconds=600.0)

    assert {"start", "order"} <= {mark["kind"] for mark in told["marks"]}
    assert {"idle"} <= {span["status"] for span in told["spans"]}
    why = ask(koboshi, "why", name="a", count=1)
    assert why[0]["finding"]["code"] == "MSG001"
    assert ask(koboshi, "why", name="a", event=why[0]["seen"]["id"])[-1] == why[0]
    koboshi.until("a", lambda _: bool(ask(koboshi, "history", name="a")))
    assert ask(koboshi, "history", name="a")[0]["run"] == 1
    assert ask(koboshi, "notes", name="a") == []


def test_what_cannot_be_told_is_refused_in_words(koboshi: Trial) -> None:
    """An unknown name, a silly length, no event."""
    for verb, args in (
        ("timeline", {"name": "a", "seconds": -1.0}),
        ("timeline", {"name": "b"}),
        ("why", {"name": "a", "event": "x"}),
        ("notes", {"name": "../a"}),
        ("picture", {"name": "b"}),
    ):
        with pytest.raises(Refused) as refused:
            ask(koboshi, verb, **args)
        assert refused.value.exit_code == 2


def test_a_refresh_is_ordered_and_seen_through(koboshi: Trial) -> None:
    """Saved, ended, started, loaded; the note is there to be read."""
    koboshi.say("send", "a", "go")
    koboshi.until_status("a", "idle")

    came = ask(koboshi, "refresh", name="a", wait=30.0)

    assert came["outcome"] == "done", came
    assert koboshi.until("a", lambda known: known["run"]["number"] == 2)["run"]["origin"] == "fresh"
    saved = ask(koboshi, "save", name="a", wait=0.0)
    assert saved["agent"] == "a"
    koboshi.say("mode", "a", "observe")
    koboshi.until("a", lambda known: known["mode"] == "observe")
    for verb in ("save", "refresh"):
        with pytest.raises(Refused, match="observe"):
            ask(koboshi, verb, name="a")
