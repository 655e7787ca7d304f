"""A shell's prompt, whatever it looks like, and what only looks like one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.adapters.decode import decode
from koboshi.adapters.registry import adapter
from koboshi.adapters.shells import is_drawn_into, line_holds, line_is_empty
from koboshi.core.events import RunExited, ScreenRead
from koboshi.core.readings import Status
from koboshi.observations import ScreenSeen

CLIS = ("claude", "codex", "gemini", "opencode", "generic")
LONG = f"dev@a-rather-long-host-name:~/{'deep/' * 9}proj$"
PROMPTS = (
    "❯",
    "➜",
    "%",
    "#",
    "$",
    "~/proj main ❯",
    "dev@box proj %",
    "root@box:~#",
    "bash-5.2$",
    "(venv) dev@box:~/proj$",
    "[dev@box proj]$",
    "➜  proj git:(main) ✗",
    "~/proj on  main via 🐍 v3.11\n❯",
    "┌──(dev㉿box)-[~/proj]\n└─$",
    LONG,
)
#: What each CLI leaves behind it.
FAREWELL = {
    "claude": "Resume this session with:\nclaude --resume 0b5b0d1e-7c1d-4a4e-a1d0-123456789abc",
    "codex": "To continue this session, run codex resume 0b5b0d1e-7c1d-4a4e-a1d0-123456789abc",
    "gemini": "To resume this session: gemini --resume 0b5b0d1e-7c1d-4a4e-a1d0-123456789abc",
    "opencode": "  Continue  opencode -s ses_0123456789abcdef",
}
RULE = "─" * 80


def test_a_long_prompt_is_long() -> None:
    """As long as a usual terminal is wide."""
    assert 75 <= len(LONG) <= 85


@pytest.mark.parametrize("agent", ["generic", "scripted"])
def test_where_an_end_is_told_no_prompt_proves_one(agent: str) -> None:
    """In a terminal of our own a shell is the agent, and only its end is the end."""
    look = ScreenSeen(text="bash-5.2$ ", cols=100, rows=40, own=True)

    assert adapter(agent).read(look).status is Status.UNKNOWN
    assert adapter(agent).read(replace(look, alive=False)).status is Status.GONE


def test_who_did_not_find_its_session_has_not_left_by_itself() -> None:
    """Claude Code 2.1.325 says goodbye there, too: it was told to come back."""
    missed = "No conversation found with session ID: 0b5b0d1e-7c1d-4a4e-a1d0-123456789abc"
    text = f"{missed}\n\n{FAREWELL['claude']}\nbash-5.2#"
    look = ScreenSeen(text=text, cols=110, rows=36, run=2, command="bash")

    assert decode(adapter("claude"), look) == RunExited(run=2, lost=True)


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("shell", ["bash", "-zsh", "/usr/bin/fish"])
@pytest.mark.parametrize("agent", CLIS)
def test_a_shell_in_the_foreground_is_the_proof(agent: str, shell: str, prompt: str) -> None:
    """Whatever its prompt is, and what the dead agent left above it."""
    seen = ScreenSeen(text=f"✻ Brewing… (3s)\n{prompt} ", command=shell, cols=100, rows=40)

    reading = adapter(agent).read(seen)

    assert reading.status is Status.GONE
    assert prompt.rpartition("\n")[2] in reading.evidence[0]


@pytest.mark.parametrize("prompt", [p for p in PROMPTS if "➜  proj" not in p])
def test_an_empty_line_behind_a_prompt_can_be_typed_at(prompt: str) -> None:
    """A command of ours goes only where nobody has begun one."""
    assert line_is_empty(ScreenSeen(text=f"out\n{prompt} \n"))
    assert not line_is_empty(ScreenSeen(text=f"out\n{prompt} rm -rf \n"))
    assert not line_is_empty(ScreenSeen(text=f"{prompt} make\n45 tests passed\n"))


@pytest.mark.parametrize("prompt", ["$", "%", "❯", "➜", "#", "dev@box:~/proj$", LONG])
@pytest.mark.parametrize("agent", CLIS[:-1])
def test_without_a_process_a_farewell_and_a_prompt_are_the_proof(agent: str, prompt: str) -> None:
    """A plain text was handed in: what the CLI says when it ends, and a shell that waits."""
    seen = ScreenSeen(text=f"{FAREWELL[agent]}\n{prompt} \n")

    assert adapter(agent).read(seen).status is Status.GONE


@pytest.mark.parametrize("row", ["$", "%", "❯", "#", "➜", "100 %", "cost: 3 $", "issue #", "~ ❯"])
@pytest.mark.parametrize("agent", CLIS)
def test_a_character_alone_proves_nothing(agent: str, row: str) -> None:
    """Exited means positive evidence."""
    seen = ScreenSeen(text=f"some text of some program\n\n{row}\n")

    assert adapter(agent).read(seen).status is not Status.GONE


@pytest.mark.parametrize(
    "row", ["ctx 42%", "cost: 3 $", "main #", "root@box:~/proj#", "dev@box:~$", "~/proj ❯", "➜  p"]
)
@pytest.mark.parametrize("command", ["claude", "node", "2.1.325", ""])
def test_a_status_line_is_no_prompt(row: str, command: str) -> None:
    """Under a living box it may end as it likes; so may one that is all of the last row."""
    text = f"✻ Worked for 3s\n\n{RULE}\n❯ \n{RULE}\n  {row}\n"

    assert adapter("claude").read(ScreenSeen(text=text, command=command)).status is Status.IDLE


@pytest.mark.parametrize("row", ["  gpt-5 · ~/proj · 42%", "  gpt-5 · ~/proj · $", "  a · ~/p #"])
def test_a_status_line_of_codex_is_no_prompt(row: str) -> None:
    """Its footer is made of whatever the user chose."""
    seen = ScreenSeen(text=f"\n\n› Ask\n\n{row}\n", command="codex", title="proj", cols=100)

    assert adapter("codex").read(seen).status is Status.IDLE


COMMAND = "env A=1 claude --permission-mode default --resume 0b5b0d1e --settings /x/y.json"


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (f"out\n$ {COMMAND}\n", True),
        (f"out\ndev@box:~$ {COMMAND[:30]}\n{COMMAND[30:60]}\n{COMMAND[60:]}\n\n", True),
        (f"$ {COMMAND[:14]}\n{COMMAND[15:]}\n", True),  # broken at a blank, which is not shown
        (f"$ git {COMMAND}\n", False),
        (f"$ {COMMAND} x\n", False),
        (f"out\n{COMMAND}\n", False),
        ("$ \n", False),
    ],
)
def test_a_command_that_the_terminal_broke_into_rows_is_one(text: str, *, held: bool) -> None:
    """Our own is entered when it stands there alone."""
    assert line_holds(ScreenSeen(text=text), COMMAND) is held


def test_a_prompt_in_a_dead_frame_can_be_drawn_anew() -> None:
    """By shells that edit their line; others would take the key for text."""
    frame = f"● Hello\n{RULE}\n❯ Killed\nbash-5.2# {RULE}\n  ⏸ manual mode on · ? for shortcuts"

    assert not line_is_empty(ScreenSeen(text=frame))
    assert is_drawn_into(ScreenSeen(text=frame, command="-bash", cursor=(10, 3)))
    assert not is_drawn_into(ScreenSeen(text=frame, command="dash", cursor=(10, 3)))
    assert not is_drawn_into(ScreenSeen(text=frame, command="bash"))
    begun = frame.replace("# ─", "# git sta─")
    assert not is_drawn_into(ScreenSeen(text=begun, command="bash", cursor=(17, 3)))
    below = f"{RULE}\n❯ \n{RULE}\n$ "
    assert not is_drawn_into(ScreenSeen(text=below, command="bash", cursor=(2, 3)))


@pytest.mark.parametrize("agent", FAREWELL)
def test_an_exit_with_last_words_in_a_persons_pane_was_meant(agent: str) -> None:
    """A person who left the agent does not want it back; a killed one says nothing."""
    left = ScreenSeen(text=f"● Done.\n\n{FAREWELL[agent]}\ndev@box:~$ ", command="bash", run=1)
    killed = ScreenSeen(text=f"{left.text}claude\n{RULE}\n❯ Killed\ndev@box:~$ ", command="bash")

    assert decode(adapter(agent), left) == RunExited(run=1, meant=True)
    assert isinstance(decode(adapter(agent), killed), ScreenRead)
