"""OpenAI responses: what Codex speaks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.lab.model.protocols import Asked, Body, ToolResult, plain
from tests.lab.model.turns import Block, Call, Say, Think, Turn
from tests.lab.model.wire import Wire


class Responses:
    """POST /v1/responses, always streamed, and its compaction."""

    name = "responses"

    def knows(self, path: str) -> bool:
        """The responses endpoint, and its compaction."""
        return path.endswith(("/responses", "/responses/compact"))

    def side(self, asked: Asked) -> Body | None:
        """A summary."""
        if not asked.path.endswith("/compact"):
            return None
        part = {"type": "input_text", "text": "Scripted summary."}
        return {"output": [{"type": "message", "role": "user", "content": [part]}]}

    def told(self, body: Body) -> str:
        """The newest item of the input."""
        items = body.get("input") or ""
        return items if isinstance(items, str) else plain(items[-1])

    def results(self, body: Body) -> tuple[ToolResult, ...]:
        """Items whose type ends in call_output."""
        items = body.get("input") or ()
        return tuple(
            ToolResult(id=item.get("call_id", ""), text=plain(item.get("output")))
            for item in (() if isinstance(items, str) else items)
            if item.get("type", "").endswith("call_output")
        )

    def error(self, status: int, message: str) -> Body:
        """The error envelope."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def streamed(self, asked: Asked) -> bool:  # noqa: ARG002
        """Codex takes nothing else."""
        return True

    def whole(self, asked: Asked, turn: Turn) -> Body:
        """One response."""
        items = [filled(asked, block, index) for index, block in enumerate(turn.blocks)]
        ending = {"status": "completed", "output": items, "usage": usage(turn)}
        return {**opening(asked), **ending}

    def stream(self, asked: Asked, wire: Wire) -> None:
        """The events of one response."""
        numbers = itertools.count()

        def send(kind: str, **rest: Any) -> None:  # noqa: ANN401
            wire.event({"type": kind, "sequence_number": next(numbers), **rest}, kind)

        response = opening(asked)
        send("response.created", response=response)
        if broken := wire.broken():
            error = {"code": broken.type, "message": broken.message}
            send("response.failed", response={**response, "status": "failed", "error": error})
            return
        for index, block in enumerate(wire.turn.blocks):
            item = filled(asked, block, index)
            send("response.output_item.added", output_index=index, item=begun(item))
            for kind, delta in deltas(block, wire):
                send(kind, item_id=item["id"], output_index=index, **delta)
            send("response.output_item.done", output_index=index, item=item)
        send("response.completed", response=self.whole(asked, wire.turn))


def opening(asked: Asked) -> dict[str, Any]:
    """A response before it says anything."""
    return {
        "id": f"resp_{asked.number:06d}",
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "model": asked.body.get("model"),
        "output": [],
        "usage": None,
    }


def usage(turn: Turn) -> dict[str, Any]:
    """Tokens in this protocol's words."""
    told = turn.usage.input + turn.usage.cache_read
    return {
        "input_tokens": told,
        "input_tokens_details": {"cached_tokens": turn.usage.cache_read},
        "output_tokens": turn.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": told + turn.usage.output,
    }


def filled(asked: Asked, block: Block, index: int) -> dict[str, Any]:
    """An item with all that is in it."""
    name = f"item_{asked.number}_{index}"
    match block:
        case Say():
            part = {"type": "output_text", "text": block.text, "annotations": []}
            return {
                "id": name,
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        case Think():
            summary = [{"type": "summary_text", "text": block.text}]
            return {"id": name, "type": "reasoning", "summary": summary}
        case Call():
            return {
                "id": name,
                "type": "function_call",
                "status": "completed",
                "call_id": asked.call_id(block, index),
                **named(block.tool),
                "arguments": json.dumps(dict(block.input)),
            }


def named(tool: str) -> dict[str, str]:
    """A tool by its name; one of a server is in that server's own space of names."""
    space, _, name = tool.rpartition("__")
    return {"namespace": space, "name": name} if space.startswith("mcp__") else {"name": tool}


def begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item before its first delta."""
    hollow = {"content": [], "summary": [], "arguments": "", "status": "in_progress"}
    return {**item, **{key: value for key, value in hollow.items() if key in item}}


def deltas(block: Block, wire: Wire) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is added to an item, bit by bit, each with the name of its event."""
    match block:
        case Say():
            for word in wire.words(block.text):
                yield "response.output_text.delta", {"content_index": 0, "delta": word}
        case Think():
            part = {"summary_index": 0, "part": {"type": "summary_text", "text": ""}}
            yield "response.reasoning_summary_part.added", part
            for word in wire.words(block.text):
                delta = {"summary_index": 0, "delta": word}
                yield "response.reasoning_summary_text.delta", delta
        case Call():
            arguments = {"delta": json.dumps(dict(block.input))}
            yield "response.function_call_arguments.delta", arguments
