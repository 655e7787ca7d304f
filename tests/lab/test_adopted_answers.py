"""An agent that a person started, with the hooks of `koboshi init`, in a pane that is watched."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from tests.lab.conftest import Lodges
from tests.lab.lodges import PATIENCE
from tests.lab.model.server import Model
from tests.lab.model.turns import call, say
from tests.lab.parts import CLAUDE, CODEX
from tests.lab.test_answers import results, ruled, waiting, ways
from tests.lab.test_daemon import Pane

pytestmark = [pytest.mark.lab, pytest.mark.stage]

PROMPT = "? for shortcuts"
DIALOG = "Do you want to proceed?"


@pytest.fixture
def pane(lodges: Lodges) -> Iterator[Pane]:
    """A person's pane, in which Claude Code runs in a project with our hooks."""
    made = Pane(ruled(lodges, CLAUDE[-1], "hook"))
    lodge = made.lodge
    lodge.say("init", str(lodge.home.cwd))
    words = shlex.join((str(lodge.home.program), *lodge.home.args))
    made.enter(f"KOBOSHI_STATE={shlex.quote(str(lodge.state))} {words}")
    made.until(PROMPT)
    yield made
    made.do("kill-server")
    made.socket.unlink(missing_ok=True)


def watched(pane: Pane, *words: str) -> None:
    """Koboshi looks after it from now on."""
    said = pane.lodge.say("watch", "-S", str(pane.socket), "cc:0.0", "--name", "a", *words)
    assert said.startswith("a is looked after")
    pane.lodge.until_status("a", "idle")


def press_until(pane: Pane, key: str, so: Callable[[str], bool]) -> None:
    """A person's key; a dialog takes none in its first moments, so perhaps twice."""
    deadline = time.monotonic() + PATIENCE
    while not so(shown := pane.do("capture-pane", "-p", "-t", "cc")):
        assert time.monotonic() < deadline, shown
        time.sleep(1.0)
        pane.do("send-keys", "-t", "cc", key)


def agree(pane: Pane) -> None:
    """A person says yes."""
    pane.until(DIALOG)
    press_until(pane, "1", lambda shown: DIALOG not in shown)


def test_its_questions_are_answered_through_its_hooks(pane: Pane, model: Model) -> None:
    """Allowed, refused with the reason, and by a person; no key is typed into the pane."""
    lodge = pane.lodge
    watched(pane)
    for count, name in enumerate(("made", "other", "third"), 1):
        model.expect(call("Bash", command=f"touch {name}.txt", description="Make"), say("So."))
        lodge.say("send", "a", f"Make {name}.")
        if name == "third":
            question = waiting(lodge, "hook")
            assert question["through"] == "hook"
            lodge.say("answer", question["id"], "yes")
        lodge.until_results(count)
        lodge.until_status("a", "idle")

    there = sorted(path.name for path in lodge.home.cwd.glob("*.txt"))
    assert there == ["made.txt", "third.txt"]
    assert "only made.txt is made here" in results(model)[1]
    assert ways(lodge) == ["hook"] * 3


def test_a_mode_that_does_not_answer_holds_nothing_up(pane: Pane, model: Model) -> None:
    """In `keep` the question is in the list, its dialog on the screen, and no hook waits."""
    lodge = pane.lodge
    watched(pane, "--mode", "keep")
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    lodge.say("send", "a", "Make it.")
    question = waiting(lodge)

    assert question["through"] == "keys"
    assert ways(lodge) == []

    agree(pane)
    lodge.until_results(1)


@pytest.mark.parametrize("how", ["never", "released", "dead", "frozen"])
def test_nobody_keeps_it_waiting(how: str, pane: Pane, model: Model) -> None:
    """Not watched, not any more, or by a daemon that is gone or stands still: its own dialog."""
    lodge = pane.lodge
    if how != "never":
        watched(pane)
    if how == "released":
        lodge.say("release", "a")
    elif how != "never":
        daemon = lodge.daemon()
        assert daemon is not None
        daemon.send_signal(signal.SIGKILL if how == "dead" else signal.SIGSTOP)
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    pane.enter("Make it.")
    agree(pane)
    pane.until("Made.")

    assert (lodge.home.cwd / "made.txt").exists()
    assert len(results(model)) == 1


@pytest.fixture
def codex(lodges: Lodges) -> Iterator[Pane]:
    """A person's pane with Codex in a project with our hooks, which it asks about."""
    made = Pane(ruled(lodges, CODEX, "codex"))
    lodge = made.lodge
    lodge.say("init", "--codex", str(lodge.home.cwd))
    words = shlex.join((str(lodge.home.program), *lodge.home.args))
    made.enter(f"KOBOSHI_STATE={shlex.quote(str(lodge.state))} {words}")
    yield made
    made.do("kill-server")
    made.socket.unlink(missing_ok=True)


def test_codex_is_answered_through_the_hooks_of_the_project(codex: Pane, model: Model) -> None:
    """Once its user trusts them; no dialog is drawn."""
    lodge = codex.lodge
    codex.until("Hooks need review")
    press_until(codex, "2", lambda shown: "› 2. Trust all" in shown)
    press_until(codex, "Enter", lambda shown: "Ask Codex to do anything" in shown)
    watched(codex)
    for count, name in enumerate(("made", "other"), 1):
        model.expect(CODEX.shell(f"touch {name}.txt"), say("So."))
        lodge.say("send", "a", f"Make {name}.")
        lodge.until_results(count)
        lodge.until_status("a", "idle")

    assert (lodge.home.cwd / "made.txt").exists()
    assert "only made.txt is made here" in results(model)[1]
    assert ways(lodge) == ["hook", "hook"]
