"""A note from one run to the next: asked for in words, proven by a number that is not echoed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.claude.story import read_story
from koboshi.adapters.codex.story import read_story as read_rollout
from koboshi.adapters.scripted import ScriptedAdapter
from koboshi.adapters.story import Story
from koboshi.core.actions import Checkpoint, Load, Refresh
from koboshi.core.events import Ending
from koboshi.core.view import evolve
from koboshi.performers import Gear, handover
from koboshi.scripted import behaviour
from tests.performers.benches import ASK, Bench

NAME = "ckpt-20261115-031502-r3"
SAVE = Checkpoint(run=1, name=NAME, about="refresh1.0")
LOAD = Load(run=1, name=NAME, nth=0)


class Noted(ScriptedAdapter):
    """The scripted agent as if it had no command that saves."""

    hands_over: ClassVar[bool] = True

    def story(self, lines: Iterable[bytes]) -> Story:
        """As Claude Code's."""
        return read_story(lines)


def said(text: str) -> bytes:
    """A line of a transcript in which the agent says that."""
    content = [{"type": "text", "text": text}]
    return json.dumps({"type": "assistant", "message": {"content": content}}).encode()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An agent at its prompt, and a folder for its notes."""
    made = Bench()
    made.hands.adapter = Noted()
    made.hands.program = replace(made.hands.program, gear=Gear(folder=tmp_path))
    return made


def answer(name: str, note: str) -> str:
    """A note as the agent was asked to write it."""
    mark = handover.number(name, "save")
    return f"Here it is:\n[[{mark}\n{note}\n{mark}]]"


def test_the_note_is_taken_from_the_answer_and_kept(bench: Bench, tmp_path: Path) -> None:
    """For the owner's eyes only, and as the last one."""
    bench.hands.transcript = lambda: (said(answer(NAME, "half of the parser is done")),)

    result = bench.perform(SAVE)

    assert (result.ending, result.why) == (Ending.DONE, "saved: its own note")
    note = tmp_path / "notes" / f"{NAME}.md"
    assert note.read_text() == "half of the parser is done\n"
    assert (tmp_path / "notes" / "a-LAST").read_text() == f"{NAME}\n"
    assert oct(note.stat().st_mode & 0o777) == "0o600"
    assert "without using any tool" in bench.sent[0]


def test_an_answer_without_a_note_is_no_save(bench: Bench, tmp_path: Path) -> None:
    """An old note of another name does not count, nor does the echo of the question."""
    other = said(answer("ckpt-old", "old"))
    bench.hands.transcript = lambda: (other, said(handover.request(NAME)))

    assert bench.perform(SAVE).why == "no note came"
    assert not (tmp_path / "notes").exists()


def test_a_dialog_ends_the_wait(tmp_path: Path) -> None:
    """The agent used a tool all the same: nobody answers that for it."""
    bench = Bench(ASK)
    bench.hands.adapter = Noted()
    bench.hands.program = replace(bench.hands.program, gear=Gear(folder=tmp_path))
    begun = bench.runtime.now().at

    assert bench.perform(SAVE).why == "no note came"
    assert bench.runtime.now().at - begun < 60.0


def test_the_last_try_writes_the_note_for_the_agent(bench: Bench, tmp_path: Path) -> None:
    """From what it wrote down; nothing is typed."""
    user = {"type": "user", "message": {"content": "Fix the parser."}}
    edit = {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "src/p.py"}}
    run = {"type": "tool_use", "id": "2", "name": "Bash", "input": {"command": "make"}}
    call = {"type": "assistant", "message": {"content": [edit, run]}}
    result = {"type": "tool_result", "tool_use_id": "1"}
    answered = {"type": "user", "message": {"content": [result]}}
    lines = tuple(json.dumps(each).encode() for each in (user, call, answered))
    bench.hands.transcript = lambda: (*lines, said("Two tests still fail."))

    outcome = bench.perform(evolve(SAVE, last=True))

    assert outcome.ending is Ending.DONE
    note = (tmp_path / "notes" / f"{NAME}.md").read_text()
    for part in ("Fix the parser.", "Two tests still fail.", "src/p.py", "Bash make"):
        assert part in note
    assert bench.sent == []


def test_the_next_run_proves_that_it_has_the_note(bench: Bench) -> None:
    """By a number that stands in the message in another form."""
    handover.keep(bench.hands, NAME, "go on with the parser")
    proof = f":{handover.number(NAME, 'load')}: going on."
    bench.hands.transcript = lambda: (said(proof),)

    result = bench.perform(LOAD)

    assert (result.ending, result.why) == (Ending.DONE, "loaded: the new run has the note")
    assert "go on with the parser" in bench.sent[0]


def test_an_echo_is_no_proof(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was typed stands on the screen, too; an agent that does not heed it says no number."""
    monkeypatch.setattr(behaviour, "_HANDED_OVER", re.compile(r"(?!)"))
    handover.keep(bench.hands, NAME, "note")
    bench.hands.transcript = lambda: (said("Sure, I will."),)

    assert bench.perform(LOAD).why == "no proof that the note arrived"


@pytest.mark.parametrize("kept", [True, False])
def test_a_save_in_doubt_is_settled_by_the_note_itself(bench: Bench, *, kept: bool) -> None:
    """There it is, or it is asked for again."""
    if kept:
        handover.keep(bench.hands, NAME, "note")

    assert bench.settle(SAVE).ending is (Ending.DONE if kept else Ending.SKIPPED)


@given(st.text(max_size=300), st.text("ckpt-0123456789", min_size=1, max_size=30))
def test_a_note_comes_back_as_it_was_written_and_no_message_proves_itself(
    note: str, name: str
) -> None:
    """Whatever it says, and the greeting is never its own proof."""
    marks = (f"{handover.number(name, 'save')}]]", f":{handover.number(name, 'load')}:")
    plain = " ".join(note.split())
    if not plain or any(mark in plain for mark in marks):
        return
    assert handover.note_in(f"● {answer(name, plain)}", name) == plain.strip()
    assert handover.note_in(handover.request(name), name) == ""
    assert not handover.proven(handover.greeting(name, plain, 2), name)


def rolled(kind: str, **payload: object) -> bytes:
    """A line of a rollout."""
    return json.dumps({"type": kind, "payload": payload}).encode()


@pytest.mark.parametrize(
    ("ending", "calls"),
    [
        ((), ("exec_command make", "apply_patch", "shell rm -rf build")),
        ((rolled("response_item", type="custom_tool_call_output", call_id="2"),), None),
        ((rolled("event_msg", type="turn_aborted"),), ()),
        ((rolled("event_msg", type="task_complete", last_agent_message="Done."),), ()),
        ((rolled("event_msg", type="task_started"),), ()),
    ],
)
def test_a_rollout_tells_what_was_open(
    ending: tuple[bytes, ...], calls: tuple[str, ...] | None
) -> None:
    """Until a turn begins or ends; what has its output is over."""
    given = {"arguments": json.dumps({"cmd": "make"}), "name": "exec_command"}
    action = {"command": ["rm", "-rf", "build"]}
    said = {"type": "UserMessage", "content": [{"type": "text", "text": "Fix it."}]}
    told = {"type": "AgentMessage", "content": [{"type": "Text", "text": "I shall."}]}
    lines = (
        rolled("event_msg", type="task_started"),
        rolled("event_msg", type="item_completed", item=said),
        rolled("event_msg", type="item_completed", item=told),
        rolled("response_item", type="function_call", call_id="0", **given),
        rolled("response_item", type="function_call_output", call_id="0"),
        rolled("response_item", type="function_call", call_id="1", **given),
        rolled("response_item", type="custom_tool_call", call_id="2", name="apply_patch"),
        rolled("response_item", type="local_shell_call", call_id="3", name="shell", action=action),
        *ending,
    )
    story = read_rollout(lines)

    over = calls is None
    assert story.calls == (("exec_command make", "shell rm -rf build") if over else calls)
    assert story.request == "Fix it."
    assert story.reply == ("Done." if b"Done." in lines[-1] else "I shall.")


@given(st.lists(st.binary(max_size=80), max_size=5))
def test_no_transcript_breaks_the_story(lines: list[bytes]) -> None:
    """Garbage tells nothing."""
    assert isinstance(read_story(lines), Story)
    assert isinstance(read_rollout(lines), Story)


# -- a run that is gone ---------------------------------------------------------------------------

LEFT = Refresh(run=1, nth=1, why="full", note=NAME)


def test_the_note_of_a_crashed_run_is_written_from_what_it_wrote_down(
    bench: Bench, tmp_path: Path
) -> None:
    """Uncommitted work is kept before; nothing is typed."""
    bench.agent.end(9)
    bench.hands.transcript = lambda: (said("Two tests still fail."),)
    bench.hands.snapshot = lambda _: answered("snapshot refs/x")

    result = bench.perform(LEFT)

    assert result.ending is Ending.DONE
    assert result.why.startswith("begun; snapshot refs/x; saved: koboshi wrote the note")
    assert "Two tests still fail." in (tmp_path / "notes" / f"{NAME}.md").read_text()
    assert bench.sent == []


async def answered(text: str) -> str:
    """What came of a snapshot."""
    return text


def test_where_nothing_was_written_down_the_last_note_is_handed_on(
    bench: Bench, tmp_path: Path
) -> None:
    """The session's file is gone: what the run before knew is better than nothing."""
    handover.keep(bench.hands, "ckpt-before", "half of the parser is done")
    bench.agent.end(9)

    assert bench.perform(LEFT).ending is Ending.DONE
    assert (tmp_path / "notes" / f"{NAME}.md").read_text() == "half of the parser is done\n"
    assert (tmp_path / "notes" / "a-LAST").read_text() == f"{NAME}\n"


def test_a_run_that_is_alive_or_was_meant_to_end_leaves_no_note(
    bench: Bench, tmp_path: Path
) -> None:
    """A CLI says goodbye before it ends; decided on those words, a meant exit looks bad."""
    assert bench.perform(LEFT).why == "run 1 is still alive"
    bench.say("/exit")
    assert bench.perform(LEFT).why == "run 1 ended as meant"
    assert not (tmp_path / "notes").exists()


def test_who_is_told_nothing_in_words_gets_no_note(bench: Bench) -> None:
    """A command that loads would not find it."""
    bench.hands.adapter = ScriptedAdapter()
    bench.agent.end(9)

    assert bench.perform(LEFT).ending is Ending.FAILED
