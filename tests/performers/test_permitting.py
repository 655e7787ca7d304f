"""Permit: what the policy says about the calls of a run that nobody sits at."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koboshi.hosts.headless import Finished
from koboshi.performers.loop.checking import broke, judged
from koboshi.performers.loop.permitting import breaches, command, main, notes, options_for
from koboshi.store.firings import Firing, Firings, Report

TASK = "task_0a0a0a0a"
RULES = """\
[answers]
[[answers.rule]]
do = "allow"
command = "make test"
[[answers.rule]]
do = "deny"
command = "git push *"
reason = "a person pushes"
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task, and the owner's rules."""
    config, project = tmp_path / "config", tmp_path / "project"
    for folder in (config, project):
        folder.mkdir()
    (config / "koboshi.toml").write_text(RULES, encoding="utf-8")
    monkeypatch.setenv("KOBOSHI_CONFIG", str(config))
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    firing = Firing(
        task=TASK, agent="claude", instruction="x", cwd=str(project), created=time.time()
    )
    Firings(tmp_path / "state").keep(firing)
    return tmp_path / "state"


def said(state: Path, line: str, tool: str = "Bash", **given: str) -> Any:  # noqa: ANN401
    """What the hook prints about that call: its decision and the reason; None without a word."""
    fields = given or {"command": line}
    payload = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": fields}
    printed = main(["", str(state), TASK], json.dumps(payload).encode())
    if not printed:
        return None
    words = json.loads(printed)["hookSpecificOutput"]
    return words["permissionDecision"], words["permissionDecisionReason"]


def test_the_owners_rules_answer(state: Path) -> None:
    """Allowed, denied with the reason, and no word where a person would be asked."""
    assert said(state, "make test")[0] == "allow"
    assert said(state, "git push origin") == (
        "deny",
        "the owner's policy says deny: a person pushes",
    )
    assert said(state, "make install") is None
    assert said(state, "make test && git push origin")[0] == "deny"

    kept = notes(state, TASK)
    assert [each.stance for each in kept] == ["allow", "deny", "ask", "deny"]
    assert kept[1].told == "Bash `git push origin`: a person pushes"


def test_in_mode_observe_nothing_is_allowed(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is denied stays denied."""
    monkeypatch.setenv("KOBOSHI_MODE", "observe")

    assert said(state, "make test") is None
    assert said(state, "git push origin")[0] == "deny"


@pytest.mark.parametrize("mode", ["keep", "auto"])
def test_in_other_modes_the_rules_hold(
    state: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """In `keep` a dialog is left to whoever sits there; a fired run has none, and was ordered."""
    monkeypatch.setenv("KOBOSHI_MODE", mode)

    assert said(state, "make test")[0] == "allow"
    assert said(state, "git push origin")[0] == "deny"
    assert said(state, "make install") is None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{not json", b"\xff"])
def test_what_cannot_be_judged_is_denied(state: Path, raw: bytes) -> None:
    """Closed."""
    words = json.loads(main(["", str(state), TASK], raw))["hookSpecificOutput"]

    assert words["permissionDecision"] == "deny"


def test_an_unknown_task_is_denied(state: Path) -> None:
    """Nobody knows where it works."""
    words = json.loads(main(["", str(state), "task_00000000"], b'{"tool_name":"Bash"}'))

    assert words["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_the_line_works_in_a_shell(state: Path) -> None:
    """As the CLI runs it: in an environment of its own."""
    payload = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
    line = command(state, TASK)

    ran = subprocess.run(
        ["/bin/sh", "-c", line], input=json.dumps(payload), env={"PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert '"permissionDecision": "allow"' in ran.stdout, ran.stderr


def test_a_judge_that_cannot_start_blocks_the_call(state: Path) -> None:
    """Exit status 2 is the word for that."""
    broken = command(state, TASK).replace("koboshi.performers", "koboshi.nowhere")

    ran = subprocess.run(["/bin/sh", "-c", broken], input="{}", capture_output=True, text=True)  # noqa: PLW1510

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "could not be asked" in ran.stderr


def test_what_was_done_against_the_policy_is_found_afterwards(state: Path) -> None:
    """Codex tells of the shell that it used."""
    cwd = Firings(state).firing(TASK).cwd
    calls = [
        {"tool_name": "Bash", "tool_input": {"command": "/bin/bash -lc 'git push origin'"}},
        {"tool_name": "Bash", "tool_input": {"command": "/bin/bash -lc 'make install'"}},
    ]

    found = asyncio.run(breaches(calls, "codex", cwd))

    assert found == ("Bash `/bin/bash -lc 'git push origin'`: a person pushes",)
    report = broke(Report(task=TASK, state="finished", agent="codex"), found)
    assert (report.state, report.error) == ("failed", "policy")
    assert "a person pushes" in report.why


def test_a_policy_that_denies_every_file_takes_the_leave_to_write(
    state: Path, tmp_path: Path
) -> None:
    """By the flags of each CLI."""
    cwd = Firings(state).firing(TASK).cwd
    assert asyncio.run(options_for("codex", cwd)) == ("-s", "workspace-write")
    denied = '[[answers.rule]]\ndo = "deny"\ntool = "Write"\npath = "**"\n'
    (tmp_path / "config" / "koboshi.toml").write_text(denied, encoding="utf-8")

    assert asyncio.run(options_for("codex", cwd)) == ("-s", "read-only")
    assert asyncio.run(options_for("claude", cwd)) == ("--permission-mode", "default")


def test_a_denied_call_is_told_with_its_reason(state: Path) -> None:
    """The CLI names the tool; what the policy had said to it is beside the task."""
    said(state, "make install")
    said(state, "git push origin")
    said(state, "make test")
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.",
           "permission_denials": [{"tool_name": "Bash"}, {"tool_name": "Bash"},
                                  {"tool_name": "WebFetch"}]}  # fmt: skip
    seen = Finished(code=0, signal=None, seconds=1.0, lines=())
    firing = Firings(state).firing(TASK)

    report = judged(firing, seen, json.dumps(end), "", None, notes(state, TASK))

    assert report.denied == (
        "Bash `make install`: no rule speaks of it",
        "Bash `git push origin`: a person pushes",
        "WebFetch",
    )
    assert report.error == "permission_denied"


@pytest.mark.parametrize("cli", ["codex", "opencode"])
def test_a_denied_call_is_no_success_where_the_cli_does_not_tell(state: Path, cli: str) -> None:
    """What the hook wrote down counts; what it left to the CLI does not."""
    said(state, "make install")
    said(state, "git push origin")
    firing = replace(Firings(state).firing(TASK), agent=cli)
    ends = {
        "codex": {"type": "turn.completed", "usage": {}},
        "opencode": {"type": "step_finish", "part": {"reason": "stop"}},
    }
    seen = Finished(code=0, signal=None, seconds=1.0, lines=())

    report = judged(firing, seen, json.dumps(ends[cli]), "", None, notes(state, TASK))

    assert report.denied == ("Bash `git push origin`: a person pushes",)
    assert (report.state, report.error) == ("failed", "permission_denied")
    assert "a person pushes" in report.why


def test_opencode_is_answered_in_its_own_words(state: Path) -> None:
    """Its plug-in tells tool and arguments; what it tells otherwise is denied."""
    firing = Firings(state).firing(TASK)
    Firings(state).keep(replace(firing, agent="opencode"))
    asked = {"tool": "bash", "args": {"command": "git push origin"}}

    assert "a person pushes" in main(["", str(state), TASK], json.dumps(asked).encode())
    assert '"deny"' in main(["", str(state), TASK], b'{"tool": "bash"}')
