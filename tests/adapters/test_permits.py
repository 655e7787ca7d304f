"""How a headless run asks the policy first, and what it did where it does not ask."""

from __future__ import annotations

import json
from collections.abc import Sequence

from koboshi.adapters.doings import doings
from koboshi.adapters.permits import Desk, permitted

DESK = Desk(command="ask-it", folder="/f", cwd="/p", texts={"/p/s.json": '{"model": "x"}'})


def test_claude_is_given_a_hook_beside_the_users_own_settings() -> None:
    """They are merged; the option stands there once."""
    made = permitted("claude", ("claude", "--settings", "s.json", "--verbose"), DESK)

    assert made.argv == ("claude", "--verbose", "--settings", "/f/claude-settings.json")
    settings = json.loads(made.files["/f/claude-settings.json"])
    assert settings["model"] == "x"
    assert settings["hooks"]["PreToolUse"][-1]["hooks"][0]["command"] == "ask-it"


def test_others_stay_as_they_are() -> None:
    """And the note says what is done instead."""
    made = permitted("codex", ("codex", "-s", "read-only"), DESK)

    assert made.argv == ("codex", "-s", "read-only")
    assert made.files == {}
    assert "after" in made.note


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


def _lines(rows: Sequence[object]) -> str:
    return "\n".join(json.dumps(row) for row in rows)
