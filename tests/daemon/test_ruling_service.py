"""Rules over a real daemon: told as the command tells them, switched, and known to the next one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koboshi.daemon.control.client import Refused, call
from tests.daemon.trials import Trial, trial

pytestmark = pytest.mark.tmux

IDLE = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n'
FILE = 'idle_after = "1s"\nsend_cooldown = "1s"\n'


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi that would send an idle agent on."""
    with trial(tmp_path) as made:
        made.configure(FILE)
        made.say("daemon", "start")
        yield made


def ask(koboshi: Trial, verb: str, **args: Any) -> Any:  # noqa: ANN401
    """One verb."""
    return call(koboshi.state, verb, patience=40.0, **args)


def idle_rule(koboshi: Trial) -> dict[str, Any]:
    """What is told of the rule about idle agents."""
    found: dict[str, Any] = next(e for e in ask(koboshi, "rules") if e["code"] == "IDL001")
    return found


def test_a_switch_holds_at_once_and_for_the_next_daemon(koboshi: Trial) -> None:
    """What the rule would have done is told; taken back, it does it."""
    assert ask(koboshi, "rule", code="idl001", mode="observe")["mode"] == "observe"
    argv = koboshi.script(IDLE * 4)
    koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *argv)
    koboshi.until_status("a", "idle")
    koboshi.say("send", "a", "go")  # a person's own word passes
    koboshi.until("a", lambda _: idle_rule(koboshi)["would"] > 0)
    told = idle_rule(koboshi)
    assert (told["mode"], told["own_mode"], told["done"]) == ("observe", "act", 0)
    assert told["example_would"]["agent"] == "a"
    assert "IDL001 is set to observe" in told["example_would"]["why"]

    koboshi.say("daemon", "restart")
    assert idle_rule(koboshi)["mode"] == "observe"
    assert json.loads(koboshi.say("rules", "IDL001", "--json"))["mode"] == "observe"
    koboshi.say("rules", "IDL001", "--set", "default")
    koboshi.until("a", lambda _: idle_rule(koboshi)["done"] > 0)
    assert (koboshi.folder / "own" / "koboshi.toml").read_text() == FILE


def test_what_cannot_be_switched_is_refused_in_words(koboshi: Trial) -> None:
    """A rule of plans, one that is off, one that is none, a word that is none."""
    off = "[[rule]]\ncode = 'OWN001'\nname = 'x'\nwhen = 'age > 1'\nenabled = false\n"
    koboshi.configure(off)
    for code, mode, why in (
        ("PLN001", "observe", "the loop of plans is made of it"),
        ("OWN001", "act", "it is not enabled"),
        ("NIX999", "act", "expected a rule code"),
        ("RUN001", "off", "expected one of observe, act, default"),
    ):
        with pytest.raises(Refused, match=why):
            ask(koboshi, "rule", code=code, mode=mode)
    assert not (koboshi.state / "rules.json").exists()
    with pytest.raises(Refused, match="seconds"):
        ask(koboshi, "rules", seconds=0.0)
