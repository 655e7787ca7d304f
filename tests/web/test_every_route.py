"""The door is before every route there is: found in the app itself, so that a new one counts."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Route

from koboshi.daemon.control.client import Refused
from koboshi.errors import DaemonError
from koboshi.web.description import described
from koboshi.web.door import HEADERS, Door
from koboshi.web.keys import Kind, Scope
from koboshi.web.operations import EVERY
from koboshi.web.throttle import WRONG
from tests.web.houses import ORIGIN, PIECE, MadeUpDaemon, Page, agent

#: What anybody may see who knows the address. Whoever adds to it has to say so here.
PUBLIC = {"/", "/static/{name}", "/static/{edition}/{name}", "/healthz", "/login"}
#: Of these, the one that changes something: it takes a ticket, and our own page (test_door).
ENTRANCE = "/login"
#: Ours to tell, and no verb of the daemon's.
UNDESCRIBED = {*PUBLIC, "/logout", "/metrics", "/api/session", "/api/openapi.json"}
#: Verbs that change nothing: what a GET may ask, which needs no word against forgery.
READING = {
    *("follow", "picture", "ls", "ping", "status", "timeline", "why", "history", "notes"),
    *("questions", "incidents", "bundles", "prompts", "piece", "rules", "spending"),
    *("plans", "plan", "plan-why"),
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "X")


def routes() -> list[Route]:
    """Every route of the app; anything else behind the door would not be looked at here."""
    app = Page(Path("/nowhere")).app
    assert type(app) is Door
    inner = app.inner
    assert isinstance(inner, Starlette)
    found = [each for each in inner.routes if type(each) is Route]
    assert found == inner.routes
    return found


ROUTES = routes()


def ways(*, public: bool) -> Iterator[tuple[str, str]]:
    """Each method of each route, with a path that leads there."""
    for route in ROUTES:
        if not public and route.path in PUBLIC:
            continue
        for method in sorted(route.methods or ()):
            yield method, filled(route.path)


def filled(path: str, value: str = "a") -> str:
    """The path with something in its braces."""
    return re.sub(r"\{\w+(:\w+)?\}", value, path)


def changes(*, public: bool = False) -> list[tuple[str, str]]:
    """The ones that are no looking."""
    return [(m, p) for m, p in ways(public=public) if m not in ("GET", "HEAD")]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The page over two agents."""
    return Page(tmp_path, daemon=MadeUpDaemon(agent("a"), agent("b")))


def test_what_is_public_is_written_down(page: Page) -> None:
    """Every other route says nothing to nobody, and asks nobody."""
    for method, path in ways(public=False):
        reply = page.ask(method, path, b"{}", origin=ORIGIN, content_type="application/json")
        assert reply.status == 401, (method, path)
    assert page.daemon.asked == []
    assert {route.path for route in ROUTES} >= PUBLIC
    assert changes(public=True) == [("POST", ENTRANCE), *changes()]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8790", "localhost.evil.example"])
def test_no_route_answers_to_a_strangers_name(page: Page, host: str) -> None:
    """DNS rebinding: with a good cookie, with a token, without."""
    token = {"authorization": f"Bearer {page.token()}", "content_type": "application/json"}
    for method, path in ways(public=True):
        for headers in ({}, page.by_browser(page.session()), token):
            assert page.ask(method, path, b"{}", **{**headers, "host": host}).status == 403
    assert page.daemon.asked == []


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_no_route_answers_to_another_page(page: Page, origin: str) -> None:
    """Whatever it sends along."""
    for method, path in ways(public=True):
        headers = page.by_browser(page.session(), origin=origin)
        assert page.ask(method, path, b"{}", **headers).status == 403, (method, path)
    assert page.daemon.asked == []


def test_no_route_but_the_shell_answers_to_another_site(page: Page) -> None:
    """A browser says where a question comes from, also where it sends no origin."""
    shell = {"/", filled("/static/{name}"), filled("/static/{edition}/{name}")}
    for method, path in ways(public=True):
        headers = page.by_browser(page.session(), sec_fetch_site="cross-site")
        headers.pop("origin")
        status = page.ask(method, path, b"{}", **headers).status
        assert (status == 403) is (path not in shell), (method, path)
    assert page.daemon.asked == []


def test_every_change_needs_the_word_the_origin_json_and_a_key_that_may_steer(page: Page) -> None:
    """Each alone is not enough."""
    session, looks = page.session(), page.session(Scope.READ)
    wrong = {
        "no word": page.by_browser(session, x_koboshi_csrf=""),
        "another's word": page.by_browser(session, x_koboshi_csrf="0" * 64),
        "no origin": page.by_browser(session, origin=""),
        "a form": page.by_browser(session, content_type="application/x-www-form-urlencoded"),
        "no kind": page.by_browser(session, content_type=""),
        "may only look": page.by_browser(looks),
    }
    assert changes()
    for method, path in changes():
        for what, headers in wrong.items():
            status = page.ask(method, path, b"{}", **headers).status
            assert status in (403, 415), (what, method, path)
    assert page.daemon.asked == []


def test_looking_changes_nothing(page: Page) -> None:
    """A GET needs no word against forgery, so none may do more than look."""
    for method, path in ways(public=True):
        if method in ("GET", "HEAD"):
            page.ask(method, path, **page.by_browser(page.session()))

    assert {verb for verb, _ in page.daemon.asked} <= READING


def test_guessing_at_any_route_is_slow(tmp_path: Path) -> None:
    """Wrong tokens count together, wherever they are tried."""
    for n, (method, path) in enumerate(ways(public=False)):
        page = Page(tmp_path / str(n))
        token = page.token()
        json_ = {"content_type": "application/json"}
        for _ in range(WRONG):
            assert page.ask(method, path, b"{}", authorization="Bearer x", **json_).status == 401
        good = page.ask(method, path, b"{}", authorization=f"Bearer {token}", **json_)
        assert good.status == 429, (method, path)


def test_every_answer_of_every_route_is_shut_in(page: Page) -> None:
    """Good ones, refusals, wrong methods, wrong places: the policy is on all of them."""
    for path in [*(filled(route.path) for route in ROUTES), "/nowhere", "/api", "/static/x/y"]:
        for method in ("GET", "POST", "DELETE"):
            headers = page.by_browser(page.session())
            for given_ in ({}, headers, {"host": "evil.example"}):
                reply = page.ask(method, path, b"{}", **given_)
                told = {name: reply.headers.get(name.lower()) for name in HEADERS}
                assert told == HEADERS, (method, path)
                assert "access-control-allow-origin" not in reply.headers


HTML = "<img src=x onerror=alert(1)>\x1b]0;owned\x07"


def test_nothing_said_is_taken_for_html(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an agent prints, and what somebody asks for, is JSON or text that nobody sniffs at."""

    async def says(verb: str, **_: object) -> Any:  # noqa: ANN401
        if verb == "piece":
            return PIECE
        return {"verbs": [HTML]} if verb == "ping" else [{"agent": "a", "text": HTML}]

    monkeypatch.setattr(page.daemon, "ask", says)
    for route in ROUTES:
        for method in sorted((route.methods or set()) - {"HEAD"}):
            for value in ("a", quote(HTML, safe=""), f"a?{urlencode({'x': HTML})}"):
                path, headers = filled(route.path, value), page.by_browser(page.session())
                reply = page.ask(method, path, b'{"text": "x"}', **headers)
                kind = reply.headers.get("content-type", "")
                if route.path != "/" and not route.path.startswith("/static/"):
                    assert not kind.startswith(("text/html", "image/svg", "text/xml")), path
                assert reply.headers["x-content-type-options"] == "nosniff"
                assert b"\x1b" not in reply.body


def test_every_route_is_described_or_said_to_be_our_own() -> None:
    """An operation that nobody can find is none."""
    described_ = {
        (method.upper(), path)
        for path, methods in described()["paths"].items()
        for method in methods
    }
    there = {
        (method, route.path)
        for route in ROUTES
        if route.path not in UNDESCRIBED
        for method in (route.methods or set()) - {"HEAD"}
    }

    assert there == described_


@pytest.mark.parametrize(
    ("error", "statuses"),
    [
        (DaemonError("away"), {503}),
        (Refused("no", hint="\ud800", exit_code=1), {409}),
        (Refused("\x00<b>", hint="", exit_code=2), {400, 404}),
        (Refused("no", hint="", exit_code=4), {409}),
    ],
)
def test_whatever_the_daemon_says_is_an_answer(
    page: Page, monkeypatch: pytest.MonkeyPatch, error: Exception, statuses: set[int]
) -> None:
    """503 says that it is away; any other 5xx would be a bug of ours."""

    async def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(page.daemon, "ask", fails)
    headers = page.by_browser(page.session())
    operations = {(each.method, filled(each.path)) for each in EVERY}
    for method, path in sorted(operations):
        reply = page.ask(method, path, b'{"text": "x"}', **headers)
        assert reply.status in {*statuses, 400}, (method, path)
        assert set(reply.json["error"]) == {"message", "hint"}


TEXT = st.text(max_size=12)
WORD = st.one_of(
    st.sampled_from(["a", "b", "..", "a%00", "b:1.2", "b:ask1", "%2e%2e%2f", "1e999", "nan", "-1"]),
    TEXT,
)
BODY = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"{}", b"[]", b"null", b"[" * 3000, b'{"text": 1}', b'{"ticket": {}}']),
    st.dictionaries(
        st.sampled_from(["text", "ticket", "force", "fresh", "reason", "at_once", "x"]),
        st.one_of(st.none(), st.booleans(), st.floats(), TEXT),
        max_size=4,
    ).map(lambda value: json.dumps(value).encode()),
)
ODD = st.dictionaries(
    st.sampled_from(["accept", "range", "content_length", "transfer_encoding", "cookie", "origin"]),
    st.text(string.printable, max_size=20),
    max_size=2,
)


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, str, bytes, dict[str, str]]:
    """Anything at all, asked of any route."""
    route, method = draw(st.sampled_from(ROUTES)), draw(st.sampled_from(METHODS))
    value = draw(WORD).replace("?", "").replace("\\", "") or "-"
    query = urlencode(draw(st.dictionaries(WORD, WORD, max_size=2)), errors="replace")
    path = filled(route.path, value)
    return method, f"{path}?{query}" if query else path, draw(BODY), draw(ODD)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=500)
@given(asked(), st.sampled_from(["browser", "program", "nobody"]))
def test_nothing_that_is_asked_of_any_route_breaks_us(
    page: Page, request_: tuple[str, str, bytes, dict[str, str]], who: str
) -> None:
    """Any method, any word, any header, from anybody: an answer below 500."""
    method, path, body, odd = request_
    headers = dict(odd)
    if who == "browser":
        headers |= page.by_browser(page.session())
    elif who == "program":
        token = page.keys.make(Kind.TOKEN, Scope.STEER)
        headers |= {"authorization": f"Bearer {token}", "content_type": "application/json"}
    page.now += 120.0  # nobody is held back for what was wrong before

    reply = page.ask(method, path, body, **headers)

    assert 200 <= reply.status < 500, (method, path, body, reply)
