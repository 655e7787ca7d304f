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


def latest(text: str, agent: str) -> Payload | None:
    """The last call that it began, as far as the end of its output tells; None: none yet."""
    tellers = {"claude": _claude_begun, "scripted": _claude_begun, "codex": _codex_begun}
    teller = tellers.get(agent) or {"gemini": _gemini, "opencode": _opencode}.get(agent)
    if teller is None:
        return None
    begun = [call for thing in things(text) for call in teller(thing)]
    return begun[-1] if begun else None


def _claude_begun(thing: Payload) -> Iterator[Payload]:
    content = _dict(thing.get("message")).get("content")
    for block in content if isinstance(content, list) else ():
        known = _dict(block)
        tool = known.get("name")
        if known.get("type") == "tool_use" and isinstance(tool, str):
            yield _call(tool, _dict(known.get("input")))


def _codex_begun(thing: Payload) -> Iterator[Payload]:
    if thing.get("type") == "item.started":
        thing = {**thing, "type": "item.completed"}
    yield from _codex(thing)


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
