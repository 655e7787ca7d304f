"""How a headless run asks the policy first, and what it did where it does not ask."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from koboshi.adapters.codex.equip import digest
from koboshi.adapters.doings import doings, latest
from koboshi.adapters.opencode.plugin import CONTENT
from koboshi.adapters.permits import Desk, payload_of, permitted

DESK = Desk(command="ask-it", folder="/f", cwd="/p", texts={"/p/s.json": '{"model": "x"}'})


def test_claude_is_given_a_hook_beside_the_users_own_settings() -> None:
    """They are merged; the option stands there once."""
    made = permitted("claude", ("claude", "--settings", "s.json", "--verbose"), DESK)

    assert made.argv == ("claude", "--verbose", "--settings", "/f/claude-settings.json")
    settings = json.loads(made.files["/f/claude-settings.json"])
    assert settings["model"] == "x"
    assert settings["hooks"]["PreToolUse"][-1]["hooks"][0]["command"] == "ask-it"


def test_codex_is_given_a_hook_that_it_knows() -> None:
    """With its digest, and it is waited for; the line stands in a file for `sh`."""
    made = permitted("codex", ("codex", "-s", "read-only"), DESK)

    assert made.argv[:4] == ("codex", "-s", "read-only", "-c")
    (words,) = made.argv[4:]
    hooks = tomllib.loads(words)["hooks"]
    (hook,) = hooks["PreToolUse"][0]["hooks"]
    assert (hook["command"], hook["async"]) == ("sh /f/permit.sh", False)
    (state,) = hooks["state"].values()
    assert state == {"trusted_hash": digest("pre_tool_use", hook)}
    assert made.files == {"/f/permit.sh": "ask-it\n"}


def test_opencode_is_given_a_plugin_beside_the_users_own_settings() -> None:
    """Nothing of theirs is replaced."""
    given = json.dumps({"model": "x", "plugin": ["theirs"]})
    made = permitted("opencode", ("opencode",), replace(DESK, env={CONTENT: given}))

    assert made.argv == ("opencode",)
    content = json.loads(made.env[CONTENT])
    assert content == {"model": "x", "plugin": ["theirs", "file:///f/permit.js"]}
    assert '["/f/permit.sh"]' in made.files["/f/permit.js"]
    assert made.files["/f/permit.sh"] == "ask-it\n"


@pytest.mark.parametrize(
    ("cli", "program", "env"),
    [
        ("gemini", ("gemini", "-y"), {}),
        ("codex", ("codex", "-c", "hooks={}"), {}),
        ("opencode", ("opencode",), {CONTENT: "{ // mine\n}"}),
        ("opencode", ("opencode",), {CONTENT: "[]"}),
    ],
)
def test_others_stay_as_they_are(cli: str, program: tuple[str, ...], env: dict[str, str]) -> None:
    """And the note says what is done instead."""
    made = permitted(cli, program, replace(DESK, env=env))

    assert (made.argv, made.env, made.files) == (program, {}, {})
    assert "after" in made.note


def test_what_opencode_asks_is_told_in_the_words_of_a_hook() -> None:
    """What has another shape is nothing that can be judged."""
    asked = payload_of("opencode", {"tool": "write", "args": {"filePath": "a", "content": "b"}})

    assert (asked["tool_name"], asked["tool_input"]["file_path"]) == ("Write", "a")
    assert payload_of("opencode", {"tool": "write"}) == {}
    assert payload_of("codex", {"tool_name": "Bash"}) == {"tool_name": "Bash"}


def test_what_each_cli_did_is_told_in_the_words_of_a_hook() -> None:
    """Refused calls were not made."""
    codex = [
        {"type": "item.completed", "item": {"type": "command_execution", "command": "ls"}},
        {"type": "item.completed",
         "item": {"type": "command_execution", "command": "rm x", "status": "declined"}},
        {"type": "item.completed",
         "item": {"type": "file_change", "changes": [{"path": "a.py", "kind": "add"}]}},
    ]  # fmt: skip
    gemini = [{"type": "tool_use", "tool_name": "write_file", "parameters": {"file_path": "b"}}]
    opencode = [
        {"type": "tool_use", "part": {"tool": "bash", "state": state}}
        for state in (
            {"status": "completed", "input": {"command": "ls"}},
            {"status": "error", "input": {"command": "rm x"}},
        )
    ]

    found = {
        cli: [(each["tool_name"], each["tool_input"]) for each in doings(_lines(rows), cli)]
        for cli, rows in (("codex", codex), ("gemini", gemini), ("opencode", opencode))
    }

    assert found == {
        "codex": [("Bash", {"command": "ls"}), ("Write", {"file_path": "a.py"})],
        "gemini": [("write_file", {"file_path": "b"})],
        "opencode": [("Bash", {"command": "ls"})],
    }
    assert doings("noise\n[1]\n{}", "claude") == ()


def test_the_last_call_that_was_begun_is_known() -> None:
    """Also of one that has not come back yet; a cut line at the beginning is passed over."""
    edit = {"type": "tool_use", "name": "Edit", "input": {"file_path": "a"}}
    claude = [{"type": "assistant", "message": {"content": [{"type": "text"}, edit]}}]
    item = {"type": "command_execution", "command": "make", "status": "in_progress"}
    codex = [{"type": "item.started", "item": item}, {"type": "item.updated"}]

    found = {
        cli: latest('ut": 1}}\n' + _lines(rows), cli) for cli, rows in
        (("claude", claude), ("codex", codex), ("gemini", []), ("generic", claude))
    }  # fmt: skip

    assert found["claude"] is not None
    assert found["claude"]["tool_input"] == {"file_path": "a"}
    assert found["codex"] is not None
    assert found["codex"]["tool_input"] == {"command": "make"}
    assert (found["gemini"], found["generic"]) == (None, None)


def _lines(rows: Sequence[object]) -> str:
    return "\n".join(json.dumps(row) for row in rows)
