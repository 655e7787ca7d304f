"""One answer on its way: JSON or server-sent events over HTTP/1.1, with the scripted trouble.

Here is the only place where trouble happens in the middle of an answer, so that every protocol has
all of it.
"""

from __future__ import annotations

import contextlib
import json
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.lab.model.turns import Break, Drop, Hang, Turn

#: Seconds between looks whether a client that we let wait is still there.
PEEK = 0.2


class Cut(Exception):
    """The answer is over: the connection was ended, by us or by the client."""


class Wire:
    """Writes one answer."""

    def __init__(self, http: BaseHTTPRequestHandler, turn: Turn, released: threading.Event) -> None:
        self.turn = turn
        self._http = http
        self._released = released
        self._words = 0

    def json(
        self, value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        content = json.dumps(value).encode()
        self._http.send_response(status)
        self._http.send_header("content-type", "application/json")
        self._http.send_header("content-length", str(len(content)))
        self._head(headers)
        self._http.wfile.write(content)

    @contextlib.contextmanager
    def stream(self) -> Iterator[None]:
        """The frame around events."""
        self._http.send_response(200)
        self._http.send_header("content-type", "text/event-stream")
        self._http.send_header("transfer-encoding", "chunked")
        self._head(self.turn.headers)
        yield
        self._http.wfile.write(b"0\r\n\r\n")
        self._http.wfile.flush()

    def event(self, value: Mapping[str, Any] | str, name: str = "") -> None:
        """One event of a stream."""
        data = value if isinstance(value, str) else json.dumps(value)
        text = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
        content = text.encode()
        self._http.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self._http.wfile.flush()

    def words(self, text: str) -> Iterator[str]:
        """The text word by word, at the turn's pace, until its trouble begins."""
        for word in re.findall(r"\S+\s*|\s+", text):
            self.trouble_after(self._words)
            self._words += 1
            yield word
            time.sleep(self.turn.pace)

    def trouble_after(self, words: int | None) -> None:
        """The turn's trouble, if it begins here; None: before the first byte."""
        match self.turn.trouble:
            case Hang(after=after) if after == words:
                self._hang()
            case Drop(after=after, reset=reset) if after == words:
                self._drop(reset=reset)
            case _:
                return

    def trouble_at_once(self) -> None:
        """The turn's trouble, wherever it was to begin."""
        if isinstance(self.turn.trouble, Hang | Drop):
            self.trouble_after(self.turn.trouble.after)

    def broken(self) -> Break | None:
        """The error that this stream carries."""
        trouble = self.turn.trouble
        return trouble if isinstance(trouble, Break) else None

    def _head(self, headers: Mapping[str, str] | None) -> None:
        for name, value in (headers or {}).items():
            self._http.send_header(name, value)
        self._http.send_header("request-id", "req_scripted")
        self._http.end_headers()

    def _hang(self) -> None:
        self._http.wfile.flush()
        while not self._released.wait(PEEK):
            readable, _, _ = select.select([self._http.connection], [], [], 0)
            if readable and not self._http.connection.recv(1, socket.MSG_PEEK):
                raise Cut

    def _drop(self, *, reset: bool) -> None:
        connection = self._http.connection
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # The streams of the request handler share the socket: all must go for the reset.
            self._http.rfile.close()
            connection.close()
        else:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        raise Cut
