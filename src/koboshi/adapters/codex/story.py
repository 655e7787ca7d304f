"""What a Codex session was about, from its rollout."""

from __future__ import annotations

from collections.abc import Iterable

from koboshi.adapters.story import Story
from koboshi.adapters.values import member, object_in, word


def read_story(lines: Iterable[bytes]) -> Story:
    """The last request and the last answer."""
    request = reply = ""
    for line in lines:
        entry = object_in(line)
        payload = member(entry, "payload")
        if entry.get("type") != "event_msg":
            continue
        if word(payload, "type") == "user_message":
            request = word(payload, "message") or request
        elif word(payload, "type") == "agent_message":
            reply = word(payload, "message") or reply
    return Story(request=request, reply=reply)
