"""What people are told of a plan: each step, the end, the question; once, whoever dies."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.plans import parse, set_actions, set_status
from koboshi.plans.news import news
from koboshi.plans.values import PlanStatus
from tests.daemon.loop.stages import PLAN, Theatre
from tests.daemon.trials import PATIENCE, Trial, trial
from tests.notices.servers import Webhook


@pytest.fixture
def hook() -> Iterator[Webhook]:
    """Where messages go."""
    with Webhook().open() as opened:
        yield opened


@pytest.fixture
def theatre(tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> Theatre:
    """A project with a plan, and an owner with a channel."""
    config = tmp_path / "own"
    config.mkdir()
    url = f"json://127.0.0.1:{hook.port}/"
    text = f'[notify]\ngroup = 0\n[notify.channels.a]\nurl = "{url}"\nseverity = "P2"\n'
    (config / "koboshi.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("KOBOSHI_CONFIG", str(config))
    return Theatre(tmp_path)


def heard(hook: Webhook) -> str:
    """All messages, one under the other."""
    return "\n".join(each["message"] for each in hook.wait(0))


def test_each_step_and_the_end_are_told(theatre: Theatre, hook: Webhook) -> None:
    """Without a daemon; all of it is out when the command ends."""
    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    said = heard(hook)
    for number in (1, 2, 3):
        assert said.count(f"plan M1.md: step {number} of 3 is done") == 1
    assert said.count("plan M1.md: DONE, 3 steps") == 1
    assert "Needs you" not in said


@pytest.mark.parametrize(("wanted", "steps", "ends"), [("end", 0, 1), ("none", 0, 0)])
def test_what_is_told_can_be_chosen(
    theatre: Theatre, hook: Webhook, wanted: str, steps: int, ends: int
) -> None:
    """`--notify`."""
    theatre.loop("M1.md", "--notify", wanted)

    said = heard(hook)
    assert (said.count("is done"), said.count("DONE, 3 steps")) == (steps, ends)


def test_a_failed_plan_asks_its_question(theatre: Theatre, hook: Webhook) -> None:
    """In one line; an answer goes on, and the next question is told again."""
    theatre.play({"1": [{}]})

    theatre.loop("M1.md", "--attempts", "1", "--notify", "end")
    question = "Needs you: plan M1.md: FAILED: step 1 given up. Step 1 failed once"
    assert heard(hook).count(question) == 1
    theatre.loop("answer", "do it")

    assert heard(hook).count(question) == 2


def test_a_person_who_said_stop_is_not_asked(theatre: Theatre, hook: Webhook) -> None:
    """They know; others may still read of it."""
    theatre.play({"1": [{"sh": f"touch {theatre.folder}/stop; sleep 20"}]})

    theatre.loop("M1.md")

    assert "plan M1.md: WAITING: stopped:" in heard(hook)
    assert "Needs you" not in heard(hook)


def test_a_dead_channel_holds_no_plan_up(theatre: Theatre, hook: Webhook) -> None:
    """What could not be told is on disk, for the next keeper."""
    hook.status = 500

    began = time.monotonic()
    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    assert time.monotonic() - began < 30
    left = list(theatre.state.glob("plans/*/notices.json"))
    assert len(left) == 1
    assert b"DONE, 3 steps" in left[0].read_bytes()


def test_news_are_found_in_the_file_alone() -> None:
    """So that whoever takes over finds the same."""
    plan = set_actions(set_status(parse(PLAN), PlanStatus.FAILED), last="x", following="why?")

    (found,) = news(plan)

    assert (found.text, found.asks) == ("FAILED: x. why?", True)
    assert news(plan) == (found,)
    assert news(plan, "none") == ()


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own."""
    (tmp_path / "t").mkdir()
    with trial(tmp_path / "t") as made:
        yield made


@pytest.mark.tmux
def test_a_daemon_brings_it_to_people(tmp_path: Path, hook: Webhook, koboshi: Trial) -> None:
    """Through the same outbox as the notices of agents; the question ends when the plan goes on."""
    url = f"json://127.0.0.1:{hook.port}/"
    koboshi.configure(f'[notify]\ngroup = 0\n[notify.channels.a]\nurl = "{url}"\n')
    koboshi.say("notify", "send", "hello")
    # What is due at the same time comes as one message: the first has to be out before the next.
    hook.wait(1, PATIENCE)
    (tmp_path / "p").mkdir()
    theatre = Theatre(tmp_path / "p")
    theatre.state = koboshi.state
    theatre.play({"1": [{}]})

    theatre.loop("M1.md", "--attempts", "1")

    assert "FAILED: step 1 given up" in hook.wait(2, PATIENCE)[1]["message"]
    assert "asked: FAILED" in koboshi.say("notify", "ls")
    theatre.play({"1": [{"write": {"a.txt": "alpha\n"}}]})
    assert theatre.loop("answer", "really").returncode == 0
    assert "asked:" not in koboshi.say("notify", "ls")
    assert not list(koboshi.state.glob("plans/*/notices.json"))
