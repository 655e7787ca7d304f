"""A manifest from its parts: ours, what it says of one version, and the user's own.

A table is merged key by key. In a list of named entries (`signs`, `dialog.kinds` …) the new ones
are tried first, and take the place of all old ones of the same name: a list can be added to, and
an entry of it mended, without a copy of the rest. `whole = true` takes the user's file alone.
"""

from __future__ import annotations

import tomllib
from typing import Any

from koboshi.adapters.versions import within

Table = dict[str, Any]


def merged(below: Table, above: Table) -> Table:
    """The tables as one; what stands above wins."""
    if above.get("whole") is True:
        return above
    return _tables(below, above)


def _tables(below: Table, above: Table) -> Table:
    made = dict(below)
    for key, value in above.items():
        old = made.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            made[key] = _tables(old, value)
        elif key != "when" and _is_entries(value) and _is_entries(old):
            named = {entry.get("name") for entry in value} - {None}
            made[key] = [*value, *(entry for entry in old or () if entry.get("name") not in named)]
        elif key == "when" and _is_entries(old):
            made[key] = [*(old or ()), *value]
        else:
            made[key] = value
    return made


def _is_entries(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def for_version(raw: Table, version: str) -> Table:
    """The manifest as it is for that version: each `[[when]]` whose range holds goes on top.

    A version that is not known is the newest: what is said of a range without an end holds.
    """
    made = {key: value for key, value in raw.items() if key != "when"}
    for section in raw.get("when", ()):
        inside = within(version, section["versions"])
        open_end = "<" not in section["versions"] and "==" not in section["versions"]
        if inside or (inside is None and open_end):
            made = _tables(made, {k: v for k, v in section.items() if k != "versions"})
    return made


def tables(text: str) -> Table:
    """The text as TOML; tomllib.TOMLDecodeError (a ValueError) names line and column."""
    return tomllib.loads(text)
