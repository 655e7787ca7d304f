"""The door of the page: who may come in, and what they may do there. Everything is shut by default.

In this order, before any route is asked:

1. `Host` must be an address, `localhost`, or a name that the owner gave: a stranger's name that
   leads to this machine (DNS rebinding) gets nothing, not even the login page;
2. `Origin`, where a browser sends one, must be ours, and so must `Sec-Fetch-Site`;
3. a key: the cookie of a session, or a token in a header; wrong ones are counted;
4. a change needs a key that may steer, JSON, and, from a browser, our `Origin` and the word that
   only our own page knows (CSRF).

Answers carry a policy that lets a browser load and run our own files and nothing else, and are not
kept anywhere, but for those files.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
from collections.abc import Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from .keys import Key, Keys, Kind, Scope, csrf_of
from .throttle import Throttle

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Send
    from starlette.types import Scope as Connection

COOKIE = "koboshi"
CSRF = "x-koboshi-csrf"
SAFE = ("GET", "HEAD")
#: What is shown to anybody who knows the address: files without a word about any agent.
PUBLIC = ("/", "/healthz", "/login")
PUBLIC_FOLDER = "/static/"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
#: Instead of the last one, for files whose address is another one when they are (see files).
KEPT = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody with a good key."""

    key: Key
    secret: str

    @property
    def csrf(self) -> str:
        """What their page has to say with every change."""
        return csrf_of(self.secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why somebody may not come in."""

    status: HTTPStatus
    message: str
    hint: str = ""
    wait: float = 0.0


class HungUp(Exception):
    """Nothing can be told to who asked: they left, or what they speak is no HTTP."""


class Door:
    """Stands before the app."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Keys,
        clock: Callable[[], float],
        names: Collection[str] = (),
        secure: bool = False,
    ) -> None:
        self._app = app
        self._keys = keys
        self._throttle = Throttle(clock)
        self._names = frozenset(name.casefold() for name in names)
        self._secure = secure

    @property
    def inner(self) -> ASGIApp:
        """What is behind it."""
        return self._app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Let somebody in, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks websocket; the server hangs up
        with contextlib.suppress(HungUp):
            await self._answered(scope, receive, self._with_headers(scope["path"], send))

    async def _answered(self, scope: Connection, receive: Receive, send: Send) -> None:
        found = self._judged(scope)
        if isinstance(found, Refusal):
            await refused(found)(scope, receive, send)
            return
        scope["koboshi.caller"] = found
        scope["koboshi.throttle"] = self._throttle
        scope["koboshi.secure"] = self._secure
        await self._app(scope, receive, send)

    def _with_headers(self, path: str, send: Send) -> Send:
        public_file = path.startswith(PUBLIC_FOLDER)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                kept = public_file and headers.get("Cache-Control") == KEPT
                for name, value in HEADERS.items():
                    headers[name] = value
                if kept:
                    headers["Cache-Control"] = KEPT
                if self._secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            try:
                await send(message)
            except Exception as error:  # what it is depends on the server's own protocol
                # Told to nobody: anybody can bring it about, without a key, as often as they like.
                raise HungUp from error

        return sending

    # -- judging -------------------------------------------------------------------------------

    def _judged(self, scope: Connection) -> Caller | Refusal | None:
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        wrong = self._wrong_place(headers, path, method)
        if wrong is not None:
            return wrong
        if path in PUBLIC or path.startswith(PUBLIC_FOLDER):
            return None
        caller = self._caller(headers, address_of(scope))
        if isinstance(caller, Refusal) or method in SAFE:
            return caller
        return self._wrong_change(caller, headers) or caller

    def _wrong_place(self, headers: Headers, path: str, method: str) -> Refusal | None:
        """Whether the question comes from another place than our own page, or goes to another."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._ours(hosts[0]):
            hint = "koboshi serve --url ADDRESS names the address it is reached by"
            return Refusal(
                status=HTTPStatus.FORBIDDEN, message="this address is not known here", hint=hint
            )
        origins = headers.getlist("origin")
        if any(not same_place(origin, hosts[0]) for origin in origins):
            return Refusal(status=HTTPStatus.FORBIDDEN, message="asked from another page")
        site = headers.get("sec-fetch-site", "same-origin")
        shell = method in SAFE and (path == "/" or path.startswith(PUBLIC_FOLDER))
        if site not in ("same-origin", "none") and not shell:
            return Refusal(status=HTTPStatus.FORBIDDEN, message="asked from another page")
        return None

    def _ours(self, host: str) -> bool:
        name = name_of(host)
        if name in self._names or name == "localhost":
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True  # an address is nobody's name: it cannot be made to lead here

    def _caller(self, headers: Headers, address: str) -> Caller | Refusal:
        word = headers.get("authorization", "")
        if word:
            return self._program(word, address)
        secret = cookie_of(headers)
        key = self._keys.find(secret, Kind.SESSION) if secret else None
        if key is not None:
            return Caller(key=key, secret=secret)
        # An old cookie is no attack: it is not counted, and nobody guesses one (see keys).
        hint = "open the link that 'koboshi serve --link' prints"
        return Refusal(status=HTTPStatus.UNAUTHORIZED, message="not logged in", hint=hint)

    def _program(self, word: str, address: str) -> Caller | Refusal:
        wait = self._throttle.wait(address)
        if wait > 0:
            return too_often(wait)
        kind, _, secret = word.partition(" ")
        key = self._keys.find(secret.strip(), Kind.TOKEN) if kind.lower() == "bearer" else None
        if key is None:
            self._throttle.wrong(address)
            return Refusal(status=HTTPStatus.UNAUTHORIZED, message="the token is not good")
        return Caller(key=key, secret=secret.strip())

    def _wrong_change(self, caller: Caller, headers: Headers) -> Refusal | None:
        if caller.key.scope is not Scope.STEER:
            return Refusal(status=HTTPStatus.FORBIDDEN, message="this key may only look")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            message = "expected application/json"
            return Refusal(status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message=message)
        if caller.key.kind is Kind.TOKEN:
            return None  # no browser sends a header by itself
        if not headers.get("origin"):
            return Refusal(status=HTTPStatus.FORBIDDEN, message="asked from no page")
        if not hmac.compare_digest(headers.get(CSRF, "").encode(), caller.csrf.encode()):
            hint = "load the page again"
            return Refusal(status=HTTPStatus.FORBIDDEN, message="not asked by our page", hint=hint)
        return None


def refused(refusal: Refusal) -> JSONResponse:
    """The answer to somebody who may not."""
    headers = {"Retry-After": str(int(refusal.wait) + 1)} if refusal.wait else {}
    said = {"message": refusal.message, "hint": refusal.hint}
    return JSONResponse({"error": said}, status_code=refusal.status, headers=headers)


def too_often(wait: float) -> Refusal:
    """They were wrong too often."""
    return Refusal(
        status=HTTPStatus.TOO_MANY_REQUESTS, message="too many wrong keys", hint="wait", wait=wait
    )


def address_of(scope: Connection) -> str:
    """Where they come from; behind a tunnel that is the tunnel."""
    client = scope.get("client")
    return client[0] if client else ""


def name_of(host: str) -> str:
    """The name in `name:port`, `[::1]:port`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].casefold()


def same_place(origin: str, host: str) -> bool:
    """Whether a page of that origin is ours; a tunnel may have added TLS."""
    scheme, _, place = origin.partition("://")
    return scheme in ("http", "https") and place.casefold() == host.casefold()


def cookie_of(headers: Headers) -> str:
    """The session's secret; empty: none, or two, of which one was put there by somebody else."""
    try:
        jars = [SimpleCookie(line) for line in headers.getlist("cookie")]
    except CookieError:
        return ""
    found = [jar[COOKIE].value for jar in jars if COOKIE in jar]
    return found[0] if len(found) == 1 else ""
