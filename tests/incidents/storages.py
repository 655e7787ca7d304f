"""An S3 on loopback, and a way to it that answers 500, or not at all, for a while."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import obstore
import pytest
from moto.server import ThreadedMotoServer
from obstore.store import S3Store

from tests.notices.servers import dead_port


class Storage:
    """A real S3 server behind a proxy that can be told to fail."""

    def __init__(self, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.port, self._monkeypatch = port, monkeypatch
        self.refuses = 0  #: puts that are answered with 500
        self.held = False  #: puts are never answered
        self._over = threading.Event()
        self.puts = 0
        self._proxy = ThreadingHTTPServer(("127.0.0.1", 0), self._class())
        self._proxy.daemon_threads = True
        self.answers()

    def answers(self) -> None:
        """Whoever uploads comes here."""
        self._point(self._proxy.server_address[1])

    def is_dead(self) -> None:
        """Nobody is there."""
        self._point(dead_port())

    def _point(self, port: int) -> None:
        self._monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")

    def forward(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> int:
        """To the real server."""
        connection = http.client.HTTPConnection(f"127.0.0.1:{self.port}", timeout=10)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def content(self, name: str) -> bytes | None:
        """What the real server has under that name."""
        store = S3Store(
            "nights",
            prefix="api",
            endpoint=f"http://127.0.0.1:{self.port}",
            client_options={"allow_http": True},
        )
        try:
            return bytes(obstore.get(store, name).bytes())
        except FileNotFoundError:
            return None

    def _class(self) -> type[BaseHTTPRequestHandler]:
        storage = self

        class Proxy(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                storage.puts += 1
                if storage.held:
                    storage._over.wait(60)
                    return
                status = 500
                if storage.puts > storage.refuses:
                    status = storage.forward("PUT", self.path, body, dict(self.headers))
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("ETag", '"x"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Proxy

    @contextlib.contextmanager
    def open(self) -> Iterator[Storage]:
        """Serve, with a bucket."""
        thread = threading.Thread(target=self._proxy.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            # All servers of one process have the same memory.
            assert self.forward("POST", "/moto-api/reset", b"", {}) == 200
            assert self.forward("PUT", "/nights", b"", {}) == 200
            yield self
        finally:
            self._over.set()
            self._proxy.shutdown()
            self._proxy.server_close()
            thread.join(5)


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    """An S3 with the bucket `nights`, and the keys to it in the environment."""
    made = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "dummy")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "dummy-secret-word")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    try:
        with Storage(made.get_host_and_port()[1], monkeypatch).open() as storage:
            yield storage
    finally:
        made.stop()
