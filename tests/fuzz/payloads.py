"""Hook payloads that nobody would send: wrong types, half JSON, too much of it."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_KEYS = (
    *("hook_event_name", "session_id", "tool_name", "tool_input", "tool_use_id", "cwd"),
    *("permission_suggestions", "questions", "options", "label", "question", "multiSelect"),
    *("command", "file_path", "url", "plan", "source", "notification_type", "answers", "x"),
)
_WORDS = (
    *("PermissionRequest", "PreToolUse", "PostToolUse", "Stop", "Notification", "SessionStart"),
    *("Bash", "Edit", "Write", "WebFetch", "AskUserQuestion", "ExitPlanMode", "mcp__a__b", "s1"),
    *(
        "npm test",
        "rm -rf /",
        "/etc/passwd",
        "http://x/",
        "",
        "\x00",
        "\ud800",
        "\u202e",
        "é" * 300,
    ),
)


def value(random: Random, depth: int = 0) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Any JSON value, more often than not of a shape that comes close to a hook's."""
    dice = random.random()
    if depth > 3 or dice < 0.45:
        return random.choice(_WORDS)
    if dice < 0.60:
        return random.choice((None, True, False, 0, -1, 1e308, 10**30, 3.5))
    if dice < 0.75:
        return [value(random, depth + 1) for _ in range(random.randint(0, 3))]
    return fields(random, depth + 1)


def fields(random: Random, depth: int = 0) -> dict[str, Any]:
    """An object with some of the keys that hooks have."""
    return {random.choice(_KEYS): value(random, depth) for _ in range(random.randint(0, 5))}


def payload(random: Random) -> dict[str, Any]:
    """A payload: mostly a question, with something wrong in it."""
    made = fields(random)
    if random.random() < 0.7:
        made["hook_event_name"] = "PermissionRequest"
    if random.random() < 0.6:
        made["tool_name"] = random.choice(_WORDS)
    if random.random() < 0.6:
        made["tool_input"] = fields(random, 1)
    return made


def line(random: Random, told: dict[str, Any]) -> bytes:
    """What a shim might send of it, or somebody who pretends to be one."""
    envelope = {
        "kind": random.choice(("hook", "hook", "hook", "statusline", None)),
        "agent": random.choice(("a1", "a1", "a1", "a2", 1)),
        "run": random.choice((1, 1, 1, 0, -1, "1", None, 2**70)),
        "utc": random.choice((1.0, 1e12, "x", None, -1e308)),
        "waits": random.choice((True, True, False, 1)),
        "payload": told if random.random() < 0.95 else value(random),
    }
    text = json.dumps(envelope).encode()
    if random.random() < 0.15:
        cut = random.randrange(len(text))
        text = text[:cut] + random.choice((b"", b"\xff", b"\x00", b'"', b"}")) + text[cut + 1 :]
    return text + b"\n"
