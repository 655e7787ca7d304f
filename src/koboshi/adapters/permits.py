"""How a headless run asks the owner's policy: a hook where its CLI has one, else not at all. Pure.

Tried with real CLIs:

- Claude Code fires `PreToolUse` in `-p`; `allow` and `deny` count there, and what was denied is in
  `permission_denials` of its result. Without a word its own rules decide, and nobody is asked.
- Codex runs a hook that a person has not looked at only with `--dangerously-bypass-hook-trust`,
  which would trust the project's hooks as well. So it has its sandbox, and what it did is judged
  afterwards (`doings.py`), as with the others.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .claude.equip import given_settings, read_settings
from .equipment import Equipment
from .values import member

EVENT = "PreToolUse"
#: Seconds for a word; a second opinion may take its time.
TIMEOUT = 60
#: What lets each CLI change files of its project without asking.
MAY_EDIT: Mapping[str, tuple[str, ...]] = {
    "claude": ("--permission-mode", "acceptEdits"),
    "codex": ("-s", "workspace-write"),
    "gemini": ("--approval-mode", "auto_edit"),
    "opencode": (),
}
#: What keeps each from it.
MAY_READ: Mapping[str, tuple[str, ...]] = {
    "claude": ("--permission-mode", "default"),
    "codex": ("-s", "read-only"),
    "gemini": ("--approval-mode", "default"),
    "opencode": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where a run finds who judges its calls."""

    command: str  #: a line for a shell: the call's JSON on stdin, a word on stdout
    folder: str  #: where a file of this run may be put
    cwd: str = ""
    texts: Mapping[str, str] | None = None  #: files by path, as far as there are


def asks_first(cli: str) -> bool:
    """Whether that CLI has its calls judged before they are made."""
    return cli == "claude"


def permitted(cli: str, program: tuple[str, ...], desk: Desk) -> Equipment:
    """The program with what has its calls judged; as it is, with a note, where it cannot be."""
    if not asks_first(cli):
        return Equipment(argv=program, note="its calls are judged after they were made")
    at, given = given_settings(program)
    theirs = read_settings(given, desk.cwd, desk.texts or {})
    if theirs is None:
        return Equipment(argv=program, note=f"--settings {given!r} cannot be read")
    path = posixpath.join(desk.folder, "claude-settings.json")
    rest = program if at is None else (*program[: at.start], *program[at.stop :])
    files = {path: json.dumps(_merged(theirs, desk.command), indent=1)}
    return Equipment(argv=(*rest, "--settings", path), files=files)


def _merged(theirs: dict[str, Any], command: str) -> dict[str, Any]:
    hooks = dict(member(theirs, "hooks"))
    before = hooks.get(EVENT)
    ours = {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT}]}
    hooks[EVENT] = [*(before if isinstance(before, list) else ()), ours]
    return {**theirs, "hooks": hooks}


def word(decision: str, why: str) -> str:
    """What the hook prints: `allow` or `deny`, and why; no word at all leaves it to the CLI."""
    said = {
        "hookEventName": EVENT,
        "permissionDecision": decision,
        "permissionDecisionReason": why,
    }
    return json.dumps({"hookSpecificOutput": said})
