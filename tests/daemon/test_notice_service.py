"""From an agent's question to a person's pocket, through a real daemon."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.metrics.figures import DAY
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
    koboshi.until_said("ended with 0: noted", "events", "s", "--json")  # nobody waits for a hook
    assert json.loads(heard.read_text())["details"]["action"]["kind"] == "start"
    koboshi.say("why", "s")
    koboshi.say("replay", "s")


def test_figures_and_logs_of_the_day_are_written(tmp_path: Path) -> None:
    """When the daemon leaves at the latest; the journal says the same."""
    for number in range(2):  # they are of one day: if that ends meanwhile, all is done once more
        with trial(tmp_path / str(number)) as koboshi:
            koboshi.folder.mkdir()
            today = time.time() // DAY
            koboshi.say("run", "-d", "--name", "s", "--as", "scripted", "--", *koboshi.script(ASKS))
            koboshi.until_status("s", "idle")
            koboshi.say("stop", "s")
            koboshi.say("daemon", "stop")
            if time.time() // DAY == today:
                check_written(koboshi)
                return
    pytest.fail("two days ended within a minute")


def check_written(koboshi: Trial) -> None:
    """The figures and logs of an agent that ran once."""
    metrics, logs = koboshi.state / "metrics", koboshi.state / "logs"

    assert (
        'koboshi_restarts_total{agent="s",reason="person"} 1.0'
        in (metrics / "koboshi.prom").read_text()
    )
    (day,) = metrics.glob("metrics-????-??-??.json")
    written = json.loads(day.read_text())["agents"]["s"]
    (counted,) = json.loads(koboshi.say("metrics", "s", "--json"))
    assert written["actions"] == counted["actions"]
    assert written["restarts"] == {"person": 1}
    (restart,) = logs.glob("koboshi-restart-????????.log")
    assert "s e" in restart.read_text()
    assert "run 1 ended" in restart.read_text()
    assert list(logs.glob("koboshi-monitor-????????.log"))


def test_an_agent_that_nobody_looks_after_is_told_of(koboshi: Trial) -> None:
    """Its journal cannot say it; people hear of it once."""
    with Webhook().open() as hook:
        url = f"json://127.0.0.1:{hook.port}/"
        koboshi.configure(f'[notify]\ngroup = 0\n[notify.channels.a]\nurl = "{url}"\n')
        koboshi.say("run", "-d", "--name", "bad", "--as", "scripted", "--", *koboshi.script(ASKS))
        koboshi.until_status("bad", "idle")
        koboshi.say("daemon", "stop")
        journal = koboshi.state / "agents" / "bad" / "journal"
        journal.rename(journal.with_name("kept"))
        journal.write_text("")
        koboshi.say("daemon", "start")
        got = hook.wait(1, PATIENCE)
        koboshi.until("bad", lambda known: bool(known["trouble"]))

        assert got[0]["message"].startswith("bad is not looked after: ")
        assert len(hook.got) == 1
