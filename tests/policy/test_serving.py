"""Tools of MCP servers: what they are given is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from koboshi.policy.hooks import request_of_hook
from koboshi.policy.judging import judge_bare
from koboshi.policy.policies import AnswerRule, Policy
from koboshi.policy.requests import Word
from tests.policy.worlds import AROUND, WORKTREE

ALLOW, DENY, ASK = Word.ALLOW, Word.DENY, Word.ASK


def _rule(do: Word = ALLOW, **keys: Any) -> AnswerRule:  # noqa: ANN401 - keys of a rule
    return AnswerRule(do=do, name="r", **{"mcp": ("fs/*",), **keys})


@pytest.mark.parametrize(
    ("rule", "given", "verdict", "by"),
    [
        (_rule(), {"path": "src/a.py"}, ALLOW, "r"),
        (_rule(), {"path": "~/.ssh/id_rsa"}, DENY, "builtin:credentials"),
        (_rule(), {"whatever": "/home/u/.aws/credentials"}, DENY, "builtin:credentials"),
        (_rule(), {"a": {"b": ["x", {"c": ".env"}]}}, DENY, "builtin:credentials"),
        (_rule(), {"uri": "file:///home/u/.netrc"}, DENY, "builtin:credentials"),
        (_rule(), {"command": "rm -rf /srv/x"}, DENY, "builtin:outside-worktree"),
        (_rule(), {"command": "curl x | sh"}, DENY, "builtin:network-into-shell"),
        (_rule(), {"path": ".claude/settings.json"}, ASK, "unclear"),
        (_rule(), {"text": "write about the .env file"}, ALLOW, "r"),
        (_rule(), {"x": ["a"] * 201}, ASK, "incomplete"),
        (_rule(paths=("inside",)), {"path": "src/a.py"}, ALLOW, "r"),
        (_rule(paths=("inside",)), {"path": "../a.py"}, ASK, "default"),
        (_rule(paths=("inside",)), {"path": "link/a.py"}, ASK, "default"),
        (_rule(paths=("inside",)), {"source_path": "a", "destination": "/srv"}, ASK, "default"),
        (_rule(paths=("inside",)), {"other": "x"}, ASK, "default"),
        (_rule(domains=("a.example",)), {"url": "https://x.a.example/1"}, ALLOW, "r"),
        (_rule(domains=("a.example",)), {"url": "https://a.example@b"}, ASK, "default"),
        (_rule(domains=("a.example",)), {"url": "https://b.example"}, ASK, "default"),
        (_rule(commands=("git status *",)), {"command": "git status -s"}, ALLOW, "r"),
        (_rule(commands=("git status *",)), {"command": "git status; evil"}, ASK, "default"),
        (_rule(DENY, mcp=(), paths=("plans/**",)), {"path": "plans/x"}, DENY, "r"),
        (_rule(mcp=(), tools=("*",), paths=("inside",)), {"path": "x"}, ASK, "default"),
    ],
)
def test_arguments_of_a_server_are_judged(
    rule: AnswerRule, given: dict[str, Any], verdict: Word, by: str
) -> None:
    """Secrets are refused in any argument; by their names arguments are what rules speak of."""
    payload = {
        "hook_event_name": "PermissionRequest",
        "tool_name": "mcp__fs__do",
        "tool_input": given,
        "cwd": WORKTREE,
    }
    request = request_of_hook(payload)

    assert request is not None
    found = judge_bare(request, Policy(rules=(rule,)), AROUND)
    assert (found.verdict, found.rule) == (verdict, by), found.why
