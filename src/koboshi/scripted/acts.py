"""What a scripted agent does, one act after the other, and how a script file is read."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal

AskKind = Literal["permission", "question", "plan", "trust"]


class ScriptError(ValueError):
    """A script cannot be used; the message names the line or the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A turn runs for a while, says something, and fills the context by that many percent."""

    seconds: float
    say: str = ""
    context: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A dialog opens and waits; `options` are for the kind "question" only."""

    command: str
    kind: AskKind = "permission"
    question: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A usage limit is hit that resets that many seconds later."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """The turn ends in an API error, and so does every other one for that many seconds."""

    code: str = "500"
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """API errors are retried for a while, then the turn goes on."""

    code: str = "529"
    seconds: float = 20.0
    attempts: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """The conversation is compacted; the turn goes on afterwards."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """The spinner counts for ever; happens once, a resumed run goes on behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """The process dies and leaves its last frame; happens once."""

    code: int = 1
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """The agent leaves word for its next run and hangs up on itself; happens once."""

    reason: str
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTurn:
    """The turn ends although work is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Everything is finished and the agent says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """Lines of a file or of a tool appear in the transcript, whatever they look like."""

    lines: tuple[str, ...]


Act = Work | Ask | Limit | Fail | Retry | Compact | Hang | Crash | Reload | EndTurn | Done | Print
Script = tuple[Act, ...]

_ACTS: dict[str, type[Act]] = {
    "work": Work,
    "ask": Ask,
    "limit": Limit,
    "fail": Fail,
    "retry": Retry,
    "compact": Compact,
    "hang": Hang,
    "crash": Crash,
    "reload": Reload,
    "end_turn": EndTurn,
    "done": Done,
    "print": Print,
}
_KINDS = ("permission", "question", "plan", "trust")


def load_script(text: str) -> Script:
    """The acts of a TOML (`[[act]]`) or JSON (`{"act": […]}` or `[…]`) text."""
    head = text.lstrip()
    is_json = head.startswith("{") or (head.startswith("[") and not head.startswith("[["))
    entries, lines = _from_json(text) if is_json else _from_toml(text)
    return tuple(_act(entry, number, lines) for number, entry in enumerate(entries, 1))


def _from_json(text: str) -> tuple[list[Any], list[int]]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"line {error.lineno}: not JSON: {error.msg}"
        raise ScriptError(message) from error
    except RecursionError as error:
        message = "not a script: nested too deeply"
        raise ScriptError(message) from error
    return _entries(value), []


def _from_toml(text: str) -> tuple[list[Any], list[int]]:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"not TOML: {error}"
        raise ScriptError(message) from error
    lines = [
        n for n, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[\s*act\s*\]\]", line)
    ]
    return _entries(value), lines


def _entries(value: object) -> list[Any]:
    if isinstance(value, dict):
        for key in value:
            if key != "act":
                message = f"expected only the key 'act', not {key!r}"
                raise ScriptError(message)
        value = value.get("act", [])
    if not isinstance(value, list):
        message = f"key 'act': expected a list of acts, not {type(value).__name__}"
        raise ScriptError(message)
    if not value:
        message = "expected at least one act, found none"
        raise ScriptError(message)
    return value


def _act(entry: object, number: int, lines: list[int]) -> Act:
    where = f"act {number}" + (f" (line {lines[number - 1]})" if number <= len(lines) else "")
    if not isinstance(entry, dict):
        message = f"{where}: expected a table, not {type(entry).__name__}"
        raise ScriptError(message)
    name = entry.get("do")
    kind = _ACTS.get(name) if isinstance(name, str) else None
    if kind is None:
        message = f"{where}, key 'do': expected one of {', '.join(_ACTS)}, not {name!r}"
        raise ScriptError(message)
    wanted = {field.name: field for field in fields(kind)}
    given: dict[str, Any] = {}
    for key, value in entry.items():
        if key == "do":
            continue
        if key not in wanted:
            expected = ", ".join(wanted) or "no keys"
            message = f"{where}: unknown key {key!r} for {name!r}, expected {expected}"
            raise ScriptError(message)
        given[key] = _value(str(wanted[key].type), value, f"{where}, key {key!r}")
    for key, field in wanted.items():
        if key not in given and field.default is MISSING:
            message = f"{where}: {name!r} needs the key {key!r}"
            raise ScriptError(message)
    return kind(**given)


def _value(annotation: str, value: Any, where: str) -> Any:  # noqa: ANN401 - a parsed file holds anything
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match annotation:
        case "float" if is_number and 0 <= value < float("inf"):
            return float(value)
        case "int" | "int | None" if is_number and isinstance(value, int) and value >= 0:
            return value
        case "AskKind" if value in _KINDS:
            return value
        case "str" | "str | None" if isinstance(value, str):
            return value
        case "tuple[str, ...]" if isinstance(value, list) and all(
            isinstance(v, str) for v in value
        ):
            return tuple(value)
    expected = {
        "float": "a number, not negative",
        "int": "a whole number, not negative",
        "int | None": "a whole number, not negative",
        "AskKind": "one of " + ", ".join(_KINDS),
        "tuple[str, ...]": "a list of strings",
    }.get(annotation, "a string")
    message = f"{where}: expected {expected}, not {value!r}"
    raise ScriptError(message)
