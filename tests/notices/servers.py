"""Servers on loopback: one that takes everything, and some that do not."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Webhook:
    """An HTTP server; what it got, and how it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.delay = 0.0
        self.free = threading.Event()  #: clear: nobody is answered
        self.free.set()
        self.answer = b"{}"
        self.got: list[tuple[str, bytes]] = []
        self._came = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._class())
        self.port = self._server.server_address[1]

    def _class(self) -> type[BaseHTTPRequestHandler]:
        hook = self

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                hook.take(self.path, body)
                time.sleep(hook.delay)  # the server is slow, not the test
                hook.free.wait(60)
                with contextlib.suppress(OSError):
                    self.send_response(hook.status)
                    content = hook.answer_to(self.path)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Answer

    def answer_to(self, path: str) -> bytes:
        """What is said to that."""
        del path
        return self.answer

    def take(self, path: str, body: bytes) -> None:
        """Something came."""
        with self._came:
            self.got.append((path, body))
            self._came.notify_all()

    def wait(self, count: int, seconds: float = 10.0) -> list[dict[str, Any]]:
        """The first so many messages, once they are there."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.got) >= count, seconds), self.got
        return [json.loads(body) for _, body in self.got]

    def told(self, words: str, seconds: float = 10.0) -> str:
        """All messages, once these words are in one; what is due at once may come as one."""

        def texts() -> str:
            return "\n".join(json.loads(body)["message"] for _, body in self.got)

        with self._came:
            assert self._came.wait_for(lambda: words in texts(), seconds), self.got
            return texts()

    @contextlib.contextmanager
    def open(self) -> Iterator[Webhook]:
        """Serve."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join(5)


class Engine(Webhook):
    """A VOICEVOX engine that says everything in eight bytes."""

    def answer_to(self, path: str) -> bytes:
        """A query, or a WAV."""
        return b'{"speed": 1}' if path.startswith("/audio_query") else b"RIFF0000WAVE"


def dead_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
