"""Anthropic messages: what Claude Code speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.lab.model.protocols import Asked, Body, ToolResult, plain
from tests.lab.model.turns import Block, Call, Say, Think, Turn
from tests.lab.model.wire import Wire

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Anthropic:
    """POST /v1/messages, streamed or not, and its token counts."""

    name = "anthropic"

    def knows(self, path: str) -> bool:
        """The messages endpoint, and what lies below it."""
        return path.endswith(("/v1/messages", "/v1/messages/count_tokens"))

    def side(self, asked: Asked) -> Body | None:
        """A token count that nobody computes."""
        return {"input_tokens": 1200} if asked.path.endswith("/count_tokens") else None

    def told(self, body: Body) -> str:
        """The newest user message, tool results included."""
        mine = [m for m in body.get("messages", ()) if m.get("role") == "user"]
        return plain(mine[-1].get("content")) if mine else ""

    def results(self, body: Body) -> tuple[ToolResult, ...]:
        """Blocks of the type tool_result."""
        return tuple(
            ToolResult(id=block.get("tool_use_id", ""), text=plain(block.get("content")))
            for message in body.get("messages", ())
            if not isinstance(message.get("content"), str)
            for block in message.get("content", ())
            if block.get("type") == "tool_result"
        )

    def error(self, status: int, message: str) -> Body:
        """The error envelope."""
        kind = ERROR_TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def streamed(self, asked: Asked) -> bool:
        """Claude Code asks for events first, and for a whole answer when they broke off."""
        return bool(asked.body.get("stream"))

    def whole(self, asked: Asked, turn: Turn) -> Body:
        """One message."""
        content = [filled(asked, block, index) for index, block in enumerate(turn.blocks)]
        ending = {"content": content, "stop_reason": stop(turn), "usage": usage(turn)}
        return {**opening(asked), **ending}

    def stream(self, asked: Asked, wire: Wire) -> None:
        """The events of one message."""

        def send(kind: str, **rest: Any) -> None:  # noqa: ANN401
            wire.event({"type": kind, **rest}, kind)

        first = {**usage(wire.turn), "output_tokens": 1}
        send("message_start", message={**opening(asked), "usage": first})
        if broken := wire.broken():
            send("error", error={"type": broken.type, "message": broken.message})
            return
        for index, block in enumerate(wire.turn.blocks):
            send("content_block_start", index=index, content_block=empty(asked, block, index))
            for delta in deltas(block, wire):
                send("content_block_delta", index=index, delta=delta)
            send("content_block_stop", index=index)
        delta = {"stop_reason": stop(wire.turn), "stop_sequence": None}
        send("message_delta", delta=delta, usage=usage(wire.turn))
        send("message_stop")


def opening(asked: Asked) -> dict[str, Any]:
    """A message before it says anything."""
    return {
        "id": f"msg_{asked.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def usage(turn: Turn) -> dict[str, int]:
    """Tokens in this protocol's words."""
    return {
        "input_tokens": turn.usage.input,
        "output_tokens": turn.usage.output,
        "cache_creation_input_tokens": turn.usage.cache_write,
        "cache_read_input_tokens": turn.usage.cache_read,
    }


def stop(turn: Turn) -> str:
    """Why the message ended."""
    calls = any(isinstance(block, Call) for block in turn.blocks)
    return turn.stop or ("tool_use" if calls else "end_turn")


def empty(asked: Asked, block: Block, index: int) -> dict[str, Any]:
    """A block before its first delta."""
    match block:
        case Say():
            return {"type": "text", "text": ""}
        case Think():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Call():
            name = asked.call_id(block, index)
            return {"type": "tool_use", "id": name, "name": block.tool, "input": {}}


def filled(asked: Asked, block: Block, index: int) -> dict[str, Any]:
    """A block with all that is in it."""
    match block:
        case Say():
            inside: dict[str, Any] = {"text": block.text}
        case Think():
            inside = {"thinking": block.text, "signature": "c2ln"}
        case Call():
            inside = {"input": dict(block.input)}
    return {**empty(asked, block, index), **inside}


def deltas(block: Block, wire: Wire) -> Iterator[dict[str, Any]]:
    """What is added to a block, bit by bit."""
    match block:
        case Say():
            for word in wire.words(block.text):
                yield {"type": "text_delta", "text": word}
        case Think():
            for word in wire.words(block.text):
                yield {"type": "thinking_delta", "thinking": word}
            yield {"type": "signature_delta", "signature": "c2ln"}
        case Call():
            yield {"type": "input_json_delta", "partial_json": json.dumps(dict(block.input))}
