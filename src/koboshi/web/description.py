"""The API's description (OpenAPI 3.1), made from the table of operations."""

from __future__ import annotations

from typing import Any

import msgspec

from koboshi._version import __version__

from . import downloads
from .door import CSRF
from .operations import EVERY, Operation

_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"message": {"type": "string"}, "hint": {"type": "string"}},
            "required": ["message", "hint"],
        }
    },
    "required": ["error"],
}
_FAILURES = {
    "400": "what was said cannot be used",
    "401": "no key",
    "403": "not from our page, or the key may only look",
    "404": "no such agent",
    "409": "not possible now",
    "413": "the body is too long",
    "415": "not application/json",
    "429": "too many wrong keys",
    "503": "the daemon is not there",
}


def described() -> dict[str, Any]:
    """The whole description."""
    bodies = [each.body for each in EVERY if each.body is not None]
    _, components = msgspec.json.schema_components(
        dict.fromkeys(bodies), ref_template="#/components/schemas/{name}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for each in EVERY:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each)
    paths["/api/stream"] = {"get": _stream()}
    download = downloads.described()
    paths[downloads.PATH] = {
        "get": {**download, "responses": {**download["responses"], **_failures()}}
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "koboshi", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {**components, "Error": _ERROR},
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "koboshi"},
                "token": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{"session": []}, {"token": []}],
    }


def _operation(each: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": each.id,
        "summary": each.summary,
        "parameters": _parameters(each),
        "responses": {"200": _json({}, f"what the daemon says to `{each.verb}`"), **_failures()},
    }
    if each.body is not None:
        body = {"$ref": f"#/components/schemas/{each.body.__name__}"}
        told["requestBody"] = {"content": {"application/json": {"schema": body}}, "required": True}
    return told


def _parameters(each: Operation) -> list[dict[str, Any]]:
    text = {"type": "string"}
    path = [{"name": n, "in": "path", "required": True, "schema": text} for n in each.names]
    query = [
        {"name": name, "in": "query", "schema": query.schema, "description": query.summary}
        for name, query in each.query.items()
    ]
    note = "with a session's cookie: what /api/session says"
    header = [{"name": CSRF, "in": "header", "schema": text, "description": note}]
    return [*path, *query, *(header if each.body is not None else [])]


def _stream() -> dict[str, Any]:
    summary = "server-sent events: `link`, `board`, `plans`, `news`, `screen` of one agent, `beat`"
    agent = {"name": "agent", "in": "query", "schema": {"type": "string"}}
    ok = {"description": summary, "content": {"text/event-stream": {}}}
    return {
        "operationId": "stream",
        "summary": summary,
        "parameters": [agent],
        "responses": {"200": ok, **_failures()},
    }


def _failures() -> dict[str, Any]:
    error = {"$ref": "#/components/schemas/Error"}
    return {code: _json(error, words) for code, words in _FAILURES.items()}


def _json(schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}
