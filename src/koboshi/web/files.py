"""The files of the page, read once. Each has an address with the edition of all of them in it.

A browser keeps what has such an address and never asks for it again: another edition has another
address. So a phone that opens the page a second time asks for one small file and for what is new.
No word about any agent is in them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib import resources
from typing import TYPE_CHECKING

from starlette.responses import Response

from .door import KEPT, Refusal, refused

if TYPE_CHECKING:
    from starlette.requests import Request

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
#: Letters of the name of an edition: two that are the same would have to be looked for.
_LETTERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """All files as they are."""

    name: str
    contents: dict[str, bytes]


@cache
def edition() -> Edition:
    """What this koboshi shows; its page names the others by their addresses."""
    folder = resources.files(__package__) / "static"
    contents = {each.name: each.read_bytes() for each in folder.iterdir()}
    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(f"{name} {len(contents[name])} ".encode() + contents[name])
    name = digest.hexdigest()[:_LETTERS]
    page = contents["index.html"].replace(b'="/static/', f'="/static/{name}/'.encode())
    return Edition(name=name, contents={**contents, "index.html": page})


async def page(request: Request) -> Response:  # noqa: ARG001 - Starlette's signature
    """The one page there is."""
    return _file("index.html")


async def static(request: Request) -> Response:
    """A file of the page; an edition that is not ours is the one of a page from before."""
    response = _file(request.path_params["name"])
    if (
        request.path_params.get("edition") == edition().name
        and response.status_code == HTTPStatus.OK
    ):
        response.headers["Cache-Control"] = KEPT
    return response


def _file(name: str) -> Response:
    """A file of ours; anything else is not there."""
    # Looked for among ours: no name is made into a path, so none can climb.
    content = edition().contents.get(name)
    if content is None:
        return refused(Refusal(status=HTTPStatus.NOT_FOUND, message="no such file"))
    return Response(content, media_type=TYPES[f".{name.partition('.')[2]}"])
