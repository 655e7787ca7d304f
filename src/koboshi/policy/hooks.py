"""A hook's payload → what the agent wants. Whatever runs as the user may send one: tolerant.

Rule 1: what has a shape that is not expected makes the request incomplete, and nothing allows it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from koboshi.core.readings import PromptKind

from .policies import SHELL_TOOLS
from .requests import Request

EVENT = "PermissionRequest"
#: Characters of a word, and of a text.
_MAX_WORD, _MAX_TEXT = 256, 65_536
#: Texts that a server's tool is given, and levels of them.
_MOST_ARGUMENTS, _MOST_DEEP = 200, 8
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)
_WRITES = {
    "Edit": "file_path",
    "Write": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "write_file": "file_path",
    "replace": "file_path",
}
_READS = {"Read": "file_path", "Glob": "path", "Grep": "path", "LS": "path", "read_file": "path"}

Fields = Mapping[str, object]


def request_of_hook(payload: Mapping[str, object]) -> Request | None:
    """What a `PermissionRequest` asks for; None for any other payload."""
    if not isinstance(payload, dict) or payload.get("hook_event_name") != EVENT:
        return None
    tool, cwd = _text(payload, "tool_name", _MAX_WORD), _text(payload, "cwd", _MAX_TEXT)
    given = payload.get("tool_input")
    if not tool:
        return None
    fields = given if isinstance(given, dict) else {}
    whole = isinstance(given, dict) and cwd is not None
    request = _reader(tool)(tool, fields)
    complete = request.complete and whole
    return replace(request, cwd=cwd or "", complete=complete)


def _reader(tool: str) -> Callable[[str, Fields], Request]:
    if tool in SHELL_TOOLS:
        return _shell
    if tool in _WRITES or tool in _READS:
        return _file
    special = {
        "WebFetch": _fetch,
        "web_fetch": _fetch,
        "apply_patch": _patch,
        "AskUserQuestion": _question,
        "ExitPlanMode": _plan,
    }
    return special.get(tool, _other)


def _text(fields: Fields, key: str, most: int = _MAX_TEXT) -> str | None:
    """The text of a key, empty where it is not there; None for anything else, or too much of it."""
    value = fields.get(key, "")
    if not isinstance(value, str) or len(value) > most:
        return None
    return value


def _shell(tool: str, fields: Fields) -> Request:
    command = fields.get("command", "")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = shlex.join(command)
    right = isinstance(command, str) and 0 < len(command) <= _MAX_TEXT
    # Outside of the sandbox it is another question than the command alone.
    outside = bool(fields.get("dangerouslyDisableSandbox"))
    where = fields.get("workdir", fields.get("directory"))
    # Codex asks so about the network for a command that runs already: its words are no answer.
    network = str(fields.get("description", "")).startswith("network-access ")
    return Request(
        kind=PromptKind.PERMISSION,
        tool=tool,
        command=str(command) if right else "",
        complete=right and not (outside or where or network),
    )


def _file(tool: str, fields: Fields) -> Request:
    writes = tool in _WRITES
    path = _text(fields, _WRITES[tool] if writes else _READS[tool])
    if not path and not writes and tool != "Read":
        path = "."  # a search without a path is one in the folder
    return Request(
        kind=PromptKind.PERMISSION,
        tool=tool,
        paths=(path,) if path else (),
        writes=writes,
        complete=bool(path),
    )


def _fetch(tool: str, fields: Fields) -> Request:
    url = _text(fields, "url")
    host = host_of(url or "")
    return Request(
        kind=PromptKind.PERMISSION,
        tool=tool,
        domains=(host,) if host else (),
        complete=bool(host),
    )


def host_of(url: str) -> str:
    """The host of an address; empty for one that programs may read differently."""
    if any(char in url for char in "\\ \t\r\n") or not url.startswith(("http://", "https://")):
        return ""
    try:
        parts = urlsplit(url)
        return "" if "@" in parts.netloc else parts.hostname or ""
    except ValueError:
        return ""


def _patch(tool: str, fields: Fields) -> Request:
    """Files of a patch. Codex does not tell in which folder it applies one: `cwd` is the turn's."""
    texts = [value for value in fields.values() if isinstance(value, str)]
    paths = tuple(found for text in texts for found in _PATCHED.findall(text[:_MAX_TEXT]))
    known = bool(paths) and all(path.startswith("/") for path in paths)
    whole = known and all(len(text) <= _MAX_TEXT for text in texts)
    return Request(kind=PromptKind.PERMISSION, tool=tool, paths=paths, complete=whole)


def _question(tool: str, fields: Fields) -> Request:
    """One question; several at once are left to a person."""
    asked = fields.get("questions")
    only = asked[0] if isinstance(asked, list) and len(asked) == 1 else None
    if not isinstance(only, dict):
        return Request(kind=PromptKind.QUESTION, tool=tool, complete=False)
    options = only.get("options", [])
    rows = options if isinstance(options, list) else [options]
    labels = [each.get("label") if isinstance(each, dict) else None for each in rows]
    right = all(isinstance(label, str) for label in labels)
    question = _text(only, "question")
    return Request(
        kind=PromptKind.QUESTION,
        tool=tool,
        question=question or "",
        options=tuple(str(label) for label in labels),
        several=bool(only.get("multiSelect")),
        complete=bool(question) and right,
    )


def _plan(tool: str, fields: Fields) -> Request:
    plan = _text(fields, "plan")
    return Request(kind=PromptKind.PLAN, tool=tool, question=plan or "", complete=plan is not None)


def _other(tool: str, fields: Fields) -> Request:
    found = tuple(_texts(fields, "", 0))
    known = len(found) <= _MOST_ARGUMENTS and all(len(text) <= _MAX_TEXT for _, text in found)
    return Request(
        kind=PromptKind.PERMISSION,
        tool=tool,
        arguments=found[:_MOST_ARGUMENTS],
        complete=known and _depth(fields) <= _MOST_DEEP,
    )


def _texts(value: object, name: str, deep: int) -> Iterator[tuple[str, str]]:
    """Every text in there, with the name it goes by."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict) and deep <= _MOST_DEEP:
        for key, inner in value.items():
            yield from _texts(inner, str(key)[:_MAX_WORD], deep + 1)
    elif isinstance(value, list) and deep <= _MOST_DEEP:
        for inner in value:
            yield from _texts(inner, name, deep + 1)


def _depth(value: object, deep: int = 0) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if deep > _MOST_DEEP:
        return deep
    return max((_depth(each, deep + 1) for each in inner), default=deep)
