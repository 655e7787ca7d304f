"""Answers through the hook of the real Claude Code: refusals of every kind, and people."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.lab.conftest import Lodges
from tests.lab.lodges import Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import Call, Turn, call, say
from tests.lab.parts import CLAUDE, Part
from tests.lab.test_answers import judged, results, waiting, ways, with_server
from tests.lab.test_claude_questions import plan_file

pytestmark = [pytest.mark.lab, pytest.mark.stage]

REFUSING = """
mode = "auto"
denies_max = 20

[answers]
plan = "deny"

[[answers.rule]]
do = "deny"
tool = ["Edit", "Write"]
reason = "files are written by a person"

[[answers.rule]]
do = "deny"
tool = "WebFetch"
reason = "nothing is fetched here"

[[answers.rule]]
do = "deny"
mcp = "lab/*"
reason = "nothing is noted here"

[[answers.rule]]
do = "deny"
command = "touch *"
reason = "nothing is made here"
"""


@pytest.fixture
def part() -> Part:
    """The newest one."""
    return CLAUDE[-1]


def owned(lodges: Lodges, part: Part, policy: str, *args: str) -> Lodge:
    """A CLI whose owner wrote that."""
    lodge = lodges(part, args=args)
    config = lodge.home.path / ".config" / "koboshi"
    config.mkdir(parents=True)
    (config / "koboshi.toml").write_text(policy, encoding="utf-8")
    return lodge


def over(lodge: Lodge, model: Model, count: int) -> None:
    """Wait until the model was told of so many calls, and the turn is over."""
    lodge.until("a", lambda known: len(results(model)) == count and known["status"] == "idle")


def test_each_refusal_reaches_the_model_with_its_reason(
    lodges: Lodges, part: Part, model: Model
) -> None:
    """Bash, Write, Edit, WebFetch, a server's tool: once each, as the result of its call."""
    lodge = owned(lodges, part, REFUSING, "--mcp-config", "mcp.json")
    calls = with_server(lodge, lodge.home.cwd / "mcp.json")
    poem = lodge.home.cwd / "poem.txt"
    poem.write_text("one\n", encoding="utf-8")
    lodge.run()
    model.expect(
        call("Read", file_path=str(poem)),
        call("Bash", command="touch made.txt", description="Make"),
        call("Write", file_path=str(lodge.home.cwd / "new.txt"), content="new"),
        call("Edit", file_path=str(poem), old_string="one", new_string="two"),
        call("WebFetch", url="http://127.0.0.1:9/x", prompt="What does it say?"),
        call("mcp__lab__note", word="hello"),
        say("I see."),
    )
    lodge.say("send", "a", "Try it all.")
    over(lodge, model, 6)

    reasons = ("made", "files are written by a person", "files are", "fetched", "noted here")
    assert all(why in told for why, told in zip(reasons, results(model)[1:], strict=True))
    assert len({result.id for result in model.results}) == 6
    assert poem.read_text(encoding="utf-8") == "one\n"
    assert not calls.exists()
    assert sorted(path.name for path in lodge.home.cwd.glob("*.txt")) == ["poem.txt"]
    assert ways(lodge) == ["hook"] * 5


def planned(lodge: Lodge, model: Model) -> None:
    """The agent asks whether its plan may be carried out."""
    model.expect(say("Thought about it."))
    lodge.say("send", "a", "Think first.")
    lodge.until_heard("Think first.")
    lodge.until_status("a", "idle")
    plan = plan_file(model)
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text("# Plan\n\n1. First this\n2. Then that\n", encoding="utf-8")
    model.expect(call("ExitPlanMode"), say("So be it."))
    lodge.say("send", "a", "Plan it.")


def test_a_plan_is_refused(lodges: Lodges, part: Part, model: Model) -> None:
    """By a policy that says so; the agent goes on planning."""
    lodge = owned(lodges, part, REFUSING, "--permission-mode", "plan")
    lodge.run()
    planned(lodge, model)
    over(lodge, model, 1)

    assert "approved" not in results(model)[0]
    assert ways(lodge) == ["hook"]


@pytest.mark.parametrize(("word", "told"), [("yes", True), ("no", False)])
def test_a_person_decides_about_a_plan(
    word: str, lodges: Lodges, part: Part, model: Model, *, told: bool
) -> None:
    """By default it is asked; the answer goes to the hook."""
    lodge = owned(lodges, part, 'mode = "auto"\n', "--permission-mode", "plan")
    lodge.run()
    planned(lodge, model)
    question = waiting(lodge, "hook")
    lodge.say("answer", question["id"], word)
    over(lodge, model, 1)

    assert (question["kind"], question["through"]) == ("plan", "hook")
    assert ("approved" in results(model)[0]) is told
    assert ways(lodge) == ["hook"]


def test_a_person_chooses_what_the_agent_asks(lodges: Lodges, part: Part, model: Model) -> None:
    """By default a person is asked; the words of an option answer it."""
    lodge = owned(lodges, part, 'mode = "auto"\n')
    lodge.run()
    model.expect(part.question, say("Red it is."))
    lodge.say("send", "a", "Ask me.")
    question = waiting(lodge, "hook")
    lodge.say("answer", question["id"], "Red")
    over(lodge, model, 1)

    assert [each["text"] for each in question["options"]] == ["Red", "Blue"]
    assert "Red" in results(model)[0]
    assert ways(lodge) == ["hook"]


def several(*questions: str) -> Turn:
    """The agent asks several things at once."""
    options = [{"label": word, "description": f"Take {word}"} for word in ("Red", "Blue")]
    asked: list[dict[str, Any]] = [
        {"question": each, "header": each[:8], "options": options, "multiSelect": False}
        for each in questions
    ]
    return call("AskUserQuestion", questions=asked)


def test_several_questions_at_once_are_a_persons(lodges: Lodges, part: Part, model: Model) -> None:
    """Whatever pattern fits one of them: nothing is answered, and the dialog stands."""
    pattern = '[[answers.question]]\npattern = "*colour*"\nanswer = "Blue"\n'
    lodge = owned(lodges, part, f'mode = "auto"\n{pattern}')
    lodge.run()
    model.expect(several("Which colour?", "Which other colour?"), say("Thanks."))
    lodge.say("send", "a", "Ask me twice.")
    question = judged(lodge)
    lodge.until_shown(lodge.status("a")["run"]["place"], "Which colour?")

    assert question["policy"]["verdict"] == "ask"
    assert results(model) == []
    assert ways(lodge) == []


def test_the_screen_is_left_alone_while_the_hook_decides(
    lodges: Lodges, part: Part, model: Model
) -> None:
    """The dialog is drawn for seconds in which a second opinion thinks; no key is pressed."""
    slow = 'import sys, time; sys.stdin.read(); time.sleep(5); print(\'{"verdict": "allow"}\')'
    policy = (
        'mode = "auto"\nallow = ["touch made.txt"]\nsecond_opinion_wait = "30s"\n'
        f"second_opinion = ['''{sys.executable}''', '-c', '''{slow}''']\n"
    )
    lodge = owned(lodges, part, policy)
    lodge.run()
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    lodge.say("send", "a", "Make it.")
    lodge.until_status("a", "asking")
    lodge.until_shown(lodge.status("a")["run"]["place"], "Do you want to proceed?")
    over(lodge, model, 1)

    assert ways(lodge) == ["hook"]


def test_the_same_words_at_once_are_two_questions(lodges: Lodges, part: Part, model: Model) -> None:
    """Two equal calls in one turn: both are answered, once each."""
    lodge = owned(lodges, part, 'mode = "auto"\nallow = ["touch made.txt"]\n')
    lodge.run()
    same = Call(tool="Bash", input={"command": "touch made.txt", "description": "Make"})
    model.expect(Turn(blocks=(same, same)), say("Made twice."))
    lodge.say("send", "a", "Make it twice.")
    over(lodge, model, 2)

    assert len({result.id for result in model.results}) == 2
    assert ways(lodge) == ["hook", "hook"]
