"""`koboshi mcp` in a project's `.mcp.json`: text in, text out, spliced as hooks are."""

from __future__ import annotations

import json
from typing import Any

from koboshi.adapters.splicing import Unusable, line_of, members_of, root_of, spliced

NAME = "koboshi"
_SERVER = {"command": "koboshi", "args": ["mcp"]}
#: The order of the keys tells whether the object around it is ours, too.
_IN_LIST = f'"{NAME}":{json.dumps(_SERVER)}'
_ALONE = f'"{NAME}":{json.dumps(dict(reversed(_SERVER.items())))}'
_BLOCK = f'"mcpServers":{{{_ALONE}}}'
#: A file that was not there before.
CREATED = "{\n" + _BLOCK + "\n}\n"


def merged(text: str) -> str:
    """The file with our server; the same text when one of that name is in it already."""
    root = root_of(text)
    servers = members_of(text, root).get("mcpServers")
    if servers is None:
        return spliced(text, root, _BLOCK)
    if not isinstance(servers.value, dict):
        raise Unusable("expected an object under 'mcpServers'", line_of(text, servers.start))
    return text if NAME in servers.value else spliced(text, servers.start, _IN_LIST)


def removed(text: str) -> str | None:
    """The file as it was before `merged`; None: there was no file."""
    if text == CREATED:
        return None
    for piece in (_BLOCK, _IN_LIST):
        if piece in text:
            return text.replace(f"{piece},", "", 1).replace(piece, "", 1)
    return _rewritten(text)


def _rewritten(text: str) -> str:
    """Somebody formatted the file: our server is taken out of its value."""
    try:
        value: dict[str, Any] = json.loads(text)
        servers = value["mcpServers"]
        ours = servers[NAME] == _SERVER
    except (ValueError, KeyError, TypeError, RecursionError):
        return text  # there is nothing of ours in it
    if not ours:
        return text
    del servers[NAME]
    if not servers:
        del value["mcpServers"]
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
