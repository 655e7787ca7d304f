"""Hooks in a person's JSON file, for `koboshi init`: text in, text out.

A file is spliced, not written anew: what a person wrote keeps every byte, and `removed` gives back
exactly what was there. Where something was put tells how much of it is ours, so each place has a
wording of its own. A file that somebody formatted since is read and written anew instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

#: Stands in every command of ours, and in nobody else's.
MARK = "koboshi-init"
#: Below the state folder: how the hooks of a pane reach whoever looks after it.
PANES = "panes"
#: Which file there, by tmux's own variables: `SOCKET,SERVER,SESSION` and `%PANE`.
_STATE = "${KOBOSHI_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/koboshi}"
_SIGNPOST = f'"{_STATE}/{PANES}/${{t##*,}}.${{TMUX_PANE#%}}"'
#: Nothing happens unless koboshi says how to reach it: by a variable to runs that it started and
#: that have no hooks of their own, by a file to an agent that a person started. What cannot be run
#: is passed over: the exit code 2 of a shell would be a refusal. Codex lets the user's own shell
#: run it, which may be any; so what it understands is one word.
_COMMAND = (
    f"sh -c ': {MARK}; "
    '[ -n "$KOBOSHI_AGENT$KOBOSHI_HOOK_SHIM" ] || [ -z "$TMUX_PANE" ] || '
    f'{{ t=${{TMUX%,*}}; eval "$(cat {_SIGNPOST} 2>/dev/null)"; }}; '
    '[ -z "$KOBOSHI_HOOK_SHIM" ] || eval "$KOBOSHI_HOOK_SHIM@"'
    "' || true"
)
COMMAND = _COMMAND.replace("@", "")
#: The one that waits for an answer.
ASKING = _COMMAND.replace("@", " ask")
_BLANK = " \t\r\n"


class Unusable(ValueError):
    """The text cannot be merged into; `line` says where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Member(NamedTuple):
    """A key of an object, and where its value is in the text."""

    start: int
    value: Any


class Splice:
    """Our hook at each of these events; `rest` is what such a hook has beside its command.

    `asks` is the event whose hook waits for an answer, with what that one has.
    """

    def __init__(
        self,
        events: tuple[str, ...],
        rest: Mapping[str, Any],
        asks: tuple[str, Mapping[str, Any]],
    ) -> None:
        self._entries = {
            event: _Entry(ASKING, asks[1]) if event == asks[0] else _Entry(COMMAND, rest)
            for event in events
        }
        self._lists = {e: f'"{e}":[{each.text(alone=True)}]' for e, each in self._entries.items()}
        self._block = '"hooks":{' + ",\n".join(self._lists.values()) + "}"
        #: A file that was not there before.
        self.created = "{\n" + self._block + "\n}\n"

    def merged(self, text: str) -> str:
        """The settings with our hooks; the same text when they are in it already."""
        if MARK in text:
            members_of(text, root_of(text))  # it must be usable all the same
            return text
        root = root_of(text)
        hooks = members_of(text, root).get("hooks")
        if hooks is None:
            return spliced(text, root, self._block)
        if not isinstance(hooks.value, dict):
            raise Unusable("expected an object under 'hooks'", line_of(text, hooks.start))
        for event, piece in self._lists.items():
            place = members_of(text, hooks.start).get(event)
            if place is None:
                text = spliced(text, hooks.start, piece)
            elif isinstance(place.value, list):
                text = spliced(text, place.start, self._entries[event].text(alone=False))
            else:
                raise Unusable(f"expected a list under {event!r}", line_of(text, place.start))
        return text

    def removed(self, text: str) -> str | None:
        """The settings as they were before `merged`; None: there was no file."""
        if text == self.created:
            return None
        in_lists = {each.text(alone=False) for each in self._entries.values()}
        for piece in (self._block, *self._lists.values(), *in_lists):
            text = text.replace(f"{piece},", "").replace(piece, "")
        return _rewritten(text) if MARK in text else text


class _Entry(NamedTuple):
    """One hook."""

    command: str
    rest: Mapping[str, Any]

    def text(self, *, alone: bool) -> str:
        """As JSON; the order of its keys tells whether the list around it is ours, too."""
        facts: dict[str, Any] = {"type": "command", "command": self.command}
        return json.dumps({"hooks": [{**self.rest, **facts} if alone else {**facts, **self.rest}]})


def _rewritten(text: str) -> str:
    """Somebody formatted the file: our hooks are taken out of its value."""
    settings = json.loads(text)
    hooks = settings.get("hooks", {})
    for event, groups in list(hooks.items()):
        hooks[event] = [group for group in groups if MARK not in json.dumps(group)]
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        settings.pop("hooks", None)
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def spliced(text: str, start: int, piece: str) -> str:
    """The text with that as the first thing inside the bracket at `start`."""
    inside = _skip(text, start + 1)
    comma = "" if text[inside] in "}]" else ","
    return f"{text[: start + 1]}{piece}{comma}{text[start + 1 :]}"


def root_of(text: str) -> int:
    """Where the object begins."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Unusable(f"expected JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise Unusable("expected JSON that is less deeply nested", 1) from None
    if not isinstance(value, dict):
        raise Unusable("expected a JSON object", 1)
    return _skip(text, 0)


def members_of(text: str, start: int) -> dict[str, Member]:
    """The members of the object at `start`, of a text that is known to be JSON; the last counts."""
    found: dict[str, Member] = {}
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1)
        at = _skip(text, _skip(text, at) + 1)
        value, end = json.JSONDecoder().raw_decode(text, at)
        found[key] = Member(start=at, value=value)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def line_of(text: str, at: int) -> int:
    """The number of the line that this place is in."""
    return text.count("\n", 0, at) + 1
