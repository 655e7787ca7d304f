"""What a Codex session was about, from its rollout.

A call is written down when the model asks for it, its output when it is over: what has none when
the process dies may have run. The turn that goes on afterwards is told `aborted` by Codex itself,
which says neither that it began nor what still runs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from koboshi.adapters.story import Story, Written
from koboshi.adapters.values import member, members, object_in, word

#: Where a turn begins or ends no call of the one before is open.
_TURNS = ("task_started", "task_complete", "turn_aborted")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
#: Lines that say in which folder the turn works.
_FOLDERS = ("session_meta", "turn_context")
#: How a command line is handed to a shell; and what of a call is put in other words.
_SHELLED = ("bash", ("-c", "-lc"), "line")
_OURS = ("cmd", "command", "workdir")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


@dataclass(slots=True)
class _Found:
    request: str = ""
    reply: str = ""
    cwd: str = ""
    open: dict[str, tuple[str, Written]] = field(default_factory=dict)


def read_story(lines: Iterable[bytes]) -> Story:
    """The last request, the last answer, and the calls without an output."""
    found = _Found()
    for line in lines:
        entry = object_in(line)
        payload = member(entry, "payload")
        if entry.get("type") == "event_msg":
            _happened(found, payload)
        elif entry.get("type") == "response_item":
            _called(found, payload)
        elif entry.get("type") in _FOLDERS:
            found.cwd = word(payload, "cwd") or found.cwd
    return Story(
        request=found.request,
        reply=found.reply,
        calls=tuple(told for told, _ in found.open.values()),
        pending=tuple(call for _, call in found.open.values()),
    )


def _happened(found: _Found, payload: dict[str, Any]) -> None:
    kind, item = word(payload, "type"), member(payload, "item")
    if kind in _TURNS:
        found.open.clear()
        found.reply = word(payload, "last_agent_message") or found.reply
    elif kind == "item_completed":
        said = "\n".join(filter(None, (word(each, "text") for each in members(item, "content"))))
        if word(item, "type") == "UserMessage":
            found.request = said or found.request
        elif word(item, "type") == "AgentMessage":
            found.reply = said or found.reply
    elif kind == "user_message":
        found.request = word(payload, "message") or found.request
    elif kind == "agent_message":
        found.reply = word(payload, "message") or found.reply


def _called(found: _Found, payload: dict[str, Any]) -> None:
    kind, call = word(payload, "type"), word(payload, "call_id")
    if kind in _OUTPUTS:
        found.open.pop(call, None)
    elif kind in _CALLS:
        given = object_in(word(payload, "arguments").encode(errors="replace"))
        given = given or member(payload, "action")
        told = f"{word(payload, 'name')} {_command(given)}".strip()
        found.open[call] = told, _written(payload, given, found.cwd)


def _written(payload: dict[str, Any], given: dict[str, Any], cwd: str) -> Written:
    """The call, with the line that a shell gets as `command` and the folder as its own."""
    if "input" in payload:
        return Written(tool=word(payload, "name"), given={"input": word(payload, "input")}, cwd=cwd)
    where = given.get("workdir")
    folder = posixpath.join(cwd, where) if cwd and isinstance(where, str) and where else cwd
    rest = {key: value for key, value in given.items() if key not in _OURS}
    line = given.get("cmd", given.get("command"))
    if isinstance(line, list) and len(line) == len(_SHELLED) and line[1] in _SHELLED[1]:
        line = line[2]  # what the dialog shows
    given = rest if line is None else {**rest, "command": line}
    right = where is None or isinstance(where, str)
    return Written(tool=word(payload, "name"), given=given, cwd=folder if right else "")


def _command(given: dict[str, Any]) -> str:
    """What it runs, where that can be told in a line."""
    command = given.get("cmd") or given.get("command")
    if isinstance(command, list):
        return " ".join(each for each in command if isinstance(each, str))
    return command if isinstance(command, str) else ""
