"""In which line of a TOML text a key stands: the parser does not tell."""

from __future__ import annotations

import re

Key = tuple[str, ...]

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_PATH = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_PATH})[ \t]*\]")
_ENTRY = re.compile(rf"[ \t]*({_PATH})[ \t]*=")
_QUOTES = ('"""', "'''")


class Lines:
    """The lines of the keys of one text."""

    def __init__(self, text: str) -> None:
        self._lines: dict[Key, int] = {}
        self._counts: dict[Key, int] = {}
        table: Key = ()
        inside = ""  # the quotes of a text over many lines, whose rows are no keys
        for number, row in enumerate(text.split("\n"), 1):
            if not inside:
                if header := _HEADER.match(row):
                    table = self._table(_parts(header[2]), many=header[1] == "[[")
                    self._lines.setdefault(table, number)
                elif entry := _ENTRY.match(row):
                    self._lines.setdefault(table + _parts(entry[1]), number)
            for quotes in (inside,) if inside else _QUOTES:
                if row.count(quotes) % 2:
                    inside = "" if inside else quotes
                    break

    def _table(self, table: Key, *, many: bool) -> Key:
        """The n-th `[[table]]` is `table.n`, as the parser's errors call it."""
        if not many:
            return table
        number = self._counts[table] = self._counts.get(table, -1) + 1
        return (*table, str(number))

    def of(self, key: Key) -> int | None:
        """The line of that key, else of the table or list it stands in."""
        for length in range(len(key), 0, -1):
            if key[:length] in self._lines:
                return self._lines[key[:length]]
        return None


def _parts(path: str) -> Key:
    return tuple(part.strip("\"'") for part in re.findall(_PART, path))
