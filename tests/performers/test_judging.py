"""Judge: what the policy says, and who may be stricter."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koboshi.core.actions import Judge
from koboshi.core.events import Advice, Ending, Outcome, Stance
from koboshi.core.settings import Settings
from koboshi.core.view import Question
from koboshi.performers.advising import Matter, second_opinion, stricter
from koboshi.performers.judging import judge
from tests.core.worlds import permission
from tests.performers.benches import Bench

ALLOW, ASK, DENY = (Advice(stance=stance) for stance in Stance)
BASH = {"tool_name": "Bash", "tool_input": {"command": "npm test"}}


class Waits:
    """A hook that waits."""

    def __init__(self, payload: dict[str, Any], *, takes: bool = True) -> None:
        self.payload = payload
        self.takes = takes
        self.said: list[dict[str, Any]] = []

    async def say(self, words: dict[str, Any]) -> bool:
        """Take it, or not."""
        self.said.append(words)
        return self.takes


def bench(question: Question | None = None, held: Question | None = None) -> Bench:
    """Hands over a view with that question."""
    made = Bench()
    settings = Settings(allow=("npm test",))
    made.view = replace(
        made.view, question=question, held=(held,) if held else (), settings=settings
    )
    return made


QUESTION = Question(prompt=permission(), nth=1, since=0.0)
JUDGE = Judge(run=1, nth=1, fingerprint=permission().fingerprint)


def judged(hands: Bench, action: Judge = JUDGE) -> Advice:
    """What it came to; it always comes to something."""
    outcome = hands.run(judge(action, hands.hands))

    assert outcome.ending is Ending.DONE
    assert hands.sent == hands.marks == []
    assert outcome.advice is not None
    return outcome.advice


def test_the_list_allows_its_commands_word_for_word() -> None:
    """And nothing that only begins so."""
    other = permission("npm test; rm x")
    asked = replace(JUDGE, fingerprint=other.fingerprint)

    assert judged(bench(QUESTION)) == ALLOW
    assert judged(bench(replace(QUESTION, prompt=other)), asked).stance is Stance.ASK


def test_what_a_hook_tells_is_judged_in_its_own_words() -> None:
    """The screen may show less."""
    held = replace(QUESTION, ticket="t", prompt=permission("npm test"))
    made = bench(held=held)
    action = replace(JUDGE, ticket="t")
    made.hands.held = lambda _: Waits(BASH)

    assert judged(made, action) == ALLOW

    made.hands.held = lambda _: Waits({"tool_name": "Bash", "tool_input": {"command": "rm x"}})
    assert judged(made, action).stance is Stance.ASK

    made.hands.held = lambda _: Waits({"tool_name": "Write"})  # too long: the shim has cut it
    assert judged(made, action).rule == "cut"

    made.hands.held = lambda _: None
    assert judged(made, action).rule == "gone"


def test_another_question_is_not_judged_in_its_place() -> None:
    """It changed between the decision and the judgement."""
    assert judged(bench(replace(QUESTION, prompt=permission("rm x")))).rule == "gone"
    assert judged(bench()).rule == "gone"


def test_a_policy_that_breaks_asks_a_person() -> None:
    """Whatever it raises."""
    made = bench(QUESTION)

    async def broken(_: Matter) -> Advice:
        raise KeyError("x")

    made.hands.advise = broken

    assert judged(made) == Advice(
        stance=Stance.ASK, rule="failed", why="the policy could not be asked: KeyError"
    )


@pytest.mark.parametrize("one", list(Stance))
@pytest.mark.parametrize("other", list(Stance))
def test_the_stricter_counts(one: Stance, other: Stance) -> None:
    """Deny before ask before allow; and a second opinion brings no words of its own."""
    first = Advice(stance=one, always=True, text="Red")
    second = Advice(stance=other, always=True, text="Blue")
    order = [Stance.ALLOW, Stance.ASK, Stance.DENY]
    chosen = stricter(first, second)

    assert chosen.stance is max(one, other, key=order.index)
    assert chosen.text in ("Red", "")


def opinion(script: str, folder: Path, seconds: float = 20.0) -> Advice:
    """What a command says that is a few lines of Python."""
    matter = Matter(prompt=permission("$(touch pwned)"), payload=BASH, cwd=str(folder))
    command = (sys.executable, "-I", "-c", script)
    return asyncio.run(second_opinion(command, seconds, matter, ALLOW))


ECHO = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"verdict": "deny", "why": asked["subject"] + " " + asked["verdict"]}))
"""


def test_a_second_opinion_gets_the_question_as_json(tmp_path: Path) -> None:
    """And nothing of it is a part of a command."""
    said = opinion(ECHO, tmp_path)

    assert said == Advice(stance=Stance.DENY, rule="second opinion", why="$(touch pwned) allow")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("raise SystemExit(3)", "it ended with status 3"),
        ("print('yes')", "JSON is malformed"),
        ("print('[]')", "expected"),
        ('print(\'{"verdict": "maybe"}\')', "expected"),
        ("print('\\xff')", ""),
        ("import time; time.sleep(60)", "it took longer than 0.3 s"),
    ],
)
def test_a_second_opinion_that_fails_asks_a_person(script: str, why: str, tmp_path: Path) -> None:
    """It is late, broken, or says something else."""
    seconds = 0.3 if "sleep" in script else 20.0
    said = opinion(script, tmp_path, seconds)

    assert said.stance is Stance.ASK
    assert said.why.startswith("there is no second opinion: ")
    assert why in said.why


def test_a_command_that_is_not_there_asks_a_person(tmp_path: Path) -> None:
    """A misspelt one must not allow."""
    matter = Matter(prompt=permission(), cwd=str(tmp_path))

    said = asyncio.run(second_opinion(("no-such-command-here",), 5.0, matter, ALLOW))

    assert said.stance is Stance.ASK


def test_a_judgement_is_written_and_read_again() -> None:
    """Whoever takes over knows it."""
    from koboshi.core.events import ActionFinished, Context, Event, Moment  # noqa: PLC0415
    from koboshi.store.wire import Seen, read_line, seen_line  # noqa: PLC0415

    advice = Advice(stance=Stance.DENY, rule="r", why="w")
    said = Outcome(ending=Ending.DONE, advice=advice)
    body = ActionFinished(key=JUDGE.key, action=JUDGE, outcome=said)
    event = Event(seq=1, now=Moment(at=1.0, utc=2.0), body=body, context=Context(agent="a"))
    line = seen_line(event)

    assert read_line(line, event.context) == Seen(event=event)

    old = json.loads(line)
    del old["advice"]
    [seen] = [read_line(json.dumps(old).encode(), event.context)]
    assert isinstance(seen, Seen)
    assert isinstance(seen.event.body, ActionFinished)
    assert seen.event.body.outcome == Outcome(ending=Ending.DONE)
