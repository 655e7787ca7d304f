"""The scripted model: a server on loopback that answers from a queue and keeps what it was told.

    with Model() as model:
        model.expect(call("Bash", command="date"), say("Done."))
        ...                     # a CLI that was started with model.url
        assert len(model.results) == 1

Start reading here; `turns.py` lists what can be queued.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.lab.model.anthropic import Anthropic
from tests.lab.model.chat import Chat
from tests.lab.model.gemini import Gemini
from tests.lab.model.protocols import Asked, ModelProtocol, ToolResult
from tests.lab.model.responses import Responses
from tests.lab.model.turns import EVER, Drop, Refuse, Say, Turn, say
from tests.lab.model.wire import Cut, Wire

PROTOCOLS: tuple[ModelProtocol, ...] = (Anthropic(), Responses(), Chat(), Gemini())

#: What the real servers say, as far as the CLIs look at it.
MESSAGES = {
    401: "invalid x-api-key",
    429: "This request would exceed your rate limit.",
    500: "Internal server error",
    529: "Overloaded",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request the server got; `main` ones carry tools, others ask for titles and the like."""

    number: int
    at: float
    protocol: str
    path: str
    main: bool
    told: str
    results: tuple[ToolResult, ...]
    body: Mapping[str, Any]


class Model:
    """A context manager: the server runs inside it, on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        #: What it says, by what it was told, when nothing is queued: a mind of its own.
        self.improvise: Callable[[str], Turn] | None = None
        self.dead = False  #: whoever asks finds the connection reset
        self._guard = threading.Lock()
        self._queue: list[Turn] = []
        self._log: list[Request] = []
        self._given: dict[str, tuple[int, Turn]] = {}  #: by request: its number and its turn
        self._delivered: set[int] = set()
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), answering(self._take, self._had))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
        self._server.shutdown()
        self._thread.join()
        self._server.socket.close()  # not server_close(): it would wait for answers that hang

    # -- for tests -----------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def expect(self, *turns: Turn) -> None:
        """Queue turns, first in, first out; with nothing queued it says "Scripted reply N."."""
        with self._guard:
            self._queue.extend(turns)

    def forget(self) -> None:
        """Empty the queue."""
        with self._guard:
            self._queue.clear()

    def release(self) -> None:
        """Let everything that hangs go on; what is asked later hangs again."""
        released, self._released = self._released, threading.Event()
        released.set()

    def let_go(self) -> None:
        """Let everything that hangs go on, now and later."""
        self._released.set()

    @property
    def requests(self) -> tuple[Request, ...]:
        """All requests, oldest first."""
        with self._guard:
            return tuple(self._log)

    @property
    def asked(self) -> tuple[Request, ...]:
        """The main requests: those of the agent's turns."""
        return tuple(request for request in self.requests if request.main)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """All tool results that the newest main request tells of."""
        asked = self.asked
        return asked[-1].results if asked else ()

    @property
    def waiting(self) -> int:
        """Turns that are still queued."""
        with self._guard:
            return len(self._queue)

    # -- for the server's threads --------------------------------------------------------------

    def _take(
        self, protocol: ModelProtocol, path: str, body: Mapping[str, Any]
    ) -> tuple[Asked, Turn, threading.Event]:
        """Log a request and find its turn."""
        told, main = protocol.told(body), bool(body.get("tools"))
        with self._guard:
            asked = Asked(number=len(self._log) + 1, path=path, body=body)
            self._log.append(
                Request(
                    number=asked.number,
                    at=time.time(),
                    protocol=protocol.name,
                    path=path,
                    main=main,
                    told=told,
                    results=protocol.results(body),
                    body=body,
                )
            )
            if self.dead:
                return asked, Turn(trouble=Drop(reset=True)), self._released
            if protocol.side(asked) is not None:
                return asked, Turn(), self._released
            return asked, self._turn(asked, told, main=main), self._released

    def _turn(self, asked: Asked, told: str, *, main: bool) -> Turn:
        """The next turn; the same request sent again has the one that it had, unless that failed.

        A CLI that lost its patience with a good answer asks again, also without a stream. It would
        take the turn of whoever comes next, who may be another run.
        """
        key = again(asked.body)
        number, known = self._given.get(key, (0, None))
        if main and known is not None and (number not in self._delivered or named(asked.body)):
            self._given[key] = (asked.number, known)
            return known
        turn = self._next(told, main=main, number=asked.number)
        if main and turn.trouble is None:
            self._given[key] = (asked.number, turn)
        return turn

    def _had(self, asked: Asked) -> None:
        """That answer went out whole."""
        with self._guard:
            self._delivered.add(asked.number)

    def _next(self, told: str, *, main: bool, number: int) -> Turn:
        for index, turn in enumerate(self._queue):
            found = re.search(turn.match, told)
            if turn.side is main or found is None:
                continue
            if turn.times == 1:
                del self._queue[index]
            elif turn.times != EVER:
                self._queue[index] = replace(turn, times=turn.times - 1)
            return quoting(turn, found)
        if main and self.improvise is not None:
            return self.improvise(told)
        return say(f"Scripted reply {number}." if main else "Scripted title")


def again(body: Mapping[str, Any]) -> str:
    """What is the same when a request is sent again, streamed or not."""
    how = ("stream", "stream_options")
    kept = {name: value for name, value in body.items() if name not in how}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def named(body: Mapping[str, Any]) -> bool:
    """Whether a request says whose it is; without that another run may say the same words."""
    return bool(body.get("metadata") or body.get("prompt_cache_key"))


def quoting(turn: Turn, found: re.Match[str]) -> Turn:
    """The turn with what it quotes of the request filled in, a group of its match each."""
    blocks = tuple(
        Say(text=found.expand(block.text)) if turn.match and isinstance(block, Say) else block
        for block in turn.blocks
    )
    return replace(turn, blocks=blocks)


Take = Callable[[ModelProtocol, str, Mapping[str, Any]], tuple[Asked, Turn, threading.Event]]
Had = Callable[[Asked], None]


def answering(take: Take, had: Had) -> type[BaseHTTPRequestHandler]:
    """The class that answers HTTP requests with the turns that `take` gives out."""

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Silence: the log is `Model.requests`."""

        def do_HEAD(self) -> None:
            """A probe whether somebody is there."""
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            """Nothing to get; a list of models may be empty."""
            empty: dict[str, Any] = {"object": "list", "data": [], "models": []}
            Wire(self, Turn(), threading.Event()).json(empty)

        def do_POST(self) -> None:
            """A turn, or something that is none."""
            body = read_body(self)
            path = urlsplit(self.path).path
            protocol = next((p for p in PROTOCOLS if p.knows(path)), None)
            if protocol is None:
                Wire(self, Turn(), threading.Event()).json({})
                return
            asked, turn, released = take(protocol, path, body)
            try:
                reply(protocol, asked, Wire(self, turn, released))
                had(asked)
            except (Cut, OSError):  # OSError: the client went away
                self.close_connection = True

        def handle(self) -> None:
            """Answer until the client goes away, which a killed one does without a word."""
            with contextlib.suppress(ConnectionError):
                super().handle()

        def finish(self) -> None:
            """Close; a connection that we reset has nothing left to flush."""
            with contextlib.suppress(OSError, ValueError):
                super().finish()

    return Answering


def reply(protocol: ModelProtocol, asked: Asked, wire: Wire) -> None:
    """Answer one request."""
    if (side := protocol.side(asked)) is not None:
        wire.json(side)
        return
    wire.trouble_after(None)
    if isinstance(trouble := wire.turn.trouble, Refuse):
        message = trouble.message or MESSAGES.get(trouble.status, f"scripted {trouble.status}")
        body = trouble.body or protocol.error(trouble.status, message)
        wire.json(body, trouble.status, trouble.headers)
    elif protocol.streamed(asked):
        with wire.stream():
            protocol.stream(asked, wire)
    else:
        # No word comes before another here: trouble after any of them is trouble at once.
        wire.trouble_at_once()
        if broken := wire.broken():
            wire.json(protocol.error(broken.status, broken.message), broken.status)
        else:
            wire.json(protocol.whole(asked, wire.turn), headers=wire.turn.headers)


def read_body(http: BaseHTTPRequestHandler) -> dict[str, Any]:
    """The JSON of a request; empty when it holds none."""
    if http.headers.get("transfer-encoding", "").lower() == "chunked":
        raw = b""
        while size := int(http.rfile.readline().strip() or b"0", 16):
            raw += http.rfile.read(size)
            http.rfile.readline()
        http.rfile.readline()
    else:
        raw = http.rfile.read(int(http.headers.get("content-length") or 0))
    if http.headers.get("content-encoding") == "gzip":
        raw = gzip.decompress(raw)
    try:
        value = json.loads(raw or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
