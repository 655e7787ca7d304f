"""The policy over a dialog: with what the agent wrote down, and as wide as its terminal is."""

from __future__ import annotations

import asyncio
import json

import pytest

from koboshi.adapters.registry import adapter
from koboshi.adapters.story import Written
from koboshi.core.events import Advice, Stance
from koboshi.core.readings import Prompt
from koboshi.performers.advising import Matter
from koboshi.performers.policing import LATE, SOON, by_policy
from koboshi.policy.policies import AnswerRule, Policy
from koboshi.policy.requests import Word
from tests.core.worlds import permission

LONG = "touch " + "a" * 100
POLICY = Policy(
    exact=(LONG, "touch a b"),
    rules=(
        AnswerRule(do=Word.ALLOW, name="make", commands=("make",), paths=()),
        AnswerRule(do=Word.ALLOW, name="note", mcp=("lab/note",)),
    ),
)


class Asked:
    """A question, and an agent that writes its calls down one look after the other."""

    def __init__(self, prompt: Prompt, *looks: tuple[Written, ...], columns: int = 80) -> None:
        self.looks, self.paused, self.width = [*looks], 0, columns
        self.matter = Matter(
            prompt=prompt, cwd="/", columns=self.columns, calls=self.calls, pause=self.pause
        )

    async def columns(self) -> int:
        """How wide its terminal is."""
        return self.width

    def calls(self) -> tuple[Written, ...] | None:
        """What stands there by now."""
        if not self.looks:
            return None
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    async def pause(self, _: float) -> None:
        """No time passes."""
        self.paused += 1

    def judged(self, cli: str = "claude") -> Advice:
        """What the policy says."""

        async def ask() -> Advice:
            return await by_policy(POLICY, cli)(self.matter)

        return asyncio.run(ask())


def bash(command: str, cwd: str = "/") -> Written:
    """A command that was written down."""
    return Written(tool="Bash", given={"command": command}, cwd=cwd)


def test_a_wide_terminal_shows_a_long_command() -> None:
    """Where it is not known how wide it is, it may have been wrapped."""
    prompt = permission(LONG, tool="Bash")

    assert Asked(prompt, columns=200).judged().stance is Stance.ALLOW
    assert Asked(prompt, columns=0).judged().stance is Stance.ASK


@pytest.mark.parametrize(("written", "stance"), [(LONG, Stance.ALLOW), ("x", Stance.ASK)])
def test_a_wrapped_command_is_what_was_written(written: str, stance: Stance) -> None:
    """It is waited for, and must be the one that the screen shows."""
    shown = permission(LONG.replace("aaa", "a\naa", 1), tool="Bash")
    asked = Asked(shown, (), (bash(written),))

    assert asked.judged().stance is stance
    assert asked.paused == (1 if stance is Stance.ALLOW else LATE)


def test_a_line_break_is_no_blank() -> None:
    """Both look the same on a screen; only one of them was allowed."""
    prompt = permission("touch a b", tool="Bash")

    assert Asked(prompt, (bash("touch a b"),)).judged().stance is Stance.ALLOW
    assert Asked(prompt, (bash("touch a\nb"),)).judged().stance is Stance.ASK
    assert Asked(prompt, (bash("touch a b"), bash("touch a\nb"))).judged().stance is Stance.ASK


def test_what_a_screen_hides_is_asked() -> None:
    """A call of that kind was written down, and it is not what the dialog shows."""
    prompt = permission("touch a b", tool="Bash")

    assert Asked(prompt, (bash("touch a b; evil"),)).judged().stance is Stance.ASK
    assert Asked(prompt, (Written(tool="Task", cwd="/"),)).judged().stance is Stance.ALLOW


def test_what_is_shown_in_full_does_not_wait_long() -> None:
    """The file would only tell the folder; where there is none nobody waits."""
    prompt = permission("touch a b", tool="Bash")
    with_file, without = Asked(prompt, ()), Asked(prompt)

    assert with_file.judged().stance is without.judged().stance is Stance.ALLOW
    assert (with_file.paused, without.paused) == (SOON, 0)


def test_a_name_for_people_is_mapped_to_the_tool() -> None:
    """By the call that was written down; without one a person says."""
    prompt = permission("lab — Note Tool: (MCP)", tool="mcp__lab__Note")
    call = Written(tool="mcp__lab__note", given={"word": "x"}, cwd="/")

    assert Asked(prompt, (call,)).judged().stance is Stance.ALLOW
    assert Asked(prompt).judged().stance is Stance.ASK


def rollout(name: str, kind: str = "function_call", **more: str) -> list[bytes]:
    """A Codex session's file, with one call in it."""
    call = {"type": kind, "call_id": "c1", "name": name, **more}
    turn = {"type": "turn_context", "payload": {"cwd": "/srv/app"}}
    lines = (turn, {"type": "response_item", "payload": call})
    return [json.dumps(line).encode() for line in lines]


@pytest.mark.parametrize(
    ("name", "given", "written"),
    [
        ("exec_command", {"cmd": "make"}, ("make", "/srv/app")),
        ("exec_command", {"cmd": "make", "workdir": "../x"}, ("make", "/srv/app/../x")),
        ("shell", {"command": ["bash", "-lc", "make"]}, ("make", "/srv/app")),
        ("shell", {"command": ["bash", "-lc", "make"], "workdir": 7}, ("make", "")),
    ],
)
def test_codex_tells_the_folder_of_a_call(
    name: str, given: dict[str, object], written: tuple[str, str]
) -> None:
    """Its dialog does not."""
    story = adapter("codex").story(rollout(name, arguments=json.dumps(given)))
    call = Written(tool=name, given={"command": written[0]}, cwd=written[1])

    assert story.pending == (call,)


def test_codex_tells_all_of_a_patch() -> None:
    """Its dialog names one file."""
    story = adapter("codex").story(rollout("apply_patch", "custom_tool_call", input="*** x"))

    assert story.pending == (Written(tool="apply_patch", given={"input": "*** x"}, cwd="/srv/app"),)


def test_codex_is_judged_in_the_folder_of_the_call() -> None:
    """Where that is not told, a person is asked."""
    prompt = permission("make", tool="Bash")
    call = Written(tool="exec_command", given={"command": "make"}, cwd="/")

    assert Asked(prompt, (call,)).judged("codex").stance is Stance.ALLOW
    assert Asked(prompt).judged("codex").stance is Stance.ASK


def test_claude_writes_its_calls_down() -> None:
    """With the folder that it is in by then; what has a result is over."""
    told = (
        '{"type":"assistant","cwd":"/srv/app/sub","message":{"content":'
        '[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"make"}}]}}'
    )
    over = '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1"}]}}'
    story = adapter("claude").story([(told % 1).encode(), (told % 2).encode(), over.encode()])

    assert story.pending == (bash("make", "/srv/app/sub"),)
    assert story.calls == ("Bash make",)


def entry(kind: str, at: str, *content: object) -> bytes:
    """A line of Claude Code's transcript."""
    told = {"message": {"content": list(content)}, "timestamp": at, "cwd": "/srv/app"}
    return json.dumps({"type": kind, **told}).encode()


CALLED = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "npm test"}}
SAID = {"type": "text", "text": "Go on."}


@pytest.mark.parametrize(
    ("said", "open_"),
    [
        ("2026-11-16T02:11:43.100Z", 1),
        ("2026-11-16T02:11:43.700Z", 0),
        ("", 0),
    ],
)
def test_a_message_that_is_written_late_ends_no_call(said: str, open_: int) -> None:
    """Claude Code writes it after the call it led to, now and then; one that came later does."""
    call = entry("assistant", "2026-11-16T02:11:43.500Z", CALLED)
    story = adapter("claude").story((call, entry("user", said, SAID)))

    assert len(story.pending) == open_
