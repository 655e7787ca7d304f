"""What an agent wrote down counts where its dialog shows that very call, and nowhere else."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.readings import Prompt, PromptKind
from koboshi.policy.written import Call, shown_calls


def asked(tool: str, subject: str) -> Prompt:
    """A dialog about that tool."""
    return Prompt(kind=PromptKind.PERMISSION, question="?", tool=tool, subject=subject)


@pytest.mark.parametrize(
    ("tool", "subject", "call"),
    [
        ("Bash", "git log\nevil", ("Bash", {"command": "git log evil"}, "/w")),
        ("Bash", "git log evil", ("Bash", {"command": "git log\nevil"}, "/w/sub")),
        ("Bash", "touch /opt/x", ("exec_command", {"command": "touch /opt/x"}, "/w")),
        ("Read", "../x", ("Read", {"file_path": "/x"}, "/w")),
        ("Write", "a.py", ("Write", {"file_path": "/w/a.py"}, "/w")),
        ("apply_patch", "a.py", ("apply_patch", {"input": "*** Update File: /w/a.py\n"}, "/w")),
        ("WebFetch", "http://a.b/c", ("WebFetch", {"url": "http://a.b/c"}, "/w")),
        ("WebSearch", "two words", ("WebSearch", {"query": "two  words"}, "/w")),
        ("mcp__lab__Get Issue", "…", ("mcp__lab__get_issue", {}, "/w")),
        ("mcp__lab__note", "…", ("mcp__lab__note", {"word": "x"}, "/w")),
    ],
)
def test_the_call_on_the_screen_is_taken_as_it_was_written(
    tool: str, subject: str, call: Call
) -> None:
    """Blanks, wraps and names for people aside, it must be the same."""
    [found] = shown_calls(asked(tool, subject), [call])

    assert (found.tool, found.cwd, found.written, found.complete) == (call[0], call[2], True, True)
    assert found.command == call[1].get("command", "")


def test_a_patch_with_a_relative_path_is_not_wholly_known() -> None:
    """Codex does not tell the folder that it is applied in."""
    call: Call = ("apply_patch", {"input": "*** Update File: a.py\n"}, "/w")
    [found] = shown_calls(asked("apply_patch", "a.py"), [call])

    assert not found.complete


@pytest.mark.parametrize(
    ("tool", "subject", "call"),
    [
        ("Bash", "npm test", ("Bash", {"command": "npm test; evil"}, "/w")),
        ("Bash", "npm test …", ("Bash", {"command": "npm test evil"}, "/w")),
        ("Bash", "", ("Bash", {"command": "\u200b"}, "/w")),
        ("Bash", "a.py", ("Write", {"file_path": "a.py"}, "/w")),
        ("Read", "/x", ("Bash", {"command": "/x"}, "/w")),
        ("Read", "a.py", ("Write", {"file_path": "a.py"}, "/w")),
        ("Write", "a.py", ("Write", {"file_path": "b/a.py"}, "/w")),
        ("WebFetch", "http://a.b/c", ("WebFetch", {"url": "http://a.b/d"}, "/w")),
        ("mcp__lab__Note", "…", ("mcp__lab__note_all", {}, "/w")),
        ("mcp__lab__Note", "…", ("mcp__other__note", {}, "/w")),
        ("mcp__ __—", "…", ("mcp__.__-", {}, "/w")),
        ("", "npm test", ("Bash", {"command": "npm test"}, "/w")),
        ("Bash", "npm test", ("Bash", {"command": "npm test"}, "")),
        ("Bash", "npm test", ("Bash", {"command": ["npm", 1]}, "/w")),
    ],
)
def test_another_call_is_not_taken(tool: str, subject: str, call: Call) -> None:
    """Then the screen alone says what it says."""
    assert shown_calls(asked(tool, subject), [call]) == ()


def test_a_dialog_that_fits_two_calls_is_about_either() -> None:
    """Whoever judges takes the stricter."""
    calls: list[Call] = [
        ("Bash", {"command": "git log evil"}, "/w"),
        ("Bash", {"command": "git log\nevil"}, "/w"),
    ]

    assert [each.command for each in shown_calls(asked("Bash", "git log evil"), calls)] == [
        "git log evil",
        "git log\nevil",
    ]


WORDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1),
    min_size=1,
    max_size=20,
)


@given(WORDS, st.integers(40, 250), st.sampled_from([" ", "  ", "\n", "\t"]))
def test_however_it_is_wrapped_it_is_found_again(words: list[str], columns: int, gap: str) -> None:
    """Wide characters, long words, blanks at an edge."""
    command = gap.join(words)
    shown = "\n".join(textwrap.wrap(command, columns))
    [found] = shown_calls(asked("Bash", shown), [("Bash", {"command": command}, "/w")])

    assert found.command == command
