"""Folders that dead hosts left behind. A host that is closed removes its own; a killed one cannot.

Rule: a folder goes only when it is ours (same user, no link, nothing in it but what we write), when
the process that made it is proven gone, and when no process of its runs lives: each by identity,
never by a number alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import time
from typing import TYPE_CHECKING

import psutil

from koboshi.hosts import recorder
from koboshi.hosts.runs import RunFolder, slug
from koboshi.hosts.trees import Child, tree

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from koboshi.hosts.base import Launch

#: Names the process that made a folder.
OWNER = "owner.json"
#: Seconds. A folder that names nobody may be a moment old.
UNSIGNED = 86400.0


def sign(folder: Path) -> None:
    """Write down that this process made it."""
    pid = os.getpid()
    started = psutil.Process(pid).create_time()
    recorder.write(str(folder), OWNER, {"pid": pid, "born": recorder.born(pid), "started": started})


def sweep(root: Path, prefix: str) -> list[Path]:
    """Remove what dead hosts left; returns what was removed."""
    gone = []
    for folder in root.glob(f"{prefix}*"):
        # It is looked at by nobody else, but may be removed by another sweep at the same time.
        with contextlib.suppress(OSError, ValueError, TypeError):
            if _ours(folder) and not _owned(folder) and all(map(_over, folder.iterdir())):
                shutil.rmtree(folder)
                gone.append(folder)
    return gone


def sweep_runs(root: Path, launch: Launch, kept: Collection[str]) -> None:
    """Remove what earlier runs of that agent left whose terminal is gone, with its server.

    `kept` are the folders that a terminal still names.
    """
    name = re.compile(rf"{re.escape(slug(launch.agent))}-([0-9]{{1,9}})-[0-9a-f]{{8}}")
    for folder in root.glob("*"):
        found = name.fullmatch(folder.name)
        if found is None or int(found[1]) >= launch.run or folder.name in kept:
            continue
        with contextlib.suppress(OSError, ValueError, TypeError):
            if _ours(folder) and _over(folder):
                shutil.rmtree(folder)


def _ours(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _owned(folder: Path) -> bool:
    try:
        owner = Child(**json.loads((folder / OWNER).read_bytes()))
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime < UNSIGNED
    return owner.running()


def _over(entry: Path) -> bool:
    """Whether that is a run of which no process lives; anything unknown might be somebody's."""
    if entry.name == OWNER:
        return True
    if entry.is_symlink() or not entry.is_dir():
        return False
    run = RunFolder(entry)
    child = run.child()
    if child is None:  # never started; the recorder gives up by itself
        return run.ended() is not None
    return not child.recorded() and not tree(child)
