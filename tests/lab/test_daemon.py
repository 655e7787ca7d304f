"""The commands of koboshi on the real CLIs, through the real daemon."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest

from tests.lab.conftest import Lodges
from tests.lab.leftovers import LEFT, PAUSE
from tests.lab.lodges import PATIENCE, Lodge, cmdline
from tests.lab.model.server import Model
from tests.lab.model.turns import Hang, call, say
from tests.lab.parts import CLAUDE, OPENCODE, Part

pytestmark = [pytest.mark.lab, pytest.mark.stage]

ODD = """-n 'one' "two"; rm -rf $HOME `x` \\ -- grüße 日本語"""
LINES = "first line\n\n  second 'line'; -x\nthird 三行目"
#: Higher than it is long: what folds a paste away by its length shows every line of this.
TALL = "\n".join(f"point {n} of the note" if n % 4 else "" for n in range(1, 26))
LONG = " ".join(f"word{n}" for n in range(430))


@pytest.fixture
def lodge(lodges: Lodges, part: Part) -> Lodge:
    """The CLI and its koboshi, nothing started."""
    return lodges(part)


def test_a_message_arrives_once_whatever_is_in_it(lodge: Lodge, model: Model) -> None:
    """Quotes, a leading dash, several lines, much text; work is seen, and that it is over."""
    known = lodge.run()

    assert known["type"] == lodge.home.cli

    words = say(" ".join(f"word{n}" for n in range(100)), pace=0.02)
    model.expect(replace(words, trouble=Hang(after=50)))  # it is not over before it was seen
    assert lodge.say("send", "a", "--", ODD) == "a has it\n"
    lodge.until_heard(ODD)
    lodge.until_status("a", "working")
    model.release()
    lodge.until_status("a", "idle")
    assert lodge.say("send", "a", "-", stdin=LINES) == "a has it\n"
    lodge.until_heard(LINES)
    lodge.until_status("a", "idle")
    assert lodge.say("send", "a", "-", stdin=TALL) == "a has it\n"
    lodge.until_heard(TALL)
    lodge.until_status("a", "idle")
    assert lodge.say("send", "a", LONG) == "a has it\n"
    lodge.until_heard(LONG)
    lodge.until_status("a", "idle")

    assert [lodge.heard(text) for text in (ODD, LINES, TALL, LONG)] == [1, 1, 1, 1]
    assert len(model.asked) == 4


def test_a_message_waits_behind_a_dialog(lodge: Lodge, part: Part, model: Model) -> None:
    """The question is in `status`; nothing is typed until a person has answered it."""
    lodge.run()
    model.expect(part.shell("echo ran >> made.txt"), say("Added."))
    lodge.say("send", "a", "Add a line.")
    asking = lodge.until("a", lambda known: known["question"] is not None)
    waits = lodge.say("send", "a", "--wait", "2", "And then this.")

    assert waits == "a is asking; it goes in when a is at an empty prompt\n"
    assert "echo ran >> made.txt" in asking["question"]["subject"]
    assert lodge.until_status("a", "asking")["messages"] == 1
    assert not (lodge.home.cwd / "made.txt").exists()

    lodge.press("Enter")
    lodge.until_heard("And then this.")
    lodge.until_status("a", "idle")

    assert (lodge.home.cwd / "made.txt").read_text(encoding="utf-8") == "ran\n"
    assert lodge.heard("And then this.") == 1


def test_a_message_waits_behind_a_half_typed_line_and_goes_into_a_turn_when_told_to(
    lodge: Lodge, model: Model
) -> None:
    """A person's draft is neither typed over nor submitted; `--now` is queued by the CLI."""
    lodge.run()
    lodge.press(*"half")
    lodge.until("a", lambda known: known["draft"] == "half")

    waits = lodge.say("send", "a", "--wait", "3", "After that line.")

    assert waits == "a is idle; it goes in when a is at an empty prompt\n"
    assert lodge.status("a")["draft"] == "half"
    words = say(" ".join(f"word{n}" for n in range(100)), pace=0.02)
    model.expect(replace(words, trouble=Hang(after=50)))
    lodge.press(*["BSpace"] * 4)
    lodge.until_heard("After that line.")
    lodge.until_status("a", "working")
    assert lodge.say("send", "a", "--now", "And then this; 'now'.") == "a has it\n"
    model.release()
    lodge.until_heard("And then this; 'now'.")
    lodge.until_status("a", "idle")

    assert [lodge.heard(t) for t in ("After that line.", "And then this; 'now'.")] == [1, 1]
    assert not any("half" in request.told for request in model.asked)


def test_a_killed_agent_comes_back_with_its_session(lodge: Lodge, model: Model) -> None:
    """What was said before is told to the model with the next message."""
    lodge.run()
    model.expect(say("The answer is forty-two."))
    lodge.say("send", "a", "What is the answer?")
    lodge.until_heard("What is the answer?")
    # Codex tells its session in a file that appears with the first turn, OpenCode by its plug-in.
    lodge.until("a", lambda known: known["status"] == "idle" and bool(known["run"]["session"]))
    lodge.until_written("forty-two")
    lodge.kill()
    lodge.until("a", lambda known: known["run"]["number"] == 2 and known["status"] == "idle")
    lodge.say("send", "a", "Say it again.")
    body = lodge.until_heard("Say it again.")

    assert "What is the answer?" in body
    assert "The answer is forty-two." in body


def test_a_session_that_nobody_told_is_begun_anew(lodges: Lodges, model: Model) -> None:
    """OpenCode's settings with a person's comment get no plug-in of ours: it comes back fresh."""
    lodge = lodges(OPENCODE, env={"OPENCODE_CONFIG_CONTENT": "{ // mine\n}"})
    lodge.run()
    lodge.say("send", "a", "What is the answer?")
    lodge.until_heard("What is the answer?")
    lodge.until_status("a", "idle")
    lodge.kill()
    known = lodge.until(
        "a", lambda known: known["run"]["number"] == 2 and known["status"] == "idle"
    )

    assert known["run"]["origin"] == "fresh"
    assert len(model.asked) == 1


def test_opencode_tells_which_conversation_it_is_in(lodges: Lodges, model: Model) -> None:
    """The one that its person began last; not a sub-agent's, nor one of another OpenCode."""
    lodge = lodges(OPENCODE)
    lodge.run()
    lodge.say("send", "a", "What is the answer?")
    first = lodge.until("a", lambda known: bool(known["run"]["session"]))["run"]["session"]
    lodge.until_heard("What is the answer?")
    lodge.until_status("a", "idle")
    place = lodge.status("a")["run"]["place"]
    lodge.press("-l", "/new")
    lodge.until_shown(place, "New session")
    lodge.press("Enter")
    lodge.until_status("a", "idle")
    program = shlex.quote(str(lodge.home.program))
    asked = {"description": "look", "prompt": "Look deep.", "subagent_type": "general"}
    model.expect(
        replace(call("task", **asked), match="Second thing?"),
        replace(say("It is deep."), match="Look deep."),
        replace(OPENCODE.shell(f"{program} run Another."), match="It is deep."),
        replace(say("I am another."), match="Another."),
        replace(say("All done."), match="I am another."),
    )
    lodge.say("send", "a", "Second thing?")
    lodge.until("a", lambda known: known["question"] is not None)
    lodge.press("Enter")
    lodge.until_heard("I am another.")
    known = lodge.until_status("a", "idle")

    assert known["run"]["session"].startswith("ses_")
    assert known["run"]["session"] != first
    assert lodge.say("events", "a", "--all", "--json").count('"SessionStart"') == 2


def test_a_daemon_that_is_killed_in_a_turn_types_nothing_twice(lodge: Lodge, model: Model) -> None:
    """The next command starts another one, which takes the agent up as it is."""
    before = lodge.run()
    model.expect(replace(say("Worked."), trouble=Hang()))
    lodge.say("send", "a", "Work.")
    lodge.until_heard("Work.")
    lodge.until_status("a", "working")
    daemon = lodge.daemon()
    assert daemon is not None
    daemon.kill()
    daemon.wait()

    assert lodge.home.cli in lodge.say("ls")

    after = lodge.until_status("a", "working")
    model.release()
    lodge.until_status("a", "idle")
    lodge.say("send", "a", "And now?")
    lodge.until_heard("And now?")
    lodge.until_status("a", "idle")

    assert (after["run"]["pid"], after["run"]["number"]) == (before["run"]["pid"], 1)
    assert [lodge.heard("Work."), lodge.heard("And now?")] == [1, 1], lodge.asked()


def test_stop_ends_everything_and_start_brings_it_back(
    lodge: Lodge, part: Part, model: Model
) -> None:
    """At its prompt, with a dialog open, in a turn with a tool; what is not its own lives on."""
    lodge.run()
    bystander = psutil.Popen(["sleep", "600"], env={"HOME": "/nowhere"})
    try:
        _stopped(lodge)
        lodge.say("start", "a")
        lodge.until_status("a", "idle")
        model.expect(part.shell("tail -f /dev/null >> one.txt"), say("Slept."))
        lodge.say("send", "a", "Sleep.")
        lodge.until("a", lambda known: known["question"] is not None)
        _stopped(lodge)
        lodge.say("start", "a")
        lodge.until_status("a", "idle")
        model.forget()
        model.expect(part.shell("tail -f /dev/null >> two.txt"), say("Slept."))
        lodge.say("send", "a", "Sleep again.")
        lodge.until("a", lambda known: known["question"] is not None)
        lodge.press("Enter")
        lodge.until_process("tail -f")
        lodge.until_status("a", "working")
        _stopped(lodge)

        assert bystander.is_running()
        assert not (lodge.home.cwd / "one.txt").exists()
    finally:
        bystander.kill()
        bystander.wait()


def _stopped(lodge: Lodge) -> None:
    """Stop it: all of it is gone, and stays so."""
    said = lodge.say("stop", "a")
    assert said.startswith("a: ")
    assert lodge.processes() == []
    known = lodge.status("a")
    assert (known["status"], known["run"]["exit"]["meant"]) == ("gone", True), said
    assert "stopped" in lodge.say("ls")


class Pane:
    """A pane of a person's own tmux, with a shell in it."""

    def __init__(self, lodge: Lodge) -> None:
        self.lodge = lodge
        self.socket = lodge.folder / "u"
        self.tmux = ["tmux", "-S", str(self.socket), "-f", "/dev/null"]
        env = {**lodge.home.env, "PS1": "$ ", "TERM": "xterm-256color"}
        shell = "exec bash --norc --noprofile"
        size = ("-x", "110", "-y", "36", "-c", str(lodge.home.cwd))
        LEFT.sockets.add(self.socket)
        self.do("new-session", "-d", "-s", "cc", *size, shell, env=env)

    def do(self, *words: str, env: dict[str, str] | None = None) -> str:
        """One tmux command."""
        return subprocess.run(
            [*self.tmux, *words], check=True, capture_output=True, text=True, env=env
        ).stdout

    def enter(self, line: str) -> None:
        """A person types a line."""
        self.do("send-keys", "-t", "cc", "-l", line)
        self.do("send-keys", "-t", "cc", "Enter")

    def until(self, text: str) -> None:
        """Wait until the pane shows that."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.do("capture-pane", "-p", "-t", "cc"):
            assert time.monotonic() < deadline, self.do("capture-pane", "-p", "-t", "cc")
            time.sleep(PAUSE)


@pytest.fixture
def pane(lodges: Lodges) -> Iterator[Pane]:
    """With Claude Code, not started."""
    made = Pane(lodges(CLAUDE[1]))
    yield made
    made.do("kill-server")
    made.socket.unlink(missing_ok=True)


def test_a_pane_of_a_person_is_looked_after(pane: Pane) -> None:
    """Status, a message, a crash, an exit by the person, a start by the person, a release."""
    lodge = pane.lodge
    command = shlex.join((str(lodge.home.program), *lodge.home.args))
    pane.enter(command)
    pane.until("? for shortcuts")
    said = lodge.say("watch", "-S", str(pane.socket), "cc:0.0", "--name", "a")
    lodge.until_status("a", "idle")

    assert said == "a is looked after (claude, mode keep)\n"
    assert lodge.say("send", "a", "Hello there.") == "a has it\n"
    lodge.until_heard("Hello there.")
    lodge.until_status("a", "idle")
    lodge.until_written("Scripted reply")  # what is not on the disk cannot be gone on with

    [claude] = [each for each in lodge.processes() if "claude" in " ".join(cmdline(each))]
    claude.kill()
    lodge.until("a", lambda known: known["run"]["number"] == 2 and known["status"] == "idle")

    pane.enter("/exit")
    gone = lodge.until("a", lambda known: known["status"] == "gone")

    assert gone["run"]["exit"] == {"code": None, "signal": None, "meant": True}
    assert "stopped" in lodge.say("ls")
    assert "exit code not known" in lodge.say("status", "a")
    pane.enter(command)
    again = lodge.until(
        "a", lambda known: known["run"]["number"] == 3 and known["status"] == "idle"
    )
    assert again["run"]["origin"] == "first"
    lodge.until("a", lambda known: {s["source"] for s in known["signals"]} >= {"registry"})
    assert lodge.say("release", "a") == "a is on its own now\n"


def test_a_session_that_is_lost_in_a_pane_of_a_person_is_begun_anew(pane: Pane) -> None:
    """It says goodbye in the same breath, and is not taken for one that a person has left."""
    lodge = pane.lodge
    pane.enter(shlex.join((str(lodge.home.program), *lodge.home.args)))
    pane.until("? for shortcuts")
    lodge.say("watch", "-S", str(pane.socket), "cc:0.0", "--name", "a")
    lodge.until_status("a", "idle")
    lodge.say("send", "a", "Hello there.")
    lodge.until_written("Scripted reply")
    lodge.until_status("a", "idle")
    [claude] = [each for each in lodge.processes() if "claude" in " ".join(cmdline(each))]
    claude.kill()
    [transcript] = lodge.home.path.glob(".claude/projects/*/*.jsonl")
    transcript.unlink()
    again = lodge.until(
        "a", lambda known: known["run"]["number"] == 3 and known["status"] == "idle"
    )

    assert again["run"]["origin"] == "fresh"
