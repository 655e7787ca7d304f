"""Hooks that the shim left in a file because nobody listened."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from koboshi.observations import HookFired, StatusLineSeen

from .envelopes import unpack

#: Bytes read at a time; the shim does not let a spool grow past a few times this.
CHUNK = 16 << 20


class Spool:
    """Takes the file away and reads it.

    A shim that had it open a moment before may still write to it, so it is kept, and read to its
    end, until the next call.
    """

    def __init__(self, path: Path, agent: str) -> None:
        self._path = path
        self._taken = path.with_name(f"{path.name}.taken")
        self._agent = agent
        self._offset = 0

    def read(self) -> list[HookFired | StatusLineSeen]:
        """What was left since the last call."""
        found = self._rest(last=True)
        with contextlib.suppress(OSError):
            self._path.rename(self._taken)
            self._offset = 0
        return found + self._rest(last=False)

    def _rest(self, *, last: bool) -> list[HookFired | StatusLineSeen]:
        try:
            with self._taken.open("rb") as file:
                file.seek(self._offset)
                content = file.read(CHUNK)
        except OSError:
            return []
        whole, _, torn = content.rpartition(b"\n")
        self._offset += len(content) - len(torn)
        if last:
            self._taken.unlink(missing_ok=True)
        now = time.time()
        lines = (unpack(line, agent=self._agent, utc=now) for line in whole.split(b"\n"))
        return [each for each in lines if each is not None]
