"""What each wire protocol must say for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.lab.model.turns import Call, Turn
from tests.lab.model.wire import Wire

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model was told about one of its calls."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as a protocol sees it."""

    number: int
    path: str
    body: Body

    def call_id(self, call: Call, index: int) -> str:
        """The id of a call: as scripted, or one that no other request has."""
        return call.id or f"call_{self.number:04d}_{index}"


class ModelProtocol(Protocol):
    """One wire protocol."""

    name: str

    def knows(self, path: str) -> bool:
        """Whether a request to that path is of this protocol."""
        ...

    def side(self, asked: Asked) -> Body | None:
        """The answer to what is no turn at all (token counts); None: it is one."""
        ...

    def told(self, body: Body) -> str:
        """The newest thing the model was told."""
        ...

    def results(self, body: Body) -> tuple[ToolResult, ...]:
        """All tool results in the request, oldest first."""
        ...

    def error(self, status: int, message: str) -> Body:
        """The body of an error answer."""
        ...

    def streamed(self, asked: Asked) -> bool:
        """Whether the answer is wanted as events."""
        ...

    def stream(self, asked: Asked, wire: Wire) -> None:
        """Write the turn as events."""
        ...

    def whole(self, asked: Asked, turn: Turn) -> Body:
        """The turn as one JSON value."""
        ...


def plain(content: object) -> str:
    """The text in a message, whatever its parts are called."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        inner = content.get("text", content.get("content", content.get("output", "")))
        return plain(inner)
    if isinstance(content, Sequence):
        return "\n".join(text for part in content if (text := plain(part)))
    return ""
