"""Questions of the real CLIs, answered by policy or by a person: once each, and by one way only."""

from __future__ import annotations

import json
from typing import Any

import pytest

from koboshi.core.actions import Answer
from tests.lab.conftest import Lodges
from tests.lab.journals import record
from tests.lab.lodges import Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import call, say
from tests.lab.parts import CLAUDE, Part

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: Claude Code as koboshi equips it, and with its hooks switched off: then only keys are left.
WAYS = {"hook": (), "keys": ("--settings", '{"disableAllHooks": true}')}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """By which way answers go."""
    return str(request.param)


@pytest.fixture(params=CLAUDE, ids=lambda part: part.version)
def part(request: pytest.FixtureRequest) -> Part:
    """Claude Code, in each version."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


def lodged(lodges: Lodges, part: Part, way: str, *args: str, **settings: str) -> Lodge:
    """A CLI in mode auto, at its prompt."""
    wanted = {f"KOBOSHI_{name.upper()}": value for name, value in settings.items()}
    lodge = lodges(part, {"KOBOSHI_MODE": "auto", **wanted}, args=(*WAYS[way], *args))
    lodge.run()
    return lodge


def ways(lodge: Lodge) -> list[str]:
    """By which way each answer went that was given."""
    done = record(lodge.state, "a").done
    return ["hook" if each.ticket else "keys" for each in done if isinstance(each, Answer)]


def waiting(lodge: Lodge) -> dict[str, Any]:
    """The one question that waits for a person."""
    lodge.until_said('"id"', "questions", "--json")
    [question] = json.loads(lodge.say("questions", "--json"))
    return dict(question)


def results(model: Model) -> list[str]:
    """What the model was told of its calls."""
    return [result.text for result in model.results]


def test_an_allowed_command_is_answered_once(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """Nobody is there; the tool runs, and the model is told of it once."""
    lodge = lodged(lodges, part, way, allow="touch made.txt", answer_cooldown="1s")
    for turn in ("One.", "Two."):
        model.expect(call("Bash", command="touch made.txt", description="Make"), say(turn))
        lodge.say("send", "a", f"Make it {turn}")
        lodge.until_heard("completed with no output")
        lodge.until_status("a", "idle")

    assert (lodge.home.cwd / "made.txt").exists()
    assert len(results(model)) == 2
    assert ways(lodge) == [way, way]


def test_a_person_answers_from_anywhere(lodges: Lodges, part: Part, way: str, model: Model) -> None:
    """The list names the command; the first answer wins, and a late one is told so."""
    lodge = lodged(lodges, part, way)
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    lodge.say("send", "a", "Make it.")
    question = waiting(lodge)

    assert (question["subject"], question["through"]) == ("touch made.txt", way)
    assert any("touch made.txt" in row for row in question["shown"])

    answered = lodge.say("answer", question["id"], "yes")
    lodge.until_heard("completed with no output")
    late = lodge.type("answer", question["id"], "no")

    assert answered.startswith("a: answered")
    assert late.returncode == 1
    assert "not open any more: a person answered 'once' (done)" in late.stderr
    assert len(results(model)) == 1
    assert ways(lodge) == [way]
