"""Bundles to take away: had from the daemon piece by piece, so that none is ever held as a whole.

A bundle is more than a page shows (transcript, processes, configuration), redacted or not: whoever
may only look does not get it. It is given as a file and never as a page.
"""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from koboshi.errors import DaemonError, KoboshiError

from . import api
from .door import Caller, Refusal, refused
from .keys import Scope

if TYPE_CHECKING:
    from starlette.requests import Request

    from koboshi.daemon.control.visitor import Asked

PATH = "/api/agents/{name}/bundles/{file}"
SUMMARY = "a bundle of that agent, as a file; needs a key that may steer"


class Downloads:
    """Gives files away."""

    def __init__(self, daemon: Asked) -> None:
        self._daemon = daemon

    def route(self) -> Route:
        """Where they are had."""
        return Route(PATH, self.bundle, methods=["GET"])

    async def bundle(self, request: Request) -> Response:
        """One bundle."""
        caller: Caller = request.scope["koboshi.caller"]
        if caller.key.scope is not Scope.STEER:
            return refused(Refusal(status=HTTPStatus.FORBIDDEN, message="this key may only look"))
        name, file = request.path_params["name"], request.path_params["file"]
        try:
            first = await self._piece(name, file, 0)
        except KoboshiError as error:
            return api.failed(error, "GET")
        # The daemon knows a file of exactly that name; nothing in a header rests on that alone.
        called = re.sub(r"[^\w.-]", "_", f"{name}-{file}", flags=re.ASCII)
        headers = {
            "Content-Disposition": f'attachment; filename="{called}"',
            "Content-Length": str(first["size"]),
        }
        if request.method == "HEAD":
            return Response(headers=headers, media_type="application/gzip")
        pieces = self._pieces(name, file, first)
        return StreamingResponse(pieces, headers=headers, media_type="application/gzip")

    async def _piece(self, name: str, file: str, offset: int) -> dict[str, Any]:
        said: dict[str, Any] = await self._daemon.ask(
            "piece", name=name, kind="bundle", file=file, offset=offset
        )
        return said

    async def _pieces(self, name: str, file: str, first: dict[str, Any]) -> AsyncIterator[bytes]:
        """All of it; where another file took its place the connection breaks, half is not whole."""
        told, offset = first, 0
        while True:
            content = base64.b64decode(told["content"])
            if told["mark"] != first["mark"] or (not content and offset < first["size"]):
                raise DaemonError(f"{file} was changed while it was read")
            yield content
            offset += len(content)
            if offset >= first["size"]:
                return
            told = await self._piece(name, file, offset)


def described() -> dict[str, Any]:
    """For the API's description."""
    text = {"type": "string"}
    names = [{"name": n, "in": "path", "required": True, "schema": text} for n in ("name", "file")]
    ok = {"description": SUMMARY, "content": {"application/gzip": {}}}
    return {
        "operationId": "download",
        "summary": SUMMARY,
        "parameters": names,
        "responses": {"200": ok},
    }
