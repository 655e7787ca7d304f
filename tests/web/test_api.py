"""The API says what the daemon says; whatever is asked, it does not break."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from koboshi.daemon.control.client import Refused
from koboshi.errors import DaemonError
from koboshi.web.description import described
from koboshi.web.metrics import exposed
from koboshi.web.operations import EVERY, Operation
from tests.web.houses import MadeUpDaemon, Page, agent

QUESTION = {"nth": 2, "kind": "permission", "question": "Run?", "subject": "rm x", "since": 5.0}
DESCRIPTION = described()
TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The page over two agents."""
    asks = agent("b", status="asking", question={**QUESTION, "options": []})
    return Page(tmp_path, daemon=MadeUpDaemon(agent("a"), asks))


def as_program(page: Page) -> dict[str, str]:
    """The headers of a program that may steer."""
    return {"authorization": f"Bearer {page.token()}", "content_type": "application/json"}


def test_answers_are_the_verbs_own(page: Page) -> None:
    """Read and steered, with what stands in the address, behind it and in the body."""
    headers = as_program(page)

    assert page.ask("GET", "/api/agents", **headers).json == list(page.daemon.agents.values())
    why = page.ask("GET", "/api/agents/a/why?count=5&event=e3", **headers)
    assert why.json == {"said": "why", "name": "a", "count": 5, "event": "e3"}
    sent = page.ask("POST", "/api/agents/a/send", b'{"text": "hi"}', **headers)
    assert sent.json == {"said": "send", "name": "a", "text": "hi", "at_once": False, "wait": 10.0}


def test_plans_have_verbs_of_their_own(page: Page) -> None:
    """With a larger body where a whole plan goes through it."""
    headers = as_program(page)
    text = "x" * (1 << 17)
    body = json.dumps({"base": "", "text": text}).encode()

    assert page.ask("GET", "/api/plans/ab/why?count=5", **headers).json["said"] == "plan-why"
    edited = page.ask("POST", "/api/plans/ab/edit", body, **headers)
    assert edited.json == {"said": "plan-edit", "id": "ab", "base": "", "text": text}
    said = page.ask("POST", "/api/plans/ab/answer", b'{"text": "yes"}', **headers)
    assert said.json == {"said": "plan-answer", "id": "ab", "text": "yes", "wait": 10.0}


def test_errors_are_sentences(page: Page) -> None:
    """With a number that says whose fault it is."""
    headers = as_program(page)

    def status(method: str, path: str, body: bytes = b"{}") -> int:
        reply = page.ask(method, path, body, **headers)
        assert set(reply.json["error"]) == {"message", "hint"}
        return reply.status

    assert status("GET", "/api/agents/nobody") == 404
    assert status("GET", "/api/agents/a?x=1") == 400
    assert status("GET", "/api/agents/a/why?count=many") == 400
    assert status("POST", "/api/agents/nobody/pause") == 400
    assert status("POST", "/api/agents/a/send", b"{}") == 400
    assert status("POST", "/api/agents/a/send", b'{"text": "x", "more": 1}') == 400
    assert status("POST", "/api/agents/a/send", b"[" * 50_000) == 400
    assert status("POST", "/api/agents/a/send", b"x" * ((1 << 16) + 1)) == 413


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DaemonError("away"), 503),
        (Refused("no", hint="h", exit_code=1), 409),
        (Refused("no", hint="h", exit_code=3), 409),
        (Refused("\ud800", hint="h", exit_code=4), 409),
    ],
)
def test_a_daemon_that_refuses_or_is_away(
    page: Page, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    """A 500 would be a bug of ours."""

    async def fails(*_: object, **__: object) -> None:
        raise error

    headers = as_program(page)
    monkeypatch.setattr(page.daemon, "ask", fails)

    assert page.ask("GET", "/api/agents", **headers).status == status
    assert page.ask("GET", "/api/questions", **headers).status == status


def test_numbers_for_prometheus(page: Page) -> None:
    """By status, and for each agent what is known of it; with a key, like everything."""
    told = exposed([agent("b", context=41.5, restarts=2), agent("a")], daemon=True, viewers=3)

    assert 'koboshi_agents{status="idle"} 2' in told
    assert 'koboshi_agents{status="asking"} 0' in told
    assert 'koboshi_agent_context_percent{agent="b"} 41.5\n' in told
    assert 'agent="a"' not in told
    assert {"koboshi_daemon_up 1", "koboshi_viewers 3"} <= set(told.splitlines())
    assert page.ask("GET", "/metrics").status == 401
    reply = page.ask("GET", "/metrics", **as_program(page))
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert b"koboshi_daemon_up 0" in reply.body


def test_every_operation_is_described(page: Page) -> None:
    """And the description can be had."""
    told = page.ask("GET", "/api/openapi.json", **as_program(page)).json

    assert told == json.loads(json.dumps(DESCRIPTION))
    for each in EVERY:
        operation = told["paths"][each.path][each.method.lower()]
        named = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
        assert named == set(each.names)
        if each.body is not None:
            body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            assert body.rpartition("/")[2] in told["components"]["schemas"]


def bodies(each: Operation) -> st.SearchStrategy[bytes]:
    """What fits, what nearly fits, and junk."""
    if each.body is None:
        return st.just(b"")
    fields = each.body.__struct_fields__
    fitting = st.fixed_dictionaries({}, optional=dict.fromkeys((*fields, "x"), JSON))
    return st.one_of(fitting.map(lambda v: json.dumps(v).encode()), st.binary(max_size=40))


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """A request to some operation of the description."""
    each = draw(st.sampled_from(EVERY))
    names = st.one_of(st.sampled_from(["a", "b", "b:1.2", "..", "a%00"]), TEXT)
    path = each.path
    for name in each.names:
        path = path.replace(f"{{{name}}}", draw(names).replace("?", "") or "-")
    values = st.one_of(TEXT, st.sampled_from(["1", "-1", "1e999", "nan", "e3", "9" * 400]))
    query = draw(st.dictionaries(st.sampled_from([*each.query, "x"]), values, max_size=3))
    words = urlencode(query, quote_via=quote, errors="replace")
    return each.method, f"{path}?{words}" if words else path, draw(bodies(each))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(requests(), st.dictionaries(st.sampled_from(string.ascii_lowercase), TEXT, max_size=2))
def test_nothing_that_is_asked_breaks_us(
    page: Page, request_: tuple[str, str, bytes], odd: dict[str, Any]
) -> None:
    """Every operation with every kind of word: an answer below 500, in JSON."""
    method, path, body = request_
    headers = {**odd, **as_program(page)}

    reply = page.ask(method, path, body, **headers)

    assert 200 <= reply.status < 500, (method, path, body, reply)
    if reply.headers.get("content-type") == "application/json":
        assert reply.json is not None
