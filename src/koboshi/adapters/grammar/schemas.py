"""What a manifest may say, checked before it is used: every mistake with its key and its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from koboshi.adapters.versions import within
from koboshi.core.readings import Meaning, PromptKind, Status

Complaint = tuple[str, str]  #: the key, and what was expected there
Check = Callable[[object], str | None]


def _is(kind: type, words: str) -> Check:
    return lambda value: None if type(value) is kind else f"expected {words}, not {value!r}"


def _pattern(value: object) -> str | None:
    if not isinstance(value, str):
        return f"expected a regular expression, not {value!r}"
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        return f"expected a regular expression: {error}"
    return None


def _range(value: object) -> str | None:
    try:
        within("0.0", str(value))
    except ValueError as error:
        return str(error)
    return None


def _number(value: object) -> str | None:
    right = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return None if right else f"expected a number from 0 on, not {value!r}"


def _words(value: object) -> str | None:
    right = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return None if right else f"expected a list of words, not {value!r}"


def _one_of(*words: str) -> Check:
    known = ", ".join(words)
    return lambda value: None if value in words else f"expected one of {known}, not {value!r}"


def _kinds(value: object) -> str | None:
    known = [kind.value for kind in PromptKind]
    right = isinstance(value, list) and all(kind in known for kind in value)
    return None if right else f"expected a list of {', '.join(known)}, not {value!r}"


_TEXT, _FLAG = _is(str, "a text"), _is(bool, "true or false")
#: Where in a dialog something is taken from.
_PLACES = ("content", "flat", "path", "lead", "hint", "question", "title", "titled", "body")
_STATUS = _one_of(*(status.value for status in Status))
_SIGN: dict[str, Any] = {
    "name": _TEXT,
    "pattern": _pattern,
    "status": _STATUS,
    "code": _TEXT,
    "coloured": _FLAG,
    "faint": _TEXT,
    "above": _pattern,
    **dict.fromkeys(("noticed", "toasted", "whole"), _FLAG),
}
_FORM: dict[str, Any] = dict.fromkeys(("first", "options", "end", "drops"), _words)
_ADDED: dict[str, Any] = {"words": _words, "versions": _range}
#: A table is a dict ("*" stands for any key); a list of tables is one of these and a needed key.
SCHEMA: dict[str, Any] = {
    "name": _TEXT,
    "versions": _range,
    "command": _pattern,
    "whole": _FLAG,
    "title": {"busy": _pattern, "idle": _pattern, "asking": _pattern},
    "box": {
        "layout": _one_of("ruled", "caret", "panel"),
        "most_below": _number,
        **dict.fromkeys(("first_gap", "toasts"), _FLAG),
        **dict.fromkeys(("caret", "rule", "below", "placeholder"), _pattern),
        **dict.fromkeys(("pasted", "scrolled", "alone", "menu"), _pattern),
    },
    "blocks": dict.fromkeys(("head", "user", "ended", "tool", "tree", "open_end"), _pattern),
    "signs": {"*": [_SIGN, "pattern"]},
    "dialog": {
        **dict.fromkeys(("mark", "dismiss"), _TEXT),
        "move": _words,
        **dict.fromkeys(("join_rows", "first_question", "buttons"), _FLAG),
        **dict.fromkeys(
            ("bar", "option", "hint", "hintless", "picks", "refusal", "after", "foreign"), _pattern
        ),
        **dict.fromkeys(("footer", "restless", "aside", "cut", "inner_rule", "glue"), _pattern),
        **dict.fromkeys(("closing", "hint_end"), _pattern),
        "tops": [_SIGN, "pattern"],
        "kinds": [
            {
                "name": _TEXT,
                "pattern": _pattern,
                "kind": _one_of(*(kind.value for kind in PromptKind)),
                "where": _one_of("title", "question", "options", "hint", "body"),
            },
            "pattern",
        ],
        "meanings": [
            {
                "name": _TEXT,
                "pattern": _pattern,
                "meaning": _one_of(*(meaning.value for meaning in Meaning)),
                "kinds": _kinds,
            },
            "pattern",
        ],
        "subjects": [
            {
                "name": _TEXT,
                "title": _pattern,
                "take": _one_of(*_PLACES),
                "extract": _pattern,
                "glued": _FLAG,
            },
            "title",
        ],
        "tools": [
            {
                "name": _TEXT,
                "title": _pattern,
                "tool": _TEXT,
                "take": _one_of(*_PLACES),
                "extract": _pattern,
            },
            "tool",
        ],
    },
    "words": {"*": _TEXT},
    "typing": {"pause": _number, "interrupt": _words},
    "start": {
        **dict.fromkeys(("one", "maybe", "many", "flags", "commands", "which", "once"), _words),
        "one_shot": _words,
        "session_commands": _words,
        "folder": _TEXT,
        "adds": [_ADDED, "words"],
        "fresh": _ADDED,
        **dict.fromkeys(("resume", "last", "headless", "headless_resumed"), _FORM),
        "env": {"*": _TEXT},
    },
}
SCHEMA["when"] = [dict(SCHEMA), "versions"]


def complaints(raw: dict[str, Any]) -> list[Complaint]:
    """Everything that is wrong with the tables of a manifest, or of a part of one."""
    return list(_of_table(raw, SCHEMA, ""))


def _of_table(raw: object, schema: dict[str, Any], path: str) -> Iterator[Complaint]:
    if not isinstance(raw, dict):
        yield path, f"expected a table, not {raw!r}"
        return
    for key, value in raw.items():
        here = f"{path}.{key}" if path else key
        wanted = schema.get(key, schema.get("*"))
        if wanted is None:
            yield here, f"expected one of {', '.join(sorted(schema))}"
        elif isinstance(wanted, dict):
            yield from _of_table(value, wanted, here)
        elif isinstance(wanted, list):
            yield from _of_list(value, *wanted, path=here)
        elif (wrong := wanted(value)) is not None:
            yield here, wrong


def _of_list(raw: object, schema: dict[str, Any], needed: str, *, path: str) -> Iterator[Complaint]:
    if not isinstance(raw, list):
        yield path, f"expected a list of tables, not {raw!r}"
        return
    for number, entry in enumerate(raw):
        here = f"{path}[{number}]"
        yield from _of_table(entry, schema, here)
        if isinstance(entry, dict) and needed not in entry:
            yield here, f"expected the key {needed!r}"


_HEADER = re.compile(r"^\s*\[(\[)?\s*([\w.\"-]+)\s*\]?\]")
_KEY = re.compile(r"^\s*([\w\"-]+)\s*=")


def line_of(text: str, key: str) -> int | None:
    """The line in which that key (`signs.context[1].pattern`) is set; None when it is not found."""
    table, counts = "", dict[str, int]()
    best: int | None = None
    for number, row in enumerate(text.split("\n"), 1):
        header, entry = _HEADER.match(row), _KEY.match(row)
        if header:
            table = header[2].replace('"', "")
            if header[1]:
                counts[table] = counts.get(table, -1) + 1
                table = f"{table}[{counts[table]}]"
        here = table if header else ""
        if not header and entry:
            name = entry[1].replace('"', "")
            here = f"{table}.{name}" if table else name
        if here == key:
            return number
        if here and key.startswith((f"{here}.", f"{here}[")):
            best = number  # an inline table, or an array: its first line
    return best
