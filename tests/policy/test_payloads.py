"""What the hooks of the real CLIs sent, as recorded: each is read in full, and judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from koboshi.core.readings import PromptKind
from koboshi.policy.hooks import request_of_hook
from koboshi.policy.judging import judge_bare
from koboshi.policy.policies import AnswerRule, Policy
from koboshi.policy.requests import Request, Word
from tests.policy.worlds import AROUND, CASES, WORKTREE

HOOKS = CASES / "hooks"


def _told(**fields: Any) -> Request:  # noqa: ANN401 - fields of a Request
    return Request(**{"kind": PromptKind.PERMISSION, "cwd": WORKTREE, **fields})


CLAUDE = [
    _told(tool="Bash", command="touch x"),
    _told(tool="Write", paths=(f"{WORKTREE}/n.txt",)),
    _told(tool="WebFetch", domains=("127.0.0.1",)),
    _told(tool="mcp__lab__note", arguments=(("word", "hi"),)),
    _told(tool="Edit", paths=(f"{WORKTREE}/a.txt",)),
    _told(tool="WebSearch", arguments=(("query", "python asyncio"),)),
    _told(tool="Read", paths=("/etc/debian_version",), writes=False),
]
CODEX = [
    _told(tool="Bash", command="touch /opt/x"),
    _told(tool="Bash", command="git status && touch /opt/y"),
    _told(tool="Bash", command="touch x", cwd="/opt"),  # called with a `workdir`
    _told(tool="Bash", command="touch y"),
]
POLICY = Policy(
    rules=(
        AnswerRule(do=Word.ALLOW, name="shell", commands=("touch *",)),
        AnswerRule(do=Word.ALLOW, name="files", tools=("Edit", "Write", "Read"), paths=("inside",)),
        AnswerRule(do=Word.ALLOW, name="web", tools=("WebFetch",), domains=("127.0.0.1",)),
        AnswerRule(do=Word.ALLOW, name="served", mcp=("lab/*",)),
    )
)


def payloads(name: str) -> list[dict[str, Any]]:
    """One recorded payload a line."""
    return [json.loads(row) for row in (HOOKS / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["claude-2-1-197.jsonl", "claude-2-1-325.jsonl"])
def test_claude_tells_everything(name: str) -> None:
    """Bash, Write, WebFetch, MCP, Edit, WebSearch, and Read outside of the folder."""
    found = [request_of_hook(each) for each in payloads(name)]

    assert found == CLAUDE


def test_what_claude_tells_is_judged_by_its_rules() -> None:
    """No rule speaks of a search, nor of files outside."""
    found = [judge_bare(each, POLICY, AROUND) for each in CLAUDE]

    assert [each.rule for each in found] == [
        *("shell", "files", "web", "served", "files", "default", "default")
    ]


def test_codex_tells_the_folder_that_the_command_runs_in() -> None:
    """So what it makes there is outside of the worktree."""
    found = [request_of_hook(each) for each in payloads("codex-0-166-0.jsonl")]

    assert found == CODEX
    assert [judge_bare(each, POLICY, AROUND).verdict for each in CODEX] == [
        *(Word.ASK, Word.ASK, Word.ASK, Word.ALLOW)
    ]


@pytest.mark.parametrize(
    ("do", "tool", "takes"),
    [
        (Word.ALLOW, "Edit", True),
        (Word.ALLOW, "Write", False),
        (Word.ALLOW, "apply_patch", True),
        (Word.DENY, "Edit", True),
        (Word.DENY, "Write", True),
    ],
)
def test_a_patch_of_codex_is_an_edit(do: Word, tool: str, takes: bool) -> None:  # noqa: FBT001
    """A rule for edits allows it; one against writing refuses it, for it may make files."""
    rule = AnswerRule(do=do, name="it", tools=(tool,), paths=("inside",))
    path = f"{WORKTREE}/a"
    asked = Request(kind=PromptKind.PERMISSION, tool="apply_patch", paths=(path,), writes=True)
    found = judge_bare(asked, Policy(rules=(rule,)), AROUND)

    assert (found.rule == "it") is takes
