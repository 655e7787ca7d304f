"""Claude Code's file about its own process, as long as exactly that process lives."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from koboshi.adapters.claude.equip import config_folder
from koboshi.observations import RegistryRead

from .envelopes import object_of
from .processes import Being, family

#: Seconds between searches for a file that is not there yet.
SEARCH = 1.0
#: Bytes; the real ones have under 1,000.
MOST = 64 << 10


class Registry:
    """Of one run, known by the pid that it was started as."""

    def __init__(self, run: int, pid: int) -> None:
        self._run = run
        self._pid = pid
        self._being: Being | None = None
        self._path = Path()
        self._stamp: tuple[int, int, int] | None = None
        self._searched = -SEARCH
        self.record: dict[str, Any] = {}  #: as it was told last
        self.config: Path | None = None  #: the folder that the agent keeps its things in

    def read(self) -> RegistryRead | None:
        """The file, when it has changed; an empty one when it does not hold any more."""
        being = self._being or self._search()
        if being is None:
            return None
        if not being.lives():
            return self._lost()
        try:
            facts = self._path.stat()
            stamp = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
            if stamp == self._stamp:
                return None
            content = self._path.read_bytes() if facts.st_size <= MOST else b""
        except OSError:
            return self._lost()
        record = object_of(content)
        if record is None:
            return None  # caught in the middle of being written
        if not tells_of(record, being):
            return self._lost()
        self._stamp, self.record = stamp, record
        return RegistryRead(run=self._run, record=record)

    def _search(self) -> Being | None:
        """The process of the run that has such a file: it, or the nearest that it started."""
        if time.monotonic() - self._searched < SEARCH:
            return None
        self._searched = time.monotonic()
        for pid in family(self._pid):
            being = Being(pid)
            folder = config_folder(being.env())
            path = Path(folder) / "sessions" / f"{pid}.json"
            if folder and os.path.isfile(path):  # noqa: PTH113 - a folder we may not enter is none
                self._being, self._path, self.config = being, path, Path(folder)
                return being
        return None

    def _lost(self) -> RegistryRead | None:
        told, self.record = self.record, {}
        self._being, self._stamp = None, None
        return RegistryRead(run=self._run, record={}) if told else None


def tells_of(record: dict[str, Any], being: Being) -> bool:
    """Whether the file is about that very process; one with its number may have left it behind."""
    start = record.get("procStart")
    known = being.born is not None and isinstance(start, str) and start.isdigit()
    return record.get("pid") == being.pid and (not known or start == str(being.born))
