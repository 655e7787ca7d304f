"""Questions of the real CLIs, answered by policy or by a person: once each, and by one way only."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from koboshi.core.actions import Answer
from tests.lab.conftest import Lodges
from tests.lab.journals import record
from tests.lab.leftovers import PAUSE
from tests.lab.lodges import PATIENCE, Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, say
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.test_claude_questions import plan_file

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: Claude Code as koboshi equips it, and with its hooks switched off: then only keys are left.
WAYS = {"hook": (), "keys": ("--settings", '{"disableAllHooks": true}'), "codex": ()}
#: Codex without its hooks.
HOOKLESS = ("-c", "features.hooks=false")


@pytest.fixture(params=("hook", "keys"))
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
    """By which way each answer went that was given.

    The CLI goes on, and the model hears of it, before it is written how the answer came out.
    """
    deadline = time.monotonic() + PATIENCE
    told = record(lodge.state, "a")
    while any(isinstance(each, Answer) for each in told.under_way):
        assert time.monotonic() < deadline, f"never came out: {told.under_way}"
        time.sleep(PAUSE)
        told = record(lodge.state, "a")
    return ["hook" if each.ticket else "keys" for each in told.done if isinstance(each, Answer)]


def waiting(lodge: Lodge, way: str = "") -> dict[str, Any]:
    """The one question that waits for a person; a dialog may be drawn before its hook comes."""
    lodge.until_said(f'"through": "{way}"' if way else '"id"', "questions", "--json")
    [question] = json.loads(lodge.say("questions", "--json"))
    return dict(question)


def judged(lodge: Lodge) -> dict[str, Any]:
    """The same, with what the policy says of it: a question is seen before it is judged."""
    lodge.until_said('"verdict"', "questions", "--json")
    return waiting(lodge)


def results(model: Model) -> list[str]:
    """What the model was told of its calls."""
    return [result.text for result in model.results]


def test_an_allowed_command_is_answered_once(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """Nobody is there; the tool runs, and the model is told of it once."""
    lodge = lodged(lodges, part, way, allow="touch made.txt", answer_cooldown="1s")
    for count, turn in enumerate(("One.", "Two."), 1):
        model.expect(call("Bash", command="touch made.txt", description="Make"), say(turn))
        lodge.say("send", "a", f"Make it {turn}")
        lodge.until_results(count)
        lodge.until_status("a", "idle")

    assert (lodge.home.cwd / "made.txt").exists()
    assert len(results(model)) == 2
    assert ways(lodge) == [way, way]


def test_a_person_answers_from_anywhere(lodges: Lodges, part: Part, way: str, model: Model) -> None:
    """The list names the command; the first answer wins, and a late one is told so."""
    lodge = lodged(lodges, part, way)
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    lodge.say("send", "a", "Make it.")
    question = waiting(lodge, way)

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


POLICY = """
mode = "auto"
answer_cooldown = "1s"

[answers]
plan = "allow"
trust = "allow"

[[answers.rule]]
do = "allow"
command = ["touch made*.txt", "git status"]

[[answers.rule]]
do = "deny"
command = "touch other*"
reason = "only made.txt is made here"

[[answers.rule]]
do = "allow"
tool = ["Edit", "Write"]
path = "inside"

[[answers.rule]]
do = "allow"
tool = "Read"
path = "/etc/hostname"

[[answers.rule]]
do = "allow"
tool = "WebFetch"
domain = "127.0.0.1"

[[answers.rule]]
do = "allow"
mcp = "lab/*"

[[answers.question]]
pattern = "which colour*"
answer = "Blue"

[[answers.question]]
pattern = "which features*"
answer = "Logs, Auth"
"""


def ruled(lodges: Lodges, part: Part, way: str, *args: str, **room: Any) -> Lodge:  # noqa: ANN401
    """A CLI whose owner has written a policy."""
    lodge = lodges(part, args=(*WAYS[way], *args), **room)
    config = lodge.home.path / ".config" / "koboshi"
    config.mkdir(parents=True)
    (config / "koboshi.toml").write_text(POLICY, encoding="utf-8")
    return lodge


def test_what_the_policy_says_is_answered(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """Bash, Write, Edit, WebFetch: each runs, once, and the model is told of it once."""
    lodge = ruled(lodges, part, way)
    lodge.run()
    poem = lodge.home.cwd / "poem.txt"
    calls = [
        call("Bash", command="touch made.txt", description="Make"),
        call("Write", file_path=str(poem), content="one\ntwo\n"),
        call("Edit", file_path=str(poem), old_string="two", new_string="three"),
        call("WebFetch", url="http://127.0.0.1:9/x", prompt="What does it say?"),
    ]
    model.expect(*calls, say("All done."))
    lodge.say("send", "a", "Do it all.")
    lodge.until("a", lambda known: len(results(model)) == 4 and known["status"] == "idle")

    assert (lodge.home.cwd / "made.txt").exists()
    assert poem.read_text(encoding="utf-8") == "one\nthree\n"
    assert ways(lodge) == [way] * 4
    assert len({result.id for result in model.results}) == 4


#: Longer than a row; and what looks the same, because a line ends where the other one is wrapped.
LONG = "touch " + " ".join(f"word{number}.txt" for number in range(30))
LOOKALIKES = [LONG.replace(f" word{number}.txt", f"\nword{number}.txt") for number in (10, 11)]


def test_a_long_command_is_read_as_it_was_written(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """By keys too: the screen shows it, and the transcript tells where its lines end."""
    lodge = lodged(lodges, part, way, allow=LONG, answer_cooldown="1s")
    model.expect(call("Bash", command=LONG, description="Make"), say("Made."))
    lodge.say("send", "a", "Make them.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert (lodge.home.cwd / "word29.txt").exists()
    assert ways(lodge) == [way]

    lookalike = LOOKALIKES[CLAUDE.index(part)]
    model.expect(call("Bash", command=lookalike, description="Make"), say("Made."))
    lodge.say("send", "a", "Make them again.")

    assert judged(lodge)["policy"]["verdict"] == "ask"
    assert ways(lodge) == [way]


def test_a_file_that_is_read_is_judged_as_one(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """Its dialog looks like that of a command."""
    lodge = ruled(lodges, part, way)
    lodge.run()
    model.expect(call("Read", file_path="/etc/hostname"), say("Read."))
    lodge.say("send", "a", "Read it.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert ways(lodge) == [way]


def test_a_refusal_reaches_the_model_with_its_reason(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """Through the hook as the result of the call, by keys as the next message."""
    lodge = ruled(lodges, part, way)
    lodge.run()
    model.expect(call("Bash", command="touch other.txt", description="Make"), say("I see."))
    lodge.say("send", "a", "Make another.")
    lodge.until_heard("only made.txt is made here")

    assert not (lodge.home.cwd / "other.txt").exists()
    assert ways(lodge) == [way]
    assert lodge.heard("only made.txt is made here") == 1


def test_the_agents_own_question_is_answered_by_its_pattern(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """By the words of the option, wherever it stands."""
    lodge = ruled(lodges, part, way)
    lodge.run()
    model.expect(part.question, say("Blue it is."))
    lodge.say("send", "a", "Ask me.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert "Blue" in results(model)[0]
    assert ways(lodge) == [way]


FEATURES = ("Auth", "Search", "Logs")


def features(*, several: bool) -> Turn:
    """A question with three options."""
    options = [{"label": word, "description": f"Take {word}"} for word in FEATURES]
    question = {"question": "Which features?", "header": "Features", "options": options}
    return call("AskUserQuestion", questions=[{**question, "multiSelect": several}])


def test_several_choices_are_ticked_by_policy(
    lodges: Lodges, part: Part, way: str, model: Model
) -> None:
    """Each is seen ticked, and what is handed in is seen, too."""
    lodge = ruled(lodges, part, way)
    lodge.run()
    model.expect(features(several=True), say("So be it."))
    lodge.say("send", "a", "Ask me.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert '"Which features?"="Auth, Logs"' in results(model)[0]
    assert ways(lodge) == [way]


@pytest.mark.parametrize("several", [True, False])
def test_a_person_answers_in_their_own_words(
    lodges: Lodges,
    part: Part,
    way: str,
    model: Model,
    several: bool,  # noqa: FBT001
) -> None:
    """They go into the row that is there for them."""
    lodge = lodged(lodges, part, way)
    model.expect(features(several=several), say("I see."))
    lodge.say("send", "a", "Ask me.")
    answered = lodge.say("answer", waiting(lodge)["id"], "none of the 3, use DuckDB")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert answered.startswith("a: answered")
    # Newer ones put words with a comma into quotes.
    assert '"none of the 3, use DuckDB"' in results(model)[0]
    assert ways(lodge) == [way]


def test_a_plan_is_approved(lodges: Lodges, part: Part, way: str, model: Model) -> None:
    """By a policy that says so; what it asks next is asked all the same."""
    lodge = ruled(lodges, part, way, "--permission-mode", "plan")
    lodge.run()
    model.expect(say("Thought about it."))
    lodge.say("send", "a", "Think first.")
    lodge.until_heard("Think first.")  # it is idle before its turn, too
    lodge.until_status("a", "idle")
    plan = plan_file(model)
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text("# Plan\n\n1. Yes, first this\n2. No, not that\n", encoding="utf-8")
    model.expect(call("ExitPlanMode"), say("Off I go."))
    lodge.say("send", "a", "Plan it.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert "approved" in results(model)[0]
    assert ways(lodge) == [way]


def test_a_folder_is_trusted(lodges: Lodges, part: Part, model: Model) -> None:
    """No hook tells of that: it goes by keys, to the option that means yes."""
    lodge = ruled(lodges, part, "hook", trusted=False)
    lodge.run()
    model.expect(say("Here."))
    lodge.say("send", "a", "Are you there?")
    lodge.until_heard("Are you there?")

    assert ways(lodge) == ["keys"]


SERVER = Path(__file__).with_name("mcp_server.py")


def with_server(lodge: Lodge, target: Path) -> Path:
    """Name a tool server in that file; where it writes down what it was called with."""
    calls = lodge.home.folder / "calls.txt"
    command = {"command": sys.executable, "args": ["-I", str(SERVER), str(calls)]}
    target.write_text(json.dumps({"mcpServers": {"lab": command}}), encoding="utf-8")
    return calls


def test_a_tool_of_a_server_is_allowed_by_name(
    lodges: Lodges, part: Part, way: str, tmp_path: Path, model: Model
) -> None:
    """It is called once. 2.1.325 shows a name for people: its own one is in the transcript."""
    config = tmp_path / "mcp.json"
    lodge = ruled(lodges, part, way, "--mcp-config", str(config))
    calls = with_server(lodge, config)
    lodge.run()
    model.expect(call("mcp__lab__note", word="hello"), say("Noted."))
    lodge.say("send", "a", "Note it.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert "noted hello" in results(model)[0]
    assert calls.read_text(encoding="utf-8") == "hello\n"
    assert ways(lodge) == [way]


def test_a_server_of_the_project_is_approved(lodges: Lodges, part: Part) -> None:
    """Where the policy trusts: a dialog that no hook tells of, by keys."""
    lodge = ruled(lodges, part, "hook")
    with_server(lodge, lodge.home.cwd / ".mcp.json")
    lodge.run()
    lodge.until("a", lambda known: known["status"] == "idle" and bool(ways(lodge)))

    assert ways(lodge) == ["keys"]


@pytest.mark.parametrize("part", [CODEX], ids=lambda part: part.key)
def test_codex_is_answered_by_keys(lodges: Lodges, part: Part, model: Model) -> None:
    """A command that is allowed, one that is refused and why, and the agent's own question."""
    lodge = ruled(lodges, part, "codex", *HOOKLESS)
    lodge.run()
    model.expect(part.shell("touch made.txt"), say("Made."))
    lodge.say("send", "a", "Make it.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")
    model.expect(part.shell("touch other.txt"), say("Never said."))
    lodge.say("send", "a", "Make another.")
    lodge.until_heard("only made.txt is made here")
    lodge.until_status("a", "idle")

    assert (lodge.home.cwd / "made.txt").exists()
    assert not (lodge.home.cwd / "other.txt").exists()
    assert ways(lodge) == ["keys", "keys"]
    assert lodge.heard("only made.txt is made here") == 1


def test_hooks_over_http_are_answered_there(lodges: Lodges, model: Model) -> None:
    """The answer is what the post gets back."""
    lodge = lodges(
        CLAUDE[-1],
        {"KOBOSHI_MODE": "auto", "KOBOSHI_ALLOW": "touch made.txt", "KOBOSHI_HOOKS": "http"},
    )
    lodge.run()
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    lodge.say("send", "a", "Make it.")
    lodge.until("a", lambda known: len(results(model)) == 1 and known["status"] == "idle")

    assert ways(lodge) == ["hook"]


def test_a_key_is_used_where_the_policy_trusts(lodges: Lodges, part: Part) -> None:
    """The default of that dialog is no: the selection is moved, and seen on the option."""
    lodge = ruled(lodges, part, "hook")
    known = lodge.home.path / ".claude.json"
    settings = json.loads(known.read_text(encoding="utf-8"))
    del settings["customApiKeyResponses"]
    known.write_text(json.dumps(settings), encoding="utf-8")
    lodge.run()
    lodge.until("a", lambda known: known["status"] == "idle" and bool(ways(lodge)))

    assert ways(lodge) == ["keys"]
