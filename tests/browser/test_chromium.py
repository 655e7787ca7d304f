"""The browser of this lane opens a page and runs its scripts."""

import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

PAGE = b"<p id=p>before</p><script>p.textContent = 'sum: ' + (40 + 2)</script>"

QUIET = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--no-first-run",
]


class OnePage(BaseHTTPRequestHandler):
    """Answers every request with the page."""

    def do_GET(self) -> None:
        """Sends the page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Keeps quiet."""


@pytest.fixture
def address() -> Iterator[str]:
    """A server on this machine, for the time of one test."""
    with ThreadingHTTPServer(("127.0.0.1", 0), OnePage) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_chromium_shows_what_a_script_wrote(chromium: Path, address: str, tmp_path: Path) -> None:
    """The dumped page is the page after its script ran."""
    # Chromium's sandbox refuses to start as root.
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [chromium, *QUIET, *as_root, f"--user-data-dir={tmp_path}", "--dump-dom", address],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )

    assert '<p id="p">sum: 42</p>' in done.stdout
