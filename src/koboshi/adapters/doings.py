"""What a headless run did, by its own events: its calls in the words of a hook. Pure.

A CLI that asks nobody before a call can be judged after it: what it was never to do is found then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .headless import things

Payload = dict[str, Any]

_OPENCODE = {"bash": "Bash", "edit": "Edit", "write": "Write", "webfetch": "WebFetch"}


def doings(text: str, agent: str) -> tuple[Payload, ...]:
    """The calls that were made, as far as its events tell; a refused one was not."""
    tellers = {"codex": _codex, "gemini": _gemini, "opencode": _opencode}
    teller = tellers.get(agent)
    if teller is None:
        return ()
    return tuple(found for thing in things(text) for found in teller(thing))


def _call(tool: str, given: dict[str, Any]) -> Payload:
    return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given}


def _codex(thing: Payload) -> Iterator[Payload]:
    item = _dict(thing.get("item"))
    if thing.get("type") != "item.completed" or item.get("status") == "declined":
        return
    command, changes = item.get("command"), item.get("changes")
    if item.get("type") == "command_execution" and isinstance(command, str):
        yield _call("Bash", {"command": command})
    if item.get("type") == "file_change" and isinstance(changes, list):
        for change in changes:
            yield _call("Write", {"file_path": _dict(change).get("path")})


def _gemini(thing: Payload) -> Iterator[Payload]:
    tool = thing.get("tool_name")
    if thing.get("type") == "tool_use" and isinstance(tool, str):
        yield _call(tool, _dict(thing.get("parameters")))


def _opencode(thing: Payload) -> Iterator[Payload]:
    part = _dict(thing.get("part"))
    state, tool = _dict(part.get("state")), part.get("tool")
    if thing.get("type") != "tool_use" or not isinstance(tool, str):
        return
    if state.get("status") != "completed":
        return
    yield call_of("opencode", tool, _dict(state.get("input")))


def call_of(agent: str, tool: str, given: Payload) -> Payload:
    """A call of that CLI in the words of a hook."""
    if agent != "opencode":
        return _call(tool, given)
    path = {"file_path": given["filePath"]} if "filePath" in given else {}
    return _call(_OPENCODE.get(tool, tool), {**given, **path})


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
