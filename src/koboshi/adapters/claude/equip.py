"""What a run of Claude Code is given: one settings file of its own, through `--settings`.

Settings given that way are added to the user's: hooks of all files run, but only one status line is
shown. The user's own is therefore called by ours, with the same input.

What a run is to know from the start goes in by a hook, too: it is the one thing that Claude Code
waits for, and it asks again after `/clear` and after a compaction, with another source.
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any

from koboshi.adapters.equipment import BRIEF, Equipment
from koboshi.adapters.values import member, object_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from koboshi.adapters.equipment import Kit

#: What tells of a run: its sessions, its turns, its questions. All known to 2.1.197 and later.
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "PreCompact",
    "Stop",
    "StopFailure",
    "SessionEnd",
)
#: Seconds after which Claude Code gives up on a hook; the shim takes a hundredth of a second.
TIMEOUT = 5
#: The one that may answer, and is waited for; its dialog is open meanwhile. The shim and who
#: listens to it give up long before.
ASKS, ASKS_TIMEOUT = "PermissionRequest", 90
_OPTION = "--settings"


def equip(argv: tuple[str, ...], kit: Kit) -> Equipment:
    """The run with hooks and a status line that reach us, or as it is with a note."""
    at, given = given_settings(argv)
    theirs = read_settings(given, kit.cwd, kit.texts)
    if theirs is None:
        return Equipment(argv=argv, note=f"not equipped: {_OPTION} {given!r} cannot be read")
    path = posixpath.join(kit.folder, "claude-settings.json")
    files = {path: json.dumps(_merged(theirs, kit), indent=1)}
    if kit.brief:
        files[_brief_path(kit)] = _told_at_start(kit.brief)
    rest = argv if at is None else (*argv[: at.start], *argv[at.stop :])
    return Equipment(argv=(*rest, _OPTION, path), env=kit.env, files=files)


def _brief_path(kit: Kit) -> str:
    return posixpath.join(kit.folder, BRIEF)


def _told_at_start(brief: str) -> str:
    """What a hook prints so that the model is told that."""
    told = {"hookEventName": "SessionStart", "additionalContext": brief}
    return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)


def config_folder(env: Mapping[str, str]) -> str:
    """Where Claude Code keeps what is the user's; empty when the environment does not say."""
    home = env.get("HOME", "")
    return env.get("CLAUDE_CONFIG_DIR") or (posixpath.join(home, ".claude") if home else "")


def given_settings(argv: tuple[str, ...]) -> tuple[slice | None, str]:
    """Where the user's own option stands, and its value; the last one counts."""
    for index in range(len(argv) - 1, -1, -1):
        if argv[index] == _OPTION and index + 1 < len(argv):
            return slice(index, index + 2), argv[index + 1]
        if argv[index].startswith(f"{_OPTION}="):
            return slice(index, index + 1), argv[index].partition("=")[2]
    return None, ""


def read_settings(given: str, cwd: str, texts: Mapping[str, str]) -> dict[str, Any] | None:
    """The settings that the user gave, as JSON or as a file; None when they cannot be read."""
    if not given:
        return {}
    inline = given.lstrip().startswith("{")
    text = given if inline else texts.get(posixpath.join(cwd, given), "")
    return object_in(text.encode(errors="replace")) or None


def _text(path: str, kit: Kit) -> str:
    return kit.texts.get(path, "")


def _merged(theirs: dict[str, Any], kit: Kit) -> dict[str, Any]:
    hooks = dict(member(theirs, "hooks"))
    # In the background: not even a machine under load makes the agent wait for us.
    ours = {"type": "command", "command": kit.command(), "timeout": TIMEOUT, "async": True}
    if kit.url:
        ours = {"type": "http", "url": kit.url, "timeout": TIMEOUT}
    asks = {**ours, "timeout": ASKS_TIMEOUT}
    if not kit.url:
        asks = {"type": "command", "command": kit.command("ask"), "timeout": ASKS_TIMEOUT}
    for event in EVENTS:
        before = hooks.get(event)
        entry = {"hooks": [asks if event == ASKS else ours]}
        hooks[event] = [*(before if isinstance(before, list) else ()), entry]
    if kit.brief:
        told = {"type": "command", "command": kit.command("brief", _brief_path(kit))}
        brief = {"matcher": "startup", "hooks": [{**told, "timeout": TIMEOUT}]}
        hooks["SessionStart"] = [*hooks["SessionStart"], brief]
    line = _user_line(theirs, kit)
    command = line.get("command")
    words = ("statusline", command) if isinstance(command, str) and command else ("statusline",)
    shown = {**line, "type": "command", "command": kit.command(*words)}
    # The left arrow on an empty box would move the run into a background process of its own.
    return {"disableAgentView": True, **theirs, "hooks": hooks, "statusLine": shown}


def _user_line(theirs: dict[str, Any], kit: Kit) -> dict[str, Any]:
    """The status line that Claude Code would show without us."""
    project = posixpath.join(kit.cwd, ".claude")
    files = [
        posixpath.join(project, "settings.local.json"),
        posixpath.join(project, "settings.json"),
    ]
    if config := config_folder(kit.around):
        files.append(posixpath.join(config, "settings.json"))
    places = [theirs, *(object_in(_text(path, kit).encode(errors="replace")) for path in files)]
    return next((line for place in places if (line := member(place, "statusLine"))), {})
