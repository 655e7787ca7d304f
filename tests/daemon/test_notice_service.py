"""From an agent's question to a person's pocket, through a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.trials import PATIENCE, Trial, trial
from tests.incidents.test_bundles import unpacked
from tests.notices.servers import Webhook

pytestmark = pytest.mark.tmux

ASKS = '[[act]]\ndo = "ask"\ncommand = "npm test"\n\n[[act]]\ndo = "end_turn"\n'


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own."""
    with trial(tmp_path) as made:
        yield made


def test_a_word_and_a_question_reach_a_person(koboshi: Trial) -> None:
    """Sent by a person; then asked for by an agent, until `ack`."""
    with Webhook().open() as hook:
        url = f"json://127.0.0.1:{hook.port}/"
        koboshi.configure(f'[notify]\ngroup = 0\n[notify.channels.a]\nurl = "{url}"\n')
        assert "on its way: a" in koboshi.say("notify", "send", "hello")
        assert hook.wait(1, PATIENCE)[0]["message"] == "hello"

        koboshi.say("run", "-d", "--name", "s", "--as", "scripted", "--", *koboshi.script(ASKS))
        koboshi.until_status("s", "idle")
        koboshi.say("send", "s", "go")
        message = hook.wait(2, PATIENCE)[1]["message"]

        assert message.startswith("Needs you: s asks")
        assert "asked: " in koboshi.say("notify", "ls")
        koboshi.say("ack", "s")
        assert "asked: " not in koboshi.say("notify", "ls")
        assert "on its way: a" in koboshi.say("why", "s")


def test_a_bundle_and_a_prompt_on_demand(koboshi: Trial) -> None:
    """Of a real agent in a real terminal; a hook of the owner's hears of its start."""
    heard = koboshi.folder / "heard"
    koboshi.configure(f'[actions.start]\nshell = "cat > {heard}; echo noted"\n')
    koboshi.say("run", "-d", "--name", "s", "--as", "scripted", "--", *koboshi.script(ASKS))
    koboshi.until_status("s", "idle")
    path = Path(koboshi.say("bundle", "s", "--about", "it is slow").strip())
    found = unpacked(path)

    assert json.loads(found["incident.json"])["what"] == "it is slow"
    assert "run 1 started (first)" in found["chain.txt"]
    assert "koboshi.scripted" in found["processes.txt"]
    assert found["screen.txt"].strip()
    assert found["screen.ansi"].strip()
    assert "it is slow" in koboshi.say("prompt", "s", "--about", "it is slow")
    assert json.loads(heard.read_text())["details"]["action"]["kind"] == "start"
    assert "hook ended with 0: noted" in koboshi.say("why", "s")
