"""Hooks that the shim left in a file because nobody listened."""

from __future__ import annotations

import os
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
        self._keeps = True  # another supervisor may have left one

    def read(self) -> list[HookFired | StatusLineSeen]:
        """What was left since the last call."""
        found = self._rest(last=True) if self._keeps else []
        try:
            # Not pathlib's: mostly there is none, and that is asked at every look.
            os.rename(self._path, self._taken)  # noqa: PTH104
        except OSError:
            return found
        self._keeps, self._offset = True, 0
        return found + self._rest(last=False)

    def _rest(self, *, last: bool) -> list[HookFired | StatusLineSeen]:
        try:
            with self._taken.open("rb") as file:
                file.seek(self._offset)
                content = file.read(CHUNK)
        except FileNotFoundError:
            self._keeps = False
            return []
        except OSError:
            return []
        whole, _, torn = content.rpartition(b"\n")
        self._offset += len(content) - len(torn)
        if last:
            self._taken.unlink(missing_ok=True)
            self._keeps = False
        now = time.time()
        lines = (unpack(line, agent=self._agent, utc=now) for line in whole.split(b"\n"))
        return [each for each in lines if each is not None]
