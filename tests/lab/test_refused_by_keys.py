"""Refusals by keys, with hooks off: each tool is refused once, and the model is told why."""

from __future__ import annotations

import json
import sys

import pytest

from tests.lab.conftest import Lodges
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, say
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.test_answers import HOOKLESS, SERVER, WAYS, results, waiting, ways, with_server
from tests.lab.test_answers_shown import REFUSING, owned, planned
from tests.lab.test_codex_answers import PATCH

pytestmark = [pytest.mark.lab, pytest.mark.stage]

QUICK = REFUSING.replace("denies_max = 20", 'denies_max = 20\nanswer_cooldown = "1s"')
#: What the model is told of each refusal, in the order of the calls.
REASONS = (
    "nothing is made here",
    "files are written by a person",
    "files are written by a person",
    "nothing is fetched here",
    "nothing is noted here",
)


@pytest.fixture(params=CLAUDE, ids=lambda part: part.version)
def part(request: pytest.FixtureRequest) -> Part:
    """Claude Code, in each version."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


def test_each_tool_is_refused_once_and_the_model_hears_why(
    lodges: Lodges, part: Part, model: Model
) -> None:
    """Bash, Write, Edit, WebFetch, a server's tool: a refusal ends the turn, its reason follows."""
    lodge = owned(lodges, part, QUICK, *WAYS["keys"], "--mcp-config", "mcp.json")
    calls = with_server(lodge, lodge.home.cwd / "mcp.json")
    poem = lodge.home.cwd / "poem.txt"
    poem.write_text("one\n", encoding="utf-8")
    lodge.run()
    asked: tuple[Turn, ...] = (
        call("Bash", command="touch made.txt", description="Make"),
        call("Write", file_path=str(lodge.home.cwd / "new.txt"), content="new"),
        call("Edit", file_path=str(poem), old_string="one", new_string="two"),
        call("WebFetch", url="http://127.0.0.1:9/x", prompt="What does it say?"),
        call("mcp__lab__note", word="hello"),
    )
    model.expect(call("Read", file_path=str(poem)), *asked, say("I see."))
    lodge.say("send", "a", "Try it all.")
    lodge.until("a", lambda known: len(results(model)) == 6 and known["status"] == "idle")

    assert [lodge.heard(why) for why in REASONS] == [REASONS.count(why) for why in REASONS]
    assert len({result.id for result in model.results}) == 6
    assert poem.read_text(encoding="utf-8") == "one\n"
    assert not calls.exists()
    assert sorted(path.name for path in lodge.home.cwd.glob("*.txt")) == ["poem.txt"]
    assert ways(lodge) == ["keys"] * 5


def test_a_plan_is_refused(lodges: Lodges, part: Part, model: Model) -> None:
    """By a policy that says so; the agent hears it, and goes on planning."""
    lodge = owned(lodges, part, QUICK, *WAYS["keys"], "--permission-mode", "plan")
    lodge.run()
    planned(lodge, model)
    lodge.until_heard("That was refused")
    lodge.until_status("a", "idle")

    assert lodge.heard("That was refused") == 1
    assert not [told for told in results(model) if "approved" in told]
    assert ways(lodge) == ["keys"]


def test_a_person_refuses_a_question(lodges: Lodges, part: Part, model: Model) -> None:
    """With words of their own, which the model hears once; the question is gone."""
    lodge = owned(lodges, part, QUICK, *WAYS["keys"])
    lodge.run()
    model.expect(part.question, say("I see."))
    lodge.say("send", "a", "Ask me.")
    lodge.say("answer", waiting(lodge)["id"], "no: ask nothing today")
    lodge.until_heard("ask nothing today")
    lodge.until_status("a", "idle")

    assert lodge.heard("ask nothing today") == 1
    assert ways(lodge) == ["keys"]


def test_codex_is_refused_a_patch_and_a_tool_of_a_server(lodges: Lodges, model: Model) -> None:
    """Once each, without its hooks; the model hears why."""
    lodge = owned(lodges, CODEX, QUICK, *HOOKLESS, "-c", "sandbox_mode=read-only")
    calls = lodge.home.folder / "calls.txt"
    args = json.dumps(["-I", str(SERVER), str(calls)])
    lodge.run("-c", f"mcp_servers.lab={{command={json.dumps(sys.executable)},args={args}}}")
    patch = PATCH.format(lodge.home.cwd / "new.txt")
    model.expect(
        call("exec_command", cmd=patch), call("mcp__lab__note", word="hello"), say("I see.")
    )
    lodge.say("send", "a", "Try both.")
    lodge.until_heard("nothing is noted here")
    lodge.until_status("a", "idle")

    assert lodge.heard("files are written by a person") == 1
    assert lodge.heard("nothing is noted here") == 1
    assert not (lodge.home.cwd / "new.txt").exists()
    assert not calls.exists()
    assert ways(lodge) == ["keys"] * 2
