"""The whole API of a real server over a real daemon and a real agent, asked all kinds of things."""

from __future__ import annotations

import http.client
import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

from koboshi.daemon.control.client import log_path
from tests.browser.serving import Served, started
from tests.daemon.trials import PATIENCE, trial

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(240)]

IDLE = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n' * 6
ODD = ("", "a", "nobody", "..", "a/b", "日本", "\x00", "%", "b:1.2", "a:1.1", "a:ask1", "x" * 300)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    1e308,
    "",
    "yes",
    "a\x1b[31m",
    "\ud800",
    [],
    {},
    ["a"],
    "y" * 5000,
)
#: What would end the agent, or take long; the rest is asked of it while it lives.
LAST = ("stop", "refresh", "reload", "save", "start")
#: Requests to each operation.
TIMES = 12


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A page over one real agent."""
    with trial(tmp_path) as koboshi:
        started(koboshi, "a", IDLE)
        made = Served(koboshi)
        try:
            yield made
        finally:
            assert made.end() == ""


class Line:
    """A connection to the server."""

    def __init__(self, served: Served) -> None:
        self.place = urlsplit(served.base).netloc
        self.token = served.koboshi.say("serve", "--token").strip()

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
        """One request; its status and what it says."""
        line = http.client.HTTPConnection(self.place, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        line.request(method, path, body, headers)
        answer = line.getresponse()
        content = b"" if "event-stream" in answer.headers["content-type"] else answer.read()
        line.close()
        return answer.status, content


def variants(described: dict[str, Any], chance: random.Random) -> Iterator[tuple[str, str, bytes]]:
    """Requests to every operation: as described, nearly so, and not at all."""
    schemas = described["components"]["schemas"]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            for n in range(TIMES):
                yield (
                    method.upper(),
                    _path(path, operation, chance, n),
                    _body(operation, schemas, chance),
                )


def _path(path: str, operation: dict[str, Any], chance: random.Random, n: int) -> str:
    query = {}
    for each in operation["parameters"]:
        if each["in"] == "path":
            word = "a" if n % 3 == 0 else chance.choice(ODD) or "-"
            path = path.replace(f"{{{each['name']}}}", quote(word, safe=""))
        elif each["in"] == "query" and chance.random() < 0.5:
            query[each["name"]] = chance.choice(
                ("1", "5", "0", "-3", "1e9", "nan", "inf", "e3", "a")
            )
    if chance.random() < 0.1:
        query["unheard"] = "of"
    return f"{path}?{urlencode(query)}" if query else path


def _body(operation: dict[str, Any], schemas: dict[str, Any], chance: random.Random) -> bytes:
    if "requestBody" not in operation:
        return b""
    if chance.random() < 0.2:
        return chance.choice((b"", b"[]", b"{", b"\xff", b"1" * 70_000, b'{"a":' * 500))
    name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    fields = schemas[name.rpartition("/")[2]].get("properties", {})
    wanted = {each: chance.choice(VALUES) for each in fields if chance.random() < 0.8}
    return json.dumps(wanted).encode()


def test_the_real_api_has_an_answer_to_everything(served: Served) -> None:
    """Below 500, in JSON; and the daemon behind it has not stumbled once."""
    line, chance = Line(served), random.Random(20)
    _, content = line.ask("GET", "/api/openapi.json")
    asked = list(variants(json.loads(content), chance))
    asked.sort(key=lambda each: each[1].partition("?")[0].endswith(LAST))
    wrong, statuses = [], set()
    for method, path, body in asked:
        status, content = line.ask(method, path, body)
        statuses.add(status)
        if status >= 500 or (content and not _is_json(content)):
            wrong.append((method, path, body[:80], status, content[:200]))

    assert wrong == []
    assert {200, 400, 404} <= statuses
    assert "a request failed" not in log_path(served.koboshi.state).read_text(encoding="utf-8")
    assert line.ask("GET", "/api/agents")[0] == 200


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_hardly_http_breaks_nothing(served: Served, sent: bytes) -> None:
    """No 5xx, no word about any agent, and the next one is served."""
    host, _, port = urlsplit(served.base).netloc.partition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as line:
        line.settimeout(2.0)
        heard = b""
        try:
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)
            while piece := line.recv(65536):
                heard += piece
        except OSError:
            pass  # hung up on, or still waited for: both are fine

    assert not heard.startswith(b"HTTP/1.1 5")
    assert b'"agent"' not in heard
    assert Line(served).ask("GET", "/healthz")[0] == 200
