"""OpenAI chat completions: what OpenCode speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.lab.model.protocols import Asked, Body, ToolResult, plain
from tests.lab.model.turns import Block, Call, Say, Think, Turn
from tests.lab.model.wire import Wire


class Chat:
    """POST /v1/chat/completions, streamed or not."""

    name = "chat"

    def knows(self, path: str) -> bool:
        """The completions endpoint."""
        return path.endswith("/chat/completions")

    def side(self, asked: Asked) -> Body | None:  # noqa: ARG002
        """Every request is a turn."""
        return None

    def told(self, body: Body) -> str:
        """The newest message."""
        messages = body.get("messages") or [{}]
        return plain(messages[-1].get("content"))

    def results(self, body: Body) -> tuple[ToolResult, ...]:
        """Messages of the role tool."""
        return tuple(
            ToolResult(id=message.get("tool_call_id", ""), text=plain(message.get("content")))
            for message in body.get("messages", ())
            if message.get("role") == "tool"
        )

    def error(self, status: int, message: str) -> Body:
        """The error envelope."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def streamed(self, asked: Asked) -> bool:
        """As the request says."""
        return bool(asked.body.get("stream"))

    def whole(self, asked: Asked, turn: Turn) -> Body:
        """One completion."""
        texts = [block.text for block in turn.blocks if isinstance(block, Say)]
        message: dict[str, Any] = {"role": "assistant", "content": "".join(texts)}
        if calls := tool_calls(asked, turn):
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": stop(turn)}
        rest = {"object": "chat.completion", "choices": [choice], "usage": usage(turn)}
        return {**opening(asked), **rest}

    def stream(self, asked: Asked, wire: Wire) -> None:
        """The chunks of one completion."""

        def send(delta: dict[str, Any], finish: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            wire.event({**opening(asked), "choices": [choice]})

        send({"role": "assistant", "content": ""})
        if broken := wire.broken():
            wire.event({"error": {"message": broken.message, "type": broken.type}})
            return
        for block in wire.turn.blocks:
            for delta in deltas(block, wire):
                send(delta)
        for index, made in enumerate(tool_calls(asked, wire.turn)):
            send({"tool_calls": [{"index": index, **made}]})
        send({}, stop(wire.turn))
        wire.event({**opening(asked), "choices": [], "usage": usage(wire.turn)})
        wire.event("[DONE]")


def opening(asked: Asked) -> dict[str, Any]:
    """What every chunk carries."""
    return {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": asked.body.get("model"),
    }


def usage(turn: Turn) -> dict[str, Any]:
    """Tokens in this protocol's words."""
    told = turn.usage.input + turn.usage.cache_read
    return {
        "prompt_tokens": told,
        "completion_tokens": turn.usage.output,
        "total_tokens": told + turn.usage.output,
        "prompt_tokens_details": {"cached_tokens": turn.usage.cache_read},
    }


def stop(turn: Turn) -> str:
    """Why the completion ended."""
    calls = any(isinstance(block, Call) for block in turn.blocks)
    return turn.stop or ("tool_calls" if calls else "stop")


def tool_calls(asked: Asked, turn: Turn) -> list[dict[str, Any]]:
    """The calls of a turn, whole."""
    return [
        {
            "id": asked.call_id(block, index),
            "type": "function",
            "function": {"name": block.tool, "arguments": json.dumps(dict(block.input))},
        }
        for index, block in enumerate(turn.blocks)
        if isinstance(block, Call)
    ]


def deltas(block: Block, wire: Wire) -> Iterator[dict[str, Any]]:
    """What is added to the message, word by word; calls come whole, after the text."""
    match block:
        case Say():
            for word in wire.words(block.text):
                yield {"content": word}
        case Think():
            for word in wire.words(block.text):
                yield {"reasoning_content": word}
        case Call():
            return
