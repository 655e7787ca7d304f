"""The tasks file of an agent: read when it changed, told when what it says did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.observations import TasksSeen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Bytes; a longer file is no list of tasks, and nothing is said of it.
LONGEST = 1 << 20


class TasksFile:
    """One file, looked at with one `stat` a call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[int, ...] | None = ()

    def poll(self) -> Iterator[TasksSeen]:
        """What it says now, if it changed since the last call."""
        try:
            status = self._path.stat()
            marks = (status.st_ino, status.st_size, status.st_mtime_ns)
            if marks == self._known:
                return
            text = self._read() if status.st_size <= LONGEST else ""
        except OSError:
            marks, text = None, ""
            if self._known is None:
                return
        self._known = marks
        yield TasksSeen(text=text)

    def _read(self) -> str:
        return self._path.read_text(encoding="utf-8", errors="replace")
