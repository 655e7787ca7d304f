"""Codex is answered through its own hook, which comes before its dialog; by keys without one."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from tests.lab.conftest import Lodges
from tests.lab.lodges import Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import call, say
from tests.lab.parts import CODEX
from tests.lab.test_answers import HOOKLESS, SERVER, judged, results, ruled, waiting, ways

pytestmark = [pytest.mark.lab, pytest.mark.stage]

DIALOG = "Would you like to run the following command?"
PATCH = """\
apply_patch <<'EOF'
*** Begin Patch
*** Add File: {}
+made
*** End Patch
EOF
"""


def told(lodge: Lodge, model: Model, count: int) -> None:
    """Wait until the model was told of so many calls, and the turn is over."""
    lodge.until("a", lambda known: len(results(model)) == count and known["status"] == "idle")


def test_an_allowed_command_runs_without_a_key(lodges: Lodges, model: Model) -> None:
    """Once each, also when the same words come again; no dialog is ever drawn."""
    lodge = ruled(lodges, CODEX, "codex")
    lodge.run()
    for count in (1, 2):
        model.expect(CODEX.shell("touch made.txt"), say(f"Made {count}."))
        lodge.say("send", "a", f"Make it, {count}.")
        told(lodge, model, count)

    assert (lodge.home.cwd / "made.txt").exists()
    assert ways(lodge) == ["hook", "hook"]
    assert "asking" not in lodge.seen


def test_a_refusal_is_the_result_of_the_call(lodges: Lodges, model: Model) -> None:
    """With its reason; the turn goes on, and nothing is typed."""
    lodge = ruled(lodges, CODEX, "codex")
    lodge.run()
    model.expect(CODEX.shell("touch other.txt"), say("I see."))
    lodge.say("send", "a", "Make another.")
    told(lodge, model, 1)

    assert "only made.txt is made here" in results(model)[0]
    assert not (lodge.home.cwd / "other.txt").exists()
    assert ways(lodge) == ["hook"]
    assert lodge.heard("only made.txt is made here") == 1


def asked(lodge: Lodge, model: Model) -> str:
    """What no rule speaks of waits for a person, with its hook; its number."""
    model.expect(CODEX.shell("touch third.txt"), say("All right."))
    lodge.say("send", "a", "Make a third.")
    question = waiting(lodge)

    assert (question["subject"], question["through"]) == ("touch third.txt", "hook")
    return str(question["id"])


@pytest.mark.parametrize("word", ["yes", "no"])
def test_a_person_answers_from_anywhere(word: str, lodges: Lodges, model: Model) -> None:
    """While the hook waits, the answer goes there."""
    lodge = ruled(lodges, CODEX, "codex")
    lodge.run()
    lodge.say("answer", asked(lodge, model), word)
    told(lodge, model, 1)

    assert (lodge.home.cwd / "third.txt").exists() is (word == "yes")
    assert ways(lodge) == ["hook"]


def test_always_is_said_to_the_dialog(lodges: Lodges, model: Model) -> None:
    """Codex takes no such word from a hook: the hook ends, and its dialog is told."""
    lodge = ruled(lodges, CODEX, "codex")
    lodge.run()
    lodge.say("answer", asked(lodge, model), "always")
    told(lodge, model, 1)
    model.expect(CODEX.shell("touch third.txt"), say("Again."))
    lodge.say("send", "a", "Once more.")
    told(lodge, model, 2)

    assert ways(lodge) == ["keys"]


@pytest.mark.parametrize("how", ["killed", "dead", "frozen"])
def test_without_the_daemon_there_is_the_dialog(how: str, lodges: Lodges, model: Model) -> None:
    """Killed while the hook waits, dead or frozen before: a person answers as without koboshi."""
    lodge = ruled(lodges, CODEX, "codex")
    lodge.run()
    daemon, place = lodge.daemon(), lodge.status("a")["run"]["place"]
    assert daemon is not None
    if how == "killed":
        asked(lodge, model)
        daemon.kill()
    else:
        daemon.send_signal(signal.SIGSTOP if how == "frozen" else signal.SIGKILL)
        model.expect(CODEX.shell("touch third.txt"), say("All right."))
        lodge.press_at(place, "-l", "Make a third.")
        lodge.until_shown(place, "Make a third.")
        lodge.press_at(place, "Enter")
    lodge.until_shown(place, DIALOG)
    lodge.press_at(place, "y")
    lodge.until_results(1)

    assert (lodge.home.cwd / "third.txt").exists()
    assert len(results(model)) == 1


def test_who_comes_back_leaves_the_same_question_to_a_person(lodges: Lodges, model: Model) -> None:
    """The dialog that opened when the daemon died is in the list again, and answered by keys."""
    lodge = ruled(lodges, CODEX, "codex")
    lodge.run()
    asked(lodge, model)
    daemon = lodge.daemon()
    assert daemon is not None
    daemon.kill()
    daemon.wait()
    question = waiting(lodge)
    while question["through"] == "hook":
        question = waiting(lodge)
    lodge.say("answer", question["id"], "yes")
    told(lodge, model, 1)

    assert ways(lodge) == ["keys"]


def test_without_hooks_it_is_answered_by_keys(lodges: Lodges, model: Model) -> None:
    """The switch is the owner's."""
    lodge = ruled(lodges, CODEX, "codex", *HOOKLESS)
    lodge.run()
    model.expect(CODEX.shell("touch made.txt"), say("Made."))
    lodge.say("send", "a", "Make it.")
    told(lodge, model, 1)

    assert ways(lodge) == ["keys"]


def test_a_tool_of_a_server_is_allowed_by_name(lodges: Lodges, model: Model) -> None:
    """It is called once."""
    lodge = ruled(lodges, CODEX, "codex")
    calls = lodge.home.folder / "calls.txt"
    args = json.dumps(["-I", str(SERVER), str(calls)])
    lodge.run("-c", f"mcp_servers.lab={{command={json.dumps(sys.executable)},args={args}}}")
    model.expect(call("mcp__lab__note", word="hello"), say("Noted."))
    lodge.say("send", "a", "Note it.")
    told(lodge, model, 1)

    assert "noted hello" in results(model)[0]
    assert calls.read_text(encoding="utf-8") == "hello\n"
    assert ways(lodge) == ["hook"]


def test_a_patch_is_judged_by_its_files(lodges: Lodges, model: Model) -> None:
    """By a rule for edits; one with a path from a folder that is not told is a person's."""
    lodge = ruled(lodges, CODEX, "codex", "-c", "sandbox_mode=read-only")
    lodge.run()
    model.expect(call("exec_command", cmd=PATCH.format(lodge.home.cwd / "whole.txt")), say("One."))
    lodge.say("send", "a", "Patch it.")
    told(lodge, model, 1)

    assert (lodge.home.cwd / "whole.txt").read_text(encoding="utf-8") == "made\n"

    model.expect(call("exec_command", cmd=PATCH.format("half.txt")), say("Two."))
    lodge.say("send", "a", "Patch more.")
    question = judged(lodge)
    lodge.say("answer", question["id"], "no")
    told(lodge, model, 2)

    assert question["policy"]["rule"] == "incomplete"
    assert not (lodge.home.cwd / "half.txt").exists()
    assert ways(lodge) == ["hook", "hook"]
