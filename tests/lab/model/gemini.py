"""Gemini generate-content: what Gemini CLI speaks."""

from __future__ import annotations

import json
from typing import Any

from tests.lab.model.protocols import Asked, Body, ToolResult, plain
from tests.lab.model.turns import Block, Call, Say, Think, Turn
from tests.lab.model.wire import Wire

STATES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
#: Side requests (router, next speaker) want JSON; these keys answer all of them.
VERDICT = {
    "reasoning": "scripted",
    "model_choice": "pro",
    "next_speaker": "user",
    "complexity_reasoning": "scripted",
    "complexity_score": 50,
}


class Gemini:
    """POST …:generateContent, …:streamGenerateContent, …:countTokens."""

    name = "gemini"

    def knows(self, path: str) -> bool:
        """The methods of a model."""
        return path.endswith((":generateContent", ":streamGenerateContent", ":countTokens"))

    def side(self, asked: Asked) -> Body | None:
        """A token count that nobody computes, and verdicts in JSON."""
        if asked.path.endswith(":countTokens"):
            return {"totalTokens": 1200}
        wanted = asked.body.get("generationConfig", {}).get("responseMimeType", "")
        if "json" in wanted and not asked.body.get("tools"):
            return chunk([{"text": json.dumps(VERDICT)}], Turn(), finish="STOP")
        return None

    def told(self, body: Body) -> str:
        """The newest content."""
        contents = body.get("contents") or [{}]
        return plain(contents[-1].get("parts"))

    def results(self, body: Body) -> tuple[ToolResult, ...]:
        """Parts that are a functionResponse."""
        return tuple(
            ToolResult(
                id=part["functionResponse"].get("id", ""),
                text=json.dumps(part["functionResponse"].get("response")),
            )
            for content in body.get("contents", ())
            for part in content.get("parts", ())
            if "functionResponse" in part
        )

    def error(self, status: int, message: str) -> Body:
        """The error envelope."""
        state = STATES.get(status, "UNKNOWN")
        return {"error": {"code": status, "message": message, "status": state}}

    def streamed(self, asked: Asked) -> bool:
        """The method says it."""
        return asked.path.endswith(":streamGenerateContent")

    def whole(self, asked: Asked, turn: Turn) -> Body:
        """One content."""
        parts = [part(asked, block, index) for index, block in enumerate(turn.blocks)]
        return chunk(parts, turn, finish=stop(turn))

    def stream(self, asked: Asked, wire: Wire) -> None:
        """The chunks of one content."""
        if broken := wire.broken():
            wire.event({"error": {"message": broken.message, "status": broken.type}})
            return
        for index, block in enumerate(wire.turn.blocks):
            if isinstance(block, Call):
                wire.event(chunk([part(asked, block, index)], wire.turn))
                continue
            for word in wire.words(block.text):
                thought = {"thought": True} if isinstance(block, Think) else {}
                wire.event(chunk([{"text": word, **thought}], wire.turn))
        wire.event(chunk([{"text": ""}], wire.turn, finish=stop(wire.turn)))


def part(asked: Asked, block: Block, index: int) -> dict[str, Any]:
    """A block as a part."""
    match block:
        case Say():
            return {"text": block.text}
        case Think():
            return {"text": block.text, "thought": True}
        case Call():
            made = {"name": block.tool, "args": dict(block.input)}
            return {"functionCall": {**made, "id": asked.call_id(block, index)}}


def chunk(parts: list[dict[str, Any]], turn: Turn, *, finish: str = "") -> dict[str, Any]:
    """One answer, or one piece of a streamed one."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    told = turn.usage.input + turn.usage.cache_read
    usage = {
        "promptTokenCount": told,
        "candidatesTokenCount": turn.usage.output,
        "totalTokenCount": told + turn.usage.output,
        "cachedContentTokenCount": turn.usage.cache_read,
    }
    return {"candidates": [candidate], "usageMetadata": usage, "responseId": "scripted"}


def stop(turn: Turn) -> str:
    """Why the content ended."""
    return turn.stop or "STOP"
