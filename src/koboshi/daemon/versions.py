"""Versions of CLIs, asked once per program and not once per start of the daemon.

`--version` of one CLI takes seconds of processor time, and a daemon that comes back has to know it
for every agent before it can look at any.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING

from koboshi.hosts.probing import fingerprint, version_of
from koboshi.store.shelves import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.performers import Program

FILE = "versions.json"
#: Programs that are remembered, the last ones asked for.
MOST = 50


class Versions:
    """What programs said of themselves, while their files stay as they are."""

    def __init__(self, state: Path) -> None:
        self._file = state / FILE
        self._known: dict[str, str] | None = None
        self._asking: dict[str, asyncio.Task[str]] = {}

    async def of(self, program: Program) -> str:
        """The version of the CLI that this starts; empty when that cannot be had."""
        files = fingerprint(program.argv, env=program.env, cwd=program.cwd)
        if not files:
            return await _asked(program)
        known = self._read()
        if files in known:
            return known[files]
        # Many agents of one CLI are taken up in one moment: one question is enough.
        if files not in self._asking:
            self._asking[files] = asyncio.ensure_future(_asked(program))
            self._asking[files].add_done_callback(lambda _: self._asking.pop(files))
        version = await asyncio.shield(self._asking[files])
        if version and files not in known:
            self._keep(files, version)
        return version

    def _read(self) -> dict[str, str]:
        if self._known is None:
            self._known = {}
            with contextlib.suppress(OSError, ValueError, RecursionError):
                found = json.loads(self._file.read_bytes())
                told = found.items() if isinstance(found, dict) else ()
                self._known = {k: v for k, v in told if isinstance(v, str) and v}
        return self._known

    def _keep(self, files: str, version: str) -> None:
        """A program that was replaced is forgotten; the file is an economy, and may fail."""
        path = files.partition(" ")[0]
        known = {k: v for k, v in self._read().items() if k.partition(" ")[0] != path}
        self._known = dict([*known.items(), (files, version)][-MOST:])
        with contextlib.suppress(OSError):
            write_whole(self._file, json.dumps(self._known).encode(), sync=False)


async def _asked(program: Program) -> str:
    return await version_of(program.argv, env=program.env, cwd=program.cwd)
