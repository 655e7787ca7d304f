"""How a headless run asks the owner's policy: a hook where its CLI has one, else not at all. Pure.

Tried with real CLIs:

- Claude Code fires `PreToolUse` in `-p`; `allow` and `deny` count there, and what was denied is in
  `permission_denials` of its result. Without a word its own rules decide, and nobody is asked.
- `codex exec` runs a hook that came with the command line when its digest came, too (codex/equip),
  and `deny` counts. One whose digest it does not know is passed over in silence, so nothing is lost
  with another version. What wants out of its sandbox is rejected before any hook.
- OpenCode has plug-ins: one that raises before a call is the call's result. Its own permissions
  decide about the rest.
- Gemini CLI takes hooks from files of the person's or of the project's alone, and system settings
  only from a folder of root's. Without a person it has no shell at all.

What was done is judged afterwards, too (`doings.py`): whatever kept a hook from being asked.
"""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .claude.equip import given_settings, read_settings
from .codex.equip import hooks_option, sets_hooks
from .doings import call_of
from .equipment import Equipment
from .opencode.plugin import CONTENT, PERMIT, with_plugin
from .values import member
from .words import extended

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
    env: Mapping[str, str] = field(default_factory=dict)  #: of the run, before anything is added


def permitted(cli: str, program: tuple[str, ...], desk: Desk) -> Equipment:
    """The program with what has its calls judged; as it is, with a note, where it cannot be."""
    ways: Mapping[str, Callable[[tuple[str, ...], Desk], Equipment]] = {
        "claude": _claude,
        "codex": _codex,
        "opencode": _opencode,
    }
    if cli not in ways:
        return Equipment(argv=program, note="its calls are judged after they were made")
    return ways[cli](program, desk)


def payload_of(cli: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """What that CLI's hook told, in the words of Claude Code's."""
    if cli != "opencode":
        return dict(value)
    tool, given = value.get("tool"), value.get("args")
    if not isinstance(tool, str) or not isinstance(given, dict):
        return {}
    return call_of(cli, tool, given)


def _claude(program: tuple[str, ...], desk: Desk) -> Equipment:
    at, given = given_settings(program)
    theirs = read_settings(given, desk.cwd, desk.texts or {})
    if theirs is None:
        return Equipment(argv=program, note=f"--settings {given!r} cannot be read")
    path = posixpath.join(desk.folder, "claude-settings.json")
    rest = program if at is None else (*program[: at.start], *program[at.stop :])
    files = {path: json.dumps(_merged(theirs, desk.command), indent=1)}
    return Equipment(argv=(*rest, "--settings", path), files=files)


def _codex(program: tuple[str, ...], desk: Desk) -> Equipment:
    if sets_hooks(program):
        note = "its command line has hooks of its own: its calls are judged after they were made"
        return Equipment(argv=program, note=note)
    path = posixpath.join(desk.folder, "permit.sh")
    # In words that each shell understands: it is the user's own that runs them.
    hook = {"type": "command", "command": shlex.join(("sh", path)), "timeout": TIMEOUT}
    argv = extended(program, hooks_option({EVENT: {**hook, "async": False}}))
    return Equipment(argv=argv, files={path: f"{desk.command}\n"})


def _opencode(program: tuple[str, ...], desk: Desk) -> Equipment:
    path, plugin = (posixpath.join(desk.folder, name) for name in ("permit.sh", "permit.js"))
    content = with_plugin(desk.env.get(CONTENT, ""), plugin)
    if content is None:
        note = f"{CONTENT} cannot be read: its calls are judged after they were made"
        return Equipment(argv=program, note=note)
    files = {path: f"{desk.command}\n", plugin: PERMIT.replace("PATH", json.dumps(path))}
    return Equipment(argv=program, env={CONTENT: content}, files=files)


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
