"""The closed door: each attack that it stands against, and who it lets in."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from koboshi.web.door import COOKIE, HEADERS
from koboshi.web.keys import Keys, Kind, Scope, csrf_of
from koboshi.web.throttle import WINDOW, WRONG
from tests.web.houses import ORIGIN, Page

PAUSE = "/api/agents/a/pause"


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The page over one agent."""
    return Page(tmp_path)


def test_our_own_page_may_steer(page: Page) -> None:
    """The one way that is open."""
    reply = page.ask("POST", PAUSE, b"{}", **page.by_browser(page.session()))

    assert (reply.status, page.daemon.asked) == (200, [("order", {"name": "a", "order": "pause"})])


def test_nobody_without_a_key_hears_anything(page: Page) -> None:
    """Neither by reading nor by writing; the shell of the page says nothing of any agent."""
    statuses = [
        page.ask(method, path, b"{}", origin=ORIGIN, content_type="application/json").status
        for method, path in (
            ("GET", "/api/agents"),
            ("GET", "/api/agents/a"),
            ("GET", "/api/stream"),
            ("GET", "/api/session"),
            ("GET", "/api/openapi.json"),
            ("GET", "/api/questions"),
            ("POST", PAUSE),
            ("POST", "/logout"),
            ("GET", "/metrics"),
        )
    ]

    assert statuses == [401] * 9
    assert page.ask("GET", "/").status == 200
    assert page.ask("GET", "/healthz").json == {"ok": True, "daemon": False}
    assert page.daemon.asked == []


@pytest.mark.parametrize(
    "cookie", ["koboshi=guess", "koboshi=", "koboshi", "other=x", 'koboshi="', "\x01"]
)
def test_a_wrong_cookie_is_no_key(page: Page, cookie: str) -> None:
    """Nor is a ticket or a token in its place."""
    assert page.ask("GET", "/api/agents", cookie=cookie).status == 401
    for kind in (Kind.TICKET, Kind.TOKEN):
        secret = page.keys.make(kind, Scope.STEER)
        assert page.ask("GET", "/api/agents", cookie=f"{COOKIE}={secret}").status == 401
    ticket = page.keys.make(Kind.TICKET, Scope.STEER)
    assert page.ask("GET", "/api/agents", authorization=f"Bearer {ticket}").status == 401


@pytest.mark.parametrize("host", ["evil.example:8790", "127.0.0.1.evil.example", "", "localhost.x"])
def test_a_strangers_name_for_this_machine_gets_nothing(page: Page, host: str) -> None:
    """DNS rebinding: the browser believes that evil.example is here, and has no cookie or has."""
    for path in ("/", "/static/app.js", "/healthz", "/api/agents"):
        reply = page.ask("GET", path, host=host, cookie=f"koboshi={page.session()}")
        assert reply.status == 403


def test_names_of_the_owner_and_addresses_are_ours(tmp_path: Path) -> None:
    """A tunnel's name must be given."""
    page = Page(tmp_path, names=("My.Tunnel.example",))

    for host in ("my.tunnel.example", "localhost:1", "[::1]:8790", "192.168.1.7:8790"):
        assert page.ask("GET", "/", host=host).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:3000",
        "file://127.0.0.1:8790",
        ORIGIN + ".x",
    ],
)
def test_another_page_cannot_ask_with_our_cookie(page: Page, origin: str) -> None:
    """Also one on another port of this machine, which the cookie is sent from."""
    headers = page.by_browser(page.session(), origin=origin)

    assert page.ask("POST", PAUSE, b"{}", **headers).status == 403
    assert page.ask("GET", "/api/agents", **headers).status == 403
    assert page.ask("POST", "/login", b"{}", origin=origin).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_ask_even_without_an_origin(page: Page, site: str) -> None:
    """A browser says where a question comes from; a link to the page itself is fine."""
    headers = page.by_browser(page.session(), sec_fetch_site=site)
    headers.pop("origin")

    assert page.ask("GET", "/api/agents", **headers).status == 403
    assert page.ask("GET", "/api/stream", **headers).status == 403
    assert page.ask("GET", "/", sec_fetch_site=site).status == 200


@pytest.mark.parametrize("word", ["", "0" * 64, "é"])
def test_a_change_needs_the_word_that_our_page_knows(page: Page, word: str) -> None:
    """CSRF: the cookie alone changes nothing; neither does the word of another session."""
    secret = page.session()
    headers = page.by_browser(secret, x_koboshi_csrf=word)
    others = page.by_browser(secret, x_koboshi_csrf=csrf_of(page.session()))

    assert page.ask("POST", PAUSE, b"{}", **headers).status == 403
    assert page.ask("POST", PAUSE, b"{}", **others).status == 403
    assert page.ask("POST", PAUSE, b"{}", **page.by_browser(secret, origin="")).status == 403
    assert page.daemon.asked == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_form_changes_nothing(page: Page, kind: str) -> None:
    """What a foreign page can send without asking first is not JSON."""
    headers = page.by_browser(page.session(), content_type=kind)

    assert page.ask("POST", PAUSE, b"{}", **headers).status == 415


def test_a_key_that_may_look_only_looks(page: Page) -> None:
    """A browser's and a program's."""
    session, token = page.session(Scope.READ), page.token(Scope.READ)
    bearer = {"authorization": f"Bearer {token}", "content_type": "application/json"}

    assert page.ask("GET", "/api/agents", cookie=f"koboshi={session}").status == 200
    assert page.ask("GET", "/api/agents", **bearer).status == 200
    assert page.ask("POST", PAUSE, b"{}", **page.by_browser(session)).status == 403
    assert page.ask("POST", PAUSE, b"{}", **bearer).status == 403
    bearer["authorization"] = f"Bearer {page.token()}"
    assert page.ask("POST", PAUSE, b"{}", **bearer).status == 200


def test_a_link_lets_one_browser_in_once(page: Page) -> None:
    """The cookie is the browser's alone, and no script can read it."""
    body = json.dumps({"ticket": page.keys.make(Kind.TICKET, Scope.STEER)}).encode()

    assert page.ask("POST", "/login", body).status == 403
    first = page.ask("POST", "/login", body, origin=ORIGIN)
    again = page.ask("POST", "/login", body, origin=ORIGIN)

    assert (first.status, again.status) == (200, 401)
    flags = {part.strip().lower() for part in first.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    cookie = first.headers["set-cookie"].partition(";")[0]
    assert page.ask("GET", "/api/agents", cookie=cookie).status == 200


def test_with_tls_the_cookie_goes_nowhere_else(tmp_path: Path) -> None:
    """`Secure`, and the browser remembers to come by TLS."""
    page = Page(tmp_path, secure=True)
    body = json.dumps({"ticket": page.keys.make(Kind.TICKET, Scope.STEER)}).encode()

    reply = page.ask("POST", "/login", body, origin=ORIGIN)

    assert "secure" in reply.headers["set-cookie"].lower()
    assert reply.headers["strict-transport-security"]


def test_keys_grow_old(page: Page) -> None:
    """A ticket in minutes, a session in weeks."""
    ticket = page.keys.make(Kind.TICKET, Scope.STEER)
    session = page.session()
    page.now += Kind.TICKET.life + 1

    assert page.keys.redeem(ticket) is None
    assert page.ask("GET", "/api/agents", cookie=f"koboshi={session}").status == 200
    page.now += Kind.SESSION.life
    assert page.ask("GET", "/api/agents", cookie=f"koboshi={session}").status == 401


def test_who_logs_out_is_out(page: Page) -> None:
    """Also where the cookie was copied."""
    secret = page.session()

    assert page.ask("POST", "/logout", b"{}", **page.by_browser(secret)).status == 200
    assert page.ask("GET", "/api/agents", cookie=f"koboshi={secret}").status == 401


def test_guessing_is_slow(page: Page) -> None:
    """Wrong links and wrong tokens count together; a browser that is in stays in."""
    session = page.session()
    good = json.dumps({"ticket": page.keys.make(Kind.TICKET, Scope.STEER)}).encode()
    for n in range(WRONG):
        if n % 2:
            assert page.ask("GET", "/api/agents", authorization="Bearer x").status == 401
        else:
            assert page.ask("POST", "/login", b'{"ticket": "x"}', origin=ORIGIN).status == 401

    late = page.ask("POST", "/login", good, origin=ORIGIN)
    assert (late.status, late.headers["retry-after"]) == (429, "61")
    token = f"Bearer {page.token()}"
    assert page.ask("GET", "/api/agents", authorization=token).status == 429
    assert page.ask("GET", "/api/agents", cookie=f"koboshi={session}").status == 200
    elsewhere = page.asking("POST", "/login", b"{}", {"origin": ORIGIN}, client="10.0.0.10")
    assert asyncio.run(elsewhere).status == 401
    page.now += WINDOW
    assert page.ask("POST", "/login", good, origin=ORIGIN).status == 200


def test_many_addresses_guess_no_faster(page: Page) -> None:
    """A network of its own has many, and IPv6 has more."""
    statuses = []
    for n in range(60):
        asking = page.asking("POST", "/login", b"{}", {"origin": ORIGIN}, client=f"10.0.1.{n}")
        statuses.append(asyncio.run(asking).status)

    assert statuses == [401] * 50 + [429] * 10
    page.now += 2 * WINDOW
    sixes = [
        asyncio.run(
            page.asking("POST", "/login", b"{}", {"origin": ORIGIN}, client=f"2001:db8::{n:x}")
        ).status
        for n in range(7)
    ]
    assert sixes == [401] * 5 + [429] * 2


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/agents", "/nowhere", "/healthz"])
def test_every_answer_is_shut_in(page: Page, path: str) -> None:
    """Scripts and styles from our own files only, no frames, nothing kept, refusals too."""
    for headers in ({}, {"host": "evil.example"}, {"cookie": f"koboshi={page.session()}"}):
        reply = page.ask("GET", path, **headers)
        for name, value in HEADERS.items():
            assert reply.headers[name.lower()] == value
        assert "access-control-allow-origin" not in reply.headers
    kept, framed = reply.headers["cache-control"], reply.headers["x-frame-options"]
    assert (kept, framed, reply.headers["referrer-policy"]) == ("no-store", "DENY", "no-referrer")
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static/app.py", "/static/"]
)
def test_only_files_of_the_page_are_handed_out(page: Page, path: str) -> None:
    """Nothing that climbs."""
    assert page.ask("GET", path).status == 404


def test_secrets_are_written_down_nowhere(page: Page, tmp_path: Path) -> None:
    """Only their hashes are, for the owner's eyes."""
    secrets = [page.session(), page.token(), page.keys.make(Kind.TICKET, Scope.READ)]
    file = tmp_path / "web" / "keys.json"

    assert oct(file.stat().st_mode & 0o777) == "0o600"
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert [secret for secret in secrets if secret.encode() in written] == []


def test_a_link_made_beside_a_running_server_is_known_to_it(page: Page, tmp_path: Path) -> None:
    """`koboshi serve --link` is another process; so is `--forget`."""
    old = f"koboshi={page.session()}"
    assert page.ask("GET", "/api/agents", cookie=old).status == 200
    beside = Keys(tmp_path, lambda: page.now)
    body = json.dumps({"ticket": beside.make(Kind.TICKET, Scope.READ)}).encode()

    reply = page.ask("POST", "/login", body, origin=ORIGIN)
    assert reply.json == {"scope": "read"}
    cookie = reply.headers["set-cookie"].partition(";")[0]
    assert beside.forget() == 2
    assert page.ask("GET", "/api/agents", cookie=cookie).status == 401
    assert os.listdir(tmp_path / "web")  # noqa: PTH208


def test_a_websocket_is_not_answered(page: Page) -> None:
    """A browser lets any page open one anywhere: nothing here speaks it."""
    sent: list[object] = []

    async def go() -> None:
        async def send(message: object) -> None:
            sent.append(message)

        async def receive() -> object:
            return {"type": "websocket.connect"}

        await page.app({"type": "websocket", "path": "/api/stream", "headers": []}, receive, send)

    asyncio.run(go())
    assert sent == []
