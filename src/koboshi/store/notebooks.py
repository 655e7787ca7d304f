"""Notebook: the lines of a plan's journal, in segments, so that it grows to a bound and no further.

`journal.jsonl` is the first segment, `journal.0002.jsonl` the next. Each but the first begins with
all that recovery needs, so it can be read alone, and old ones can go.

Rule 1: nothing is changed in place. A line that somebody's death or a full disk tore is left as it
is, and the next one begins on a line of its own.
Rule 2: a segment is there as a whole, with its beginning, or not at all: whoever dies in between
leaves the one before to be gone on with.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .journal import KEEP_DAYS
from .shelves import make_private, write_whole

#: Bytes at which a segment is closed: some thousand decisions. A keeper reads one at its start.
SEGMENT_BYTES = 4 << 20
#: Closed segments that are kept; with the open one a plan's journal takes 32 MB at most.
KEEP_SEGMENTS = 7
_SEGMENT = re.compile(r"journal(?:\.(\d{4,9}))?\.jsonl")
_DAY = 86400.0

Row = dict[str, Any]


class Notebook:
    """The segments in one folder. One writes, many read."""

    def __init__(
        self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES, keep: int = KEEP_SEGMENTS
    ) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._keep = keep

    def add(self, row: Row, *, sync: bool = True) -> bool:
        """One more line, durably if `sync`; whether the segment is full."""
        make_private(self._folder)
        path = (self._paths() or [_named(self._folder, 1)])[-1]
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            line = (b"\n" if torn else b"") + _line(row)
            os.write(descriptor, line)
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return size + len(line) > self._segment_bytes

    def turn(self, head: Row) -> None:
        """Begin a segment with that, then drop what is too old or too much."""
        paths = self._paths()
        number = _number(paths[-1]) + 1 if paths else 1
        write_whole(_named(self._folder, number), _line(head))
        oldest = time.time() - KEEP_DAYS * _DAY
        for n, path in enumerate(reversed(paths)):
            with contextlib.suppress(FileNotFoundError):
                if n >= self._keep or path.stat().st_mtime < oldest:
                    path.unlink()

    def newest(self) -> list[Row]:
        """The last segment: what recovery needs."""
        return [row for path in self._paths()[-1:] for row in _rows(path)]

    def all(self) -> list[Row]:
        """Every line there is, oldest first; a torn one is left out."""
        return [row for path in self._paths() for row in _rows(path)]

    def _paths(self) -> list[Path]:
        """The segments, oldest first; what else lies in the folder is not ours."""
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 - at each line; a Path per name is slow
        except FileNotFoundError:
            return []
        found = [self._folder / name for name in names if _SEGMENT.fullmatch(name)]
        return sorted(found, key=_number)


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=True).encode() + b"\n"


def _named(folder: Path, number: int) -> Path:
    return folder / ("journal.jsonl" if number == 1 else f"journal.{number:04d}.jsonl")


def _number(path: Path) -> int:
    found = _SEGMENT.fullmatch(path.name)
    return int(found[1]) if found and found[1] else 1


def _rows(path: Path) -> Iterator[Row]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return  # its time was over since it was listed
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
