"""The scripted model's protocols as a client speaks them, for the tests of the model itself."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.lab.model.server import Model

TOOLS = [{"name": "tool"}]
GEMINI = "/v1beta/models/gemini-2.5-pro"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """How one protocol is asked, and where its answers stand."""

    name: str
    path: str
    body: Mapping[str, Any]
    whole: str = ""  #: path for an answer in one piece, when that is another one
    streams: Mapping[str, Any] | None = None  #: added to the body to have events


SPEECHES = (
    Speech(
        name="anthropic",
        path="/v1/messages",
        body={"messages": [{"role": "user", "content": "Hello"}], "tools": TOOLS},
        streams={"stream": True},
    ),
    Speech(
        name="responses",
        path="/v1/responses",
        body={"input": [{"role": "user", "content": "Hello"}], "tools": TOOLS},
    ),
    Speech(
        name="chat",
        path="/v1/chat/completions",
        body={"messages": [{"role": "user", "content": "Hello"}], "tools": TOOLS},
        streams={"stream": True},
    ),
    Speech(
        name="gemini",
        path=f"{GEMINI}:streamGenerateContent",
        whole=f"{GEMINI}:generateContent",
        body={"contents": [{"role": "user", "parts": [{"text": "Hello"}]}], "tools": TOOLS},
    ),
)


class Line:
    """Asks a model, and hangs up at the end."""

    def __init__(self, model: Model) -> None:
        self._address = urlsplit(model.url)
        self._open: list[http.client.HTTPConnection | http.client.HTTPResponse] = []

    def post(
        self, path: str, body: Mapping[str, Any], *, seconds: float = 10, **headers: str
    ) -> http.client.HTTPResponse:
        """Send a request; the answer is not read yet."""
        host, port = self._address.hostname, self._address.port
        assert host is not None
        connection = http.client.HTTPConnection(host, port, timeout=seconds)
        self._open.append(connection)
        content = json.dumps(body).encode()
        if headers.get("content_encoding") == "gzip":
            content = gzip.compress(content)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", path, content, {"content-type": "application/json", **named})
        self._open.append(answer := connection.getresponse())
        return answer

    def streamed(self, speech: Speech, *, seconds: float = 10) -> http.client.HTTPResponse:
        """Ask for events."""
        body = {**speech.body, **(speech.streams or {})}
        return self.post(speech.path, body, seconds=seconds)

    def hurry(self, seconds: float) -> None:
        """From now on no answer may be silent for longer than that."""
        for opened in self._open:
            if isinstance(opened, http.client.HTTPConnection) and opened.sock is not None:
                opened.sock.settimeout(seconds)

    def close(self) -> None:
        """Hang up."""
        for opened in self._open:
            opened.close()


def events(answer: http.client.HTTPResponse) -> Iterator[Any]:
    """The events of an answer, as they come."""
    for line in answer:
        text = line.decode().strip()
        if text.startswith("data: ") and text != "data: [DONE]":
            yield json.loads(text.removeprefix("data: "))


def strings(value: object, keys: frozenset[str]) -> Iterator[str]:
    """All strings under these keys, however deep."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str):
                yield inner
            else:
                yield from strings(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, keys)


def heard(event: Any) -> str:  # noqa: ANN401
    """The text that one event of a stream adds."""
    if str(event.get("type", "")).endswith(("item.done", "item.added", ".completed")):
        return ""  # these repeat what was streamed
    return "".join(strings(event, frozenset({"text", "content", "delta"})))
