"""Dialogs on a screen: what is known of the request, and whether all of it was seen."""

from __future__ import annotations

import pytest

from koboshi.policy.dialogs import request_of_prompt
from tests.core.worlds import permission


@pytest.mark.parametrize(
    ("subject", "tool", "whole"),
    [
        ("npm test", "Bash", True),
        ("npm test\nrm -rf /", "Bash", False),
        ("npm test …", "Bash", False),
        ('lab - note(word: "hello") (MCP)\nNote a word', "mcp__lab__note", True),
        ('x\nlab - note(word: "hello") (MCP)', "", False),
        ("", "Bash", False),
    ],
)
def test_what_a_screen_proves(subject: str, tool: str, whole: bool) -> None:  # noqa: FBT001
    """A command must be there in full; of a server's tool the name is enough, where it is first."""
    request = request_of_prompt(permission(subject), "claude", "/work")

    assert (request.tool, request.complete) == (tool, whole)
