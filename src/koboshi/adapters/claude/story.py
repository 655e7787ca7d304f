"""What a Claude Code session was about, from its transcript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from koboshi.adapters.story import Story, Written
from koboshi.adapters.values import member, members, object_in, word

#: Tools that change files, and where they name them.
_WRITES = {"Write": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path"}
#: How a user's line begins that is no message of a person.
_NOT_SAID = ("<command-", "<local-command-", "<bash-", "<task-", "[Request interrupted")
#: Files named in a note; the newest matter.
_MOST = 20


@dataclass(slots=True)
class _Found:
    request: str = ""
    reply: str = ""
    files: dict[str, None] = field(default_factory=dict)
    todos: tuple[str, ...] = ()
    given: str = ""
    open: dict[str, Written] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)  #: when each was, as it is written


def read_story(lines: Iterable[bytes]) -> Story:
    """The story that these lines of a transcript tell, whatever else is between them."""
    found = _Found()
    for line in lines:
        entry = object_in(line)
        if entry.get("isSidechain") is True or entry.get("isMeta") is True:
            continue
        if entry.get("type") == "assistant" and entry.get("isApiErrorMessage") is not True:
            _assistant(found, member(entry, "message"), entry)
        elif entry.get("type") == "user":
            _user(found, member(entry, "message"), word(entry, "timestamp"))
        elif entry.get("type") == "attachment":
            _attached(found, member(entry, "attachment"))
    return Story(
        request=found.request,
        reply=found.reply,
        files=tuple(found.files)[-_MOST:],
        todos=found.todos,
        given=found.given,
        calls=tuple(_named(each) for each in found.open.values()),
        pending=tuple(found.open.values()),
    )


def _attached(found: _Found, attachment: dict[str, Any]) -> None:
    """What a hook had the model told; its own output stands in an attachment of another type."""
    kind, event = word(attachment, "type"), word(attachment, "hookEvent")
    said = attachment.get("content")
    if (kind, event) == ("hook_additional_context", "SessionStart") and isinstance(said, list):
        found.given = "\n".join(text for text in said if isinstance(text, str))


def _named(call: Written) -> str:
    return " ".join((call.tool, word(dict(call.given), "command"))).strip()


def _assistant(found: _Found, message: dict[str, Any], entry: dict[str, Any]) -> None:
    said = [word(b, "text") for b in members(message, "content") if b.get("type") == "text"]
    if any(said):
        found.reply = "\n".join(said)
    for block in members(message, "content"):
        if block.get("type") == "tool_use":
            _called(found, block, word(entry, "cwd"))
            found.called[word(block, "id")] = word(entry, "timestamp")


def _called(found: _Found, block: dict[str, Any], cwd: str) -> None:
    name, given = word(block, "name"), member(block, "input")
    found.open[word(block, "id")] = Written(tool=name, given=given, cwd=cwd)
    path = word(given, _WRITES[name]) if name in _WRITES else ""
    if path:
        found.files.pop(path, None)
        found.files[path] = None
    if name == "TodoWrite":
        items = members(given, "todos")
        found.todos = tuple(word(i, "content") for i in items if i.get("status") != "completed")


def _user(found: _Found, message: dict[str, Any], at: str) -> None:
    blocks = members(message, "content")
    for block in blocks:
        if block.get("type") == "tool_result":
            found.open.pop(word(block, "tool_use_id"), None)
    said = message.get("content")
    texts = [said] if isinstance(said, str) else [word(b, "text") for b in blocks]
    text = "\n".join(filter(None, texts))
    if text and not text.startswith(_NOT_SAID):
        found.request = text
        # A turn that goes on after them: whoever dropped them told, or knew. On a busy machine a
        # message is written down after the call that it led to.
        later = {each for each, when in found.called.items() if at and when > at}
        found.open = {each: call for each, call in found.open.items() if each in later}
