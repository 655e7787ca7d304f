"""The app: files of the page, the way in, the API and the stream, behind the door."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from koboshi._version import __version__
from koboshi.errors import InputError, KoboshiError

from . import api, description, files
from .door import COOKIE, Caller, Door, Refusal, address_of, refused, too_often
from .downloads import Downloads
from .feed import Feed, TooMany
from .keys import Keys, Kind
from .metrics import TYPE, exposed

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from koboshi.daemon.control.visitor import Asked

#: Bytes of a login: a ticket and a few braces.
LONGEST = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """What the app is made of."""

    daemon: Asked
    keys: Keys
    clock: Callable[[], float]
    names: Collection[str] = ()  #: names that the machine is reached by
    secure: bool = False  #: browsers come by TLS


def made(premises: Premises, feed: Feed) -> ASGIApp:
    """The app, with its door shut."""
    entrance = Entrance(premises.keys)
    views = Views(premises.daemon, feed, premises.keys)

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        task = asyncio.get_running_loop().create_task(feed.run())
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    app = Starlette(
        routes=[
            Route("/", files.page, methods=["GET"]),
            Route("/static/{name}", files.static, methods=["GET"]),
            Route("/static/{edition}/{name}", files.static, methods=["GET"]),
            Route("/healthz", views.healthz, methods=["GET"]),
            Route("/metrics", views.metrics, methods=["GET"]),
            Route("/login", entrance.login, methods=["POST"]),
            Route("/logout", entrance.logout, methods=["POST"]),
            Route("/api/session", views.session, methods=["GET"]),
            Route("/api/openapi.json", views.openapi, methods=["GET"]),
            Route("/api/stream", views.stream, methods=["GET"]),
            Downloads(premises.daemon).route(),
            *api.routes(premises.daemon, feed),
        ],
        exception_handlers={HTTPException: missing},
        lifespan=life,
    )
    clock, names = premises.clock, premises.names
    return Door(app, keys=premises.keys, clock=clock, names=names, secure=premises.secure)


async def missing(request: Request, error: Exception) -> Response:
    """No such address, or not with that method: told as every other error is."""
    status = HTTPStatus(error.status_code if isinstance(error, HTTPException) else 400)
    message = f"{request.method} finds nothing at this address"
    return refused(Refusal(status=status, message=message, hint="/api/openapi.json names them"))


# -- the way in -------------------------------------------------------------------------------


class Entrance:
    """A ticket becomes a session, and a session ends."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def login(self, request: Request) -> Response:
        """Give a session for a ticket; it is in the body, so that no address ever holds it."""
        throttle, address = request.scope["koboshi.throttle"], address_of(request.scope)
        if not request.headers.get("origin"):
            return refused(Refusal(status=HTTPStatus.FORBIDDEN, message="asked from no page"))
        wait = throttle.wait(address)
        if wait > 0:
            return refused(too_often(wait))
        ticket = await _ticket(request)
        found = self._keys.redeem(ticket) if ticket else None
        if found is None:
            throttle.wrong(address)
            message, hint = (
                "the link is used up or too old",
                "'koboshi serve --link' prints another",
            )
            why = Refusal(status=HTTPStatus.UNAUTHORIZED, message=message, hint=hint)
            return refused(why)
        session, key = found
        response = JSONResponse({"scope": key.scope})
        response.set_cookie(
            COOKIE,
            session,
            max_age=int(Kind.SESSION.life),
            httponly=True,
            samesite="strict",
            secure=request.scope["koboshi.secure"],
        )
        return response

    async def logout(self, request: Request) -> Response:
        """End the session."""
        caller: Caller = request.scope["koboshi.caller"]
        self._keys.drop(caller.key.hash)
        response = JSONResponse({})
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response


async def _ticket(request: Request) -> str:
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LONGEST:
            return ""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    ticket = said.get("ticket") if isinstance(said, dict) else None
    return ticket if isinstance(ticket, str) and ticket.isascii() else ""


# -- what is shown ----------------------------------------------------------------------------


class Views:
    """What is no operation of the daemon's."""

    def __init__(self, daemon: Asked, feed: Feed, keys: Keys) -> None:
        self._daemon, self._feed, self._keys = daemon, feed, keys

    async def healthz(self, request: Request) -> Response:  # noqa: ARG002
        """Whether we are there, and the daemon; nothing else, for anybody may ask."""
        [link] = self._feed.link.values()
        return JSONResponse({"ok": True, "daemon": link["up"]})

    async def metrics(self, request: Request) -> Response:  # noqa: ARG002
        """What is known, as numbers."""
        [link] = self._feed.link.values()
        agents, viewers = self._feed.board.values(), self._feed.viewers
        text = exposed(agents, daemon=link["up"], viewers=viewers)
        return Response(text, headers={"Content-Type": TYPE})

    async def session(self, request: Request) -> Response:
        """Who one is, and the word that has to be said with every change."""
        caller: Caller = request.scope["koboshi.caller"]
        csrf = caller.csrf if caller.key.kind is Kind.SESSION else ""
        told: dict[str, Any] = {"scope": caller.key.scope, "csrf": csrf, "version": __version__}
        try:
            known = await self._daemon.ask("ping")
            told["verbs"] = known.get("verbs", [])
        except KoboshiError:
            told["verbs"] = []
        return JSONResponse(told)

    async def openapi(self, request: Request) -> Response:  # noqa: ARG002
        """The description of the API."""
        return JSONResponse(description.described())

    async def stream(self, request: Request) -> Response:
        """What changes, as it changes; everything first."""
        caller: Caller = request.scope["koboshi.caller"]
        agent, kind = request.query_params.get("agent", ""), caller.key.kind
        if agent and agent not in self._feed.board:
            return api.failed(InputError(f"no agent is called {agent!r}"), "POST")
        hash_ = caller.key.hash
        frames = self._feed.frames(agent, lambda: self._keys.good(hash_, kind) is not None)
        try:
            first = await anext(frames)
        except TooMany as error:
            return api.failed(error, "GET")
        return StreamingResponse(_after(first, frames), media_type="text/event-stream")


async def _after(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    yield first
    async with contextlib.aclosing(rest) as frames:
        async for frame in frames:
            yield frame
