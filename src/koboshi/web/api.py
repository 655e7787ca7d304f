"""The API: an operation is asked of the daemon, and an error becomes a status and a sentence."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from koboshi.daemon.control.client import Refused
from koboshi.daemon.control.visitor import ANSWERS
from koboshi.errors import DaemonError, InputError, KoboshiError

from .operations import EVERY, QUESTIONS, Operation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from koboshi.daemon.control.visitor import Asked

    from .feed import Feed

#: Exit code of what a person gave us and cannot be used.
_INPUT = 2


class TooLong(InputError):
    """The body is longer than anything we would read."""


def routes(daemon: Asked, feed: Feed) -> list[Route]:
    """A route for every operation."""
    made = [
        Route(each.path, endpoint(each, daemon), methods=[each.method])
        for each in EVERY
        if each is not QUESTIONS
    ]
    return [*made, Route(QUESTIONS.path, asked_of(daemon, feed), methods=["GET"])]


def endpoint(each: Operation, daemon: Asked) -> Callable[[Request], Awaitable[Response]]:
    """What answers that operation."""

    async def answer(request: Request) -> Response:
        try:
            args = {**request.path_params, **queried(each, request), **await body_of(each, request)}
            patience = ANSWERS + each.patience
            return said(await daemon.ask(each.verb, patience=patience, **args, **each.fixed))
        except KoboshiError as error:
            return failed(error, each.method)

    return answer


def asked_of(daemon: Asked, feed: Feed) -> Callable[[Request], Awaitable[Response]]:
    """What waits for a person; a daemon that has no verb for it tells it with its agents."""

    async def answer(request: Request) -> Response:  # noqa: ARG001 - Starlette's signature
        try:
            known = await daemon.ask("ping")
            if QUESTIONS.verb in known.get("verbs", ()):
                return said(await daemon.ask(QUESTIONS.verb))
        except KoboshiError as error:
            return failed(error, "GET")
        return said(sorted(waiting(feed.board.values()), key=lambda each: float(each["since"])))

    return answer


def waiting(agents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The open questions in what is known of all agents."""
    return [
        {
            **each["question"],
            "id": f"{each['agent']}:{each['run']['number']}.{each['question']['nth']}",
            "agent": each["agent"],
        }
        for each in agents
        if each.get("question") and each.get("run") and each["status"] == "asking"
    ]


def queried(each: Operation, request: Request) -> dict[str, Any]:
    """The values behind the `?`, as what they should be."""
    args = {}
    for name, word in request.query_params.items():
        query = each.query.get(name)
        if query is None:
            known = ", ".join(each.query) or "nothing"
            raise InputError(f"expected {known} behind the '?', not {name!r}")
        try:
            args[name] = query.kind(word)
        except ValueError:
            raise InputError(f"expected {query.summary}, not {name}={word!r}") from None
    return args


async def body_of(each: Operation, request: Request) -> dict[str, Any]:
    """The body, if it is what the operation takes."""
    if each.body is None:
        return {}
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > each.longest:
            raise TooLong(f"expected at most {each.longest} bytes")
    try:
        found: dict[str, Any] = msgspec.to_builtins(
            msgspec.json.decode(content or b"{}", type=each.body)
        )
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"expected a JSON object: {error}") from None
    return found


def said(value: Any) -> Response:  # noqa: ANN401 - what a verb said
    """The answer."""
    return Response(msgspec.json.encode(value), media_type="application/json")


def failed(error: KoboshiError, method: str) -> JSONResponse:
    """Why there is no answer."""
    told = {"message": printable(str(error)), "hint": printable(error.hint)}
    return JSONResponse({"error": told}, status_code=status_of(error, method))


def status_of(error: KoboshiError, method: str) -> HTTPStatus:
    """The number of an error; ours are never 500: those are bugs."""
    if isinstance(error, TooLong):
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if isinstance(error, DaemonError):
        return HTTPStatus.SERVICE_UNAVAILABLE
    if isinstance(error, Refused) and error.exit_code == _INPUT and method == "GET":
        return HTTPStatus.NOT_FOUND
    return HTTPStatus.BAD_REQUEST if error.exit_code == _INPUT else HTTPStatus.CONFLICT


def printable(text: str) -> str:
    """The text without lone surrogates, which JSON in UTF-8 cannot say."""
    return text.encode("utf-8", "backslashreplace").decode()
