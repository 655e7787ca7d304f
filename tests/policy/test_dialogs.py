"""Dialogs on a screen: what is known of the request, and whether all of it was seen."""

from __future__ import annotations

import pytest

from koboshi.policy.dialogs import request_of_prompt
from tests.core.worlds import permission


@pytest.mark.parametrize(
    ("cli", "tool", "subject", "whole"),
    [
        ("claude", "Bash", "npm test", True),
        ("claude", "Bash", "npm test\nrm -rf /", False),
        ("claude", "Bash", "npm test …", False),
        ("claude", "Bash", "", False),
        ("claude", "Bash", " \u3000", False),
        ("claude", "PowerShell", "Get-Item x", False),
        ("claude", "", "npm test", False),
        ("claude", "Read", "/etc/hostname", True),
        ("claude", "Search", "/etc", False),
        ("claude", "WebSearch", "python asyncio", True),
        # Of a server's tool the name is enough, where it is its own and not one for people.
        ("claude", "mcp__lab__note", "lab - note(word: …", True),
        ("claude", "mcp__lab__Note", "lab — Note Tool: (MCP)", False),
        ("codex", "mcp__lab__Note", "", True),
        # Neither shows in which folder: the tool takes one.
        ("codex", "Bash", "npm test", False),
        ("opencode", "Bash", "npm test", False),
        ("opencode", "Edit", "app.py", True),
        ("codex", "apply_patch", "app.py", False),
    ],
)
def test_what_a_screen_proves(cli: str, tool: str, subject: str, whole: bool) -> None:  # noqa: FBT001
    """The tool must be one that is known, and what it would do there in full."""
    request = request_of_prompt(permission(subject, tool=tool), cli, "/srv/app")

    assert (request.tool, request.complete) == (tool, whole)


def test_a_file_that_is_read_is_not_one_that_is_written() -> None:
    """A rule about what may be written says nothing about it."""
    request = request_of_prompt(permission("/etc/hostname", tool="Read"), "claude", "/srv/app")

    assert (request.paths, request.writes) == (("/etc/hostname",), False)
