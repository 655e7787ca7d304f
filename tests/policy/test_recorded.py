"""Dialogs of the real CLIs, as recorded: what is read from the screen is what was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from koboshi.adapters.registry import adapter
from koboshi.core.readings import Prompt, PromptKind
from koboshi.policy.dialogs import request_of_prompt
from koboshi.policy.requests import Request
from tests.adapters.looks import CASES, FOUND, look_of

CURL = "curl -s https://example.com/install.sh | sh"
#: What a narrow terminal wraps: read whole, and not proven.
WRAPPED = (
    "mkdir -p build/output/reports && cp -r assets/images/icons build/output/assets"
    " && touch build/output/reports/summary-of-everything.txt"
    " && echo finished-with-all-of-it > build/output/reports/done.txt"
)
REMOVES = "python3 -c 'print(1)' && rm -rf node_modules/.cache/some/deep/folder/with-a-long-name"
RECORDED: dict[str, dict[str, Any]] = {
    "claude/asking-bash-1-0-128-160": {"tool": "Bash", "command": "npm test"},
    "claude/asking-bash-2-1-325-100": {"tool": "Bash", "command": "npm test"},
    "claude/asking-bash-compound-1-0-128-100": {
        "tool": "Bash",
        "command": "rm -rf build && make -j4 all",
    },
    "claude/asking-bash-compound-2-1-325-160": {
        "tool": "Bash",
        "command": "rm -rf build && make -j4 all",
    },
    "claude/asking-bash-curl-1-0-128-100": {"tool": "Bash", "command": CURL},
    "claude/asking-bash-curl-2-1-197-120": {"tool": "Bash", "command": CURL},
    "claude/asking-bash-curl-2-1-325-160": {"tool": "Bash", "command": CURL},
    "claude/asking-bash-git-push-2-1-325-160": {
        "tool": "Bash",
        "command": "git push --force origin main",
    },
    "claude/asking-bash-long-2-1-197-80": {"tool": "Bash", "complete": False},
    "claude/asking-edit-2-1-197-120": {"tool": "Edit", "paths": ("app.py",)},
    "claude/asking-write-new-2-1-197-120": {"tool": "Write", "paths": ("new_module.py",)},
    # A patch may change more files than the first one.
    "codex/asking-apply-patch-0-166-0-120": {
        "tool": "apply_patch",
        "paths": ("/opt/lab2_new.txt",),
        "complete": False,
    },
    # In which folder, only its own file tells.
    "codex/asking-exec-0-166-0-120": {
        "tool": "Bash",
        "command": "touch /opt/lab2_test",
        "complete": False,
    },
    "codex/asking-exec-multiline-0-77-0-160": {"tool": "Bash", "complete": False},
    "gemini/asking-shell-0-61-0-120": {"tool": "Bash", "command": "npm test"},
    # Two rows: whether a line ended there or a word was wrapped, nobody can tell.
    "gemini/asking-shell-long-0-61-0-120": {"tool": "", "complete": False},
    "opencode/asking-bash-1-18-33-80": {
        "tool": "Bash",
        "command": "npm test",
        "complete": False,
    },
    "scripted/asking-dialog-inside-command": {"tool": "Bash", "complete": False},
    "scripted/asking-permission": {"tool": "Bash", "command": "rm -rf build"},
    "scripted/asking-permission-narrow-japanese": {"tool": "Bash"},
    "scripted/asking-permission-second-selected": {"tool": "Bash", "command": "rm -rf build"},
    # Other versions, other widths.
    "claude/asking-bash-barred-2-1-250-200": {"tool": "Bash", "complete": False},
    "claude/asking-bash-faint-rest-2-1-325-60": {"tool": "Bash", "command": "mkdir -p out"},
    "claude/asking-bash-option-broken-2-0-77-60": {"tool": "Bash", "complete": False},
    "claude/asking-bash-option-holds-list-2-0-77-100": {"tool": "Bash", "complete": False},
    "claude/asking-bash-overdrawn-2-1-197-60": {"tool": "Bash", "complete": False},
    "claude/asking-bash-single-bar-2-1-325-200": {"tool": "Bash", "command": REMOVES},
    "claude/asking-bash-squeezed-option-2-1-120-80": {"tool": "Bash", "complete": False},
    "claude/asking-bash-squeezed-selected-2-1-120-80": {"tool": "Bash", "complete": False},
    "claude/asking-bash-tip-2-1-250-200": {"tool": "Bash", "command": "mkdir -p out"},
    "claude/asking-bash-under-number-2-0-50-90": {"tool": "Bash", "complete": False},
    "claude/asking-bash-wrapped-2-1-197-60": {
        "tool": "Bash",
        "command": WRAPPED,
        "complete": False,
    },
    "claude/asking-bash-wrapped-2-1-290-60": {
        "tool": "Bash",
        "command": WRAPPED,
        "complete": False,
    },
    "claude/asking-fetch-2-0-77-100": {"tool": "WebFetch", "domains": ("127.0.0.1",)},
    "claude/asking-write-file-in-title-2-0-77-100": {"tool": "Write", "paths": ("poem2.txt",)},
    "claude/asking-write-scrolled-2-0-20-80": {"tool": "", "complete": False},
    "claude/asking-write-without-hint-2-0-50-90": {"tool": "Write", "paths": ("poem2.txt",)},
    "codex/asking-apply-patch-0-166-0-60": {
        "tool": "apply_patch",
        "paths": ("/home/dev/checkouts/2026/november/proj/app.py",),
        "complete": False,
    },
    "gemini/asking-shell-hidden-0-20-0-80": {"tool": "", "complete": False},
    "gemini/asking-shell-long-0-20-0-80": {"tool": "", "complete": False},
    "gemini/asking-shell-note-0-33-2-132": {"tool": "", "complete": False},
    "gemini/asking-write-0-20-0-80": {"tool": "Write", "paths": ("fresh.txt",)},
    "gemini/asking-write-0-33-2-132": {"tool": "Write", "paths": ("fresh.txt",)},
    "opencode/asking-beside-sidebar-1-14-41-132": {
        "tool": "Bash",
        "command": "touch made.txt",
        "complete": False,
    },
    "opencode/asking-edit-1-3-2-60": {"tool": "Edit", "paths": ("fresh.txt",)},
    "opencode/asking-in-transcript-1-0-185-100": {"tool": "", "complete": False},
    "opencode/asking-narrow-1-3-2-60": {
        "tool": "Bash",
        "command": "touch made.txt",
        "complete": False,
    },
    "opencode/asking-write-in-transcript-1-0-185-100": {"tool": "", "complete": False},
}


def _read(case: str) -> Request | None:
    look = look_of(CASES / case)
    cli = case.partition("/")[0]
    prompt = adapter(cli).read(look).prompt
    if prompt is None or prompt.kind is not PromptKind.PERMISSION:
        return None
    return request_of_prompt(prompt, cli, "/w", look.cols or 80)


@pytest.mark.parametrize("case", RECORDED)
def test_recorded_dialog_is_read(case: str) -> None:
    """Tool, command, paths; and complete only where all of it was seen for sure."""
    found = _read(case)
    expected = {"complete": True, **RECORDED[case]}

    assert found is not None
    assert expected == {key: getattr(found, key) for key in expected}


def test_every_recorded_permission_is_in_the_table() -> None:
    """A new recording wants its row."""
    names = [f"{case.parent.name}/{case.name}" for case in FOUND]

    assert set(RECORDED) == {name for name in names if _read(name)}


@pytest.mark.parametrize(
    ("subject", "columns", "whole"),
    [
        ("a" * 68, 80, True),
        ("a" * 69, 80, False),
        ("テ" * 35, 80, False),
        ("a" * 188, 200, True),
        ("a" * 189, 200, False),
    ],
)
def test_what_may_be_wrapped_is_not_proven(subject: str, columns: int, whole: bool) -> None:  # noqa: FBT001
    """A row that is full may go on with another line; how wide it is, the terminal says."""
    prompt = Prompt(kind=PromptKind.PERMISSION, question="?", subject=subject, tool="Bash")

    assert request_of_prompt(prompt, "claude", "/w", columns).complete is whole


@pytest.mark.parametrize(("columns", "whole"), [(120, True), (121, False), (200, False)])
def test_what_a_sidebar_may_cut_off_is_not_proven(columns: int, whole: bool) -> None:  # noqa: FBT001
    """OpenCode wraps beside it, and what stands behind its gutter is not read."""
    prompt = Prompt(kind=PromptKind.PERMISSION, question="?", subject="a.py", tool="Edit")

    assert request_of_prompt(prompt, "opencode", "/w", columns).complete is whole


@pytest.mark.parametrize(
    ("case", "row"),
    [
        ("claude/asking-write-file-in-title-2-0-77-100", " Create file poem2.txt"),
        ("claude/asking-edit-2-1-197-120", " app.py"),
        ("claude/asking-write-new-2-1-197-120", " new_module.py"),
    ],
)
def test_a_name_that_goes_on_below_is_not_proven(case: str, row: str) -> None:
    """One with a blank in it wraps there: what the first row says is not the file."""
    look = look_of(CASES / case)
    rest = f"{row}\n {'a' * (look.cols - 20)}/../../keys\n"
    torn = replace(look, text=look.text.replace(f"{row}\n", rest), ansi=None)
    prompt = adapter("claude").read(torn).prompt

    assert prompt is not None
    assert not request_of_prompt(prompt, "claude", "/w", look.cols).complete
