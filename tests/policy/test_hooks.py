"""Hook payloads and dialogs → requests; whatever comes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.readings import Meaning, Option, Prompt, PromptKind
from koboshi.policy.dialogs import request_of_prompt
from koboshi.policy.hooks import request_of_hook
from koboshi.policy.judging import judge_bare
from koboshi.policy.requests import Request, Word
from tests.policy.worlds import AROUND, GENEROUS, WORKTREE


def _hook(tool: str, given: Any) -> Request | None:  # noqa: ANN401 - JSON
    payload = {
        "hook_event_name": "PermissionRequest",
        "tool_name": tool,
        "tool_input": given,
        "cwd": WORKTREE,
    }
    return request_of_hook(payload)


def _request(**fields: Any) -> Request:  # noqa: ANN401 - fields of a Request
    return Request(**{"kind": PromptKind.PERMISSION, "cwd": WORKTREE, **fields})


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Bash", {"command": "ls -la"}, _request(tool="Bash", command="ls -la")),
        ("Bash", {"command": 7}, _request(tool="Bash", complete=False)),
        ("Bash", {}, _request(tool="Bash", complete=False)),
        ("Bash", None, _request(tool="Bash", complete=False)),
        (
            "Bash",
            {"command": "ls", "dangerouslyDisableSandbox": True},
            _request(tool="Bash", command="ls", complete=False),
        ),
        (
            "shell",
            {"command": ["bash", "-lc", "ls 'a b'"]},
            _request(tool="shell", command="bash -lc 'ls '\"'\"'a b'\"'\"''"),
        ),
        ("Edit", {"file_path": "/x/a"}, _request(tool="Edit", paths=("/x/a",))),
        ("Edit", {"file_path": ["/x/a"]}, _request(tool="Edit", complete=False)),
        ("NotebookEdit", {"notebook_path": "n"}, _request(tool="NotebookEdit", paths=("n",))),
        ("Read", {"file_path": "a"}, _request(tool="Read", paths=("a",), writes=False)),
        ("Grep", {"pattern": "x"}, _request(tool="Grep", paths=(".",), writes=False)),
        (
            "WebFetch",
            {"url": "https://docs.python.org:443/3/"},
            _request(tool="WebFetch", domains=("docs.python.org",)),
        ),
        ("WebFetch", {"url": "https://a.example@b"}, _request(tool="WebFetch", complete=False)),
        ("WebFetch", {"url": "https://a\\@b.example"}, _request(tool="WebFetch", complete=False)),
        ("WebFetch", {"url": "file:///etc/passwd"}, _request(tool="WebFetch", complete=False)),
        (
            "apply_patch",
            {"command": "*** Begin Patch\n*** Update File: /a\n*** Move to: /b\n*** End Patch"},
            _request(tool="apply_patch", paths=("/a", "/b")),
        ),
        (  # relative to a folder that is not told
            "apply_patch",
            {"command": "*** Begin Patch\n*** Update File: /a\n*** Move to: b\n*** End Patch"},
            _request(tool="apply_patch", paths=("/a", "b"), complete=False),
        ),
        (
            "Bash",
            {"command": "npm test", "description": "network-access https://x.example:443"},
            _request(tool="Bash", command="npm test", complete=False),
        ),
        ("apply_patch", {"command": "?"}, _request(tool="apply_patch", complete=False)),
        ("mcp__a__b", {"x": 1}, _request(tool="mcp__a__b")),
        (
            "ExitPlanMode",
            {"plan": "1. do"},
            _request(kind=PromptKind.PLAN, tool="ExitPlanMode", question="1. do"),
        ),
        (
            "AskUserQuestion",
            {"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]},
            _request(
                kind=PromptKind.QUESTION,
                tool="AskUserQuestion",
                question="Which?",
                options=("a", "b"),
            ),
        ),
        (
            "AskUserQuestion",
            {"questions": [{"question": "1"}, {"question": "2"}]},
            _request(kind=PromptKind.QUESTION, tool="AskUserQuestion", complete=False),
        ),
    ],
)
def test_hook_tells_what_is_wanted(tool: str, given: object, expected: Request) -> None:
    """What has another shape than expected is not complete."""
    assert _hook(tool, given) == expected


@pytest.mark.parametrize(
    "payload",
    [
        {},
        [],
        None,
        "x",
        {"hook_event_name": "PreToolUse", "tool_name": "Bash"},
        {"tool_name": "Bash"},
    ],
)
def test_other_payloads_are_no_requests(payload: Any) -> None:  # noqa: ANN401 - whatever comes
    """None, and no exception."""
    assert request_of_hook(payload) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["command", "file_path", "url", "questions", "question", "options", "label", "path"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
TOOLS = [
    "Bash",
    "Edit",
    "Read",
    "Grep",
    "WebFetch",
    "apply_patch",
    "AskUserQuestion",
    "ExitPlanMode",
]


@given(st.sampled_from(TOOLS) | JSON, JSON, JSON, JSON)
def test_every_payload_is_read_and_judged(tool: Any, given: Any, cwd: Any, plan: Any) -> None:  # noqa: ANN401
    """Nothing raises; what is not complete is not allowed."""
    payload = {
        "hook_event_name": "PermissionRequest",
        "tool_name": tool,
        "tool_input": given,
        "cwd": cwd,
        "x": plan,
    }
    request = request_of_hook(payload)
    if request is None:
        return
    found = judge_bare(request, GENEROUS, AROUND)

    assert request.complete or found.verdict is not Word.ALLOW


PROCEED = "Do you want to proceed?"
RUN = "Would you like to run the following command?"
OPTIONS = (Option(text="Yes", meaning=Meaning.ONCE), Option(text="No", meaning=Meaning.NO))


@pytest.mark.parametrize(
    ("cli", "subject", "expected"),
    [
        ("claude", "ls -la", {"tool": "Bash", "command": "ls -la"}),
        ("claude", "a.py", {"tool": "Edit", "paths": ("a.py",)}),
        ("claude", "https://x.example/a", {"tool": "WebFetch", "domains": ("x.example",)}),
        ("claude", "https://a@x.example/", {"tool": "WebFetch", "domains": ("",)}),
        ("claude", 'gh - get_issue(id: "1") (MCP)', {"tool": "mcp__gh__get_issue"}),
        ("claude", "git st…", {"tool": "Bash", "command": "git st…", "complete": False}),
        ("claude", "a\nb", {"tool": "Bash", "command": "a\nb", "complete": False}),
        ("claude", "", {"tool": "Bash", "complete": False}),
        ("claude", "ls", {"complete": False}),
        ("opencode", "ls", {"tool": "Bash", "command": "ls", "complete": False}),
    ],
)
def test_dialog_tells_what_is_wanted(cli: str, subject: str, expected: dict[str, Any]) -> None:
    """A dialog that is not known, or cut off, is not complete."""
    prompt = Prompt(
        kind=PromptKind.PERMISSION,
        question=PROCEED,
        options=OPTIONS,
        subject=subject,
        tool=expected.get("tool", ""),
    )

    assert request_of_prompt(prompt, cli, WORKTREE) == _request(
        question=PROCEED, options=("Yes", "No"), **expected
    )


SHOWN_TOOLS = st.sampled_from(
    ["Bash", "Edit", "Read", "WebFetch", "mcp__a__b", "apply_patch", "?", ""]
)


@given(st.sampled_from(list(PromptKind)), st.text(max_size=30), st.text(max_size=30), SHOWN_TOOLS)
def test_every_dialog_is_read_and_judged(
    kind: PromptKind, question: str, subject: str, tool: str
) -> None:
    """Nothing raises."""
    prompt = Prompt(kind=kind, question=question, options=OPTIONS, subject=subject, tool=tool)
    for cli in ("claude", "codex", "gemini", "opencode", "scripted", "?"):
        request = request_of_prompt(prompt, cli, WORKTREE)
        found = judge_bare(request, GENEROUS, AROUND)

        assert request.complete or found.verdict is not Word.ALLOW
