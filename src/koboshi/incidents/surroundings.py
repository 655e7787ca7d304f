"""What the machine, the processes and the repository say at the time of an incident."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import time
from pathlib import Path

import psutil

from koboshi._version import __version__
from koboshi.errors import GitError
from koboshi.store.snapshots.desk import open_desk

#: Seconds that git may take.
PATIENCE = 10.0
#: Processes of one run that are listed.
MOST = 200


def system(*folders: Path) -> str:
    """The machine as it is: load, memory, disks."""
    memory = psutil.virtual_memory()
    facts = {
        "koboshi": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "load": os.getloadavg(),
        "memory": {"total": memory.total, "available": memory.available},
        "swap_used": psutil.swap_memory().used,
        "up_seconds": round(time.time() - psutil.boot_time()),
        "disks": {str(folder): _disk(folder) for folder in folders},
    }
    return json.dumps(facts, indent=1)


def _disk(folder: Path) -> dict[str, int] | str:
    try:
        used = shutil.disk_usage(folder)
    except OSError as error:
        return str(error)
    return {"total": used.total, "free": used.free}


def processes(pid: int | None) -> str:
    """The tree of processes below that one, a row each."""
    if pid is None:
        return "no process is known\n"
    try:
        top = psutil.Process(pid)
        found = [top, *top.children(recursive=True)]
    except psutil.Error as error:
        return f"process {pid}: {error}\n"
    return "".join(map(_row, found[:MOST]))


def _row(process: psutil.Process) -> str:
    try:
        with process.oneshot():
            age = time.time() - process.create_time()
            words = " ".join(process.cmdline()) or process.name()
            size = process.memory_info().rss >> 20
            return (
                f"{process.pid} (of {process.ppid()}) {process.status()}, {age:.0f} s old, "
                f"{size} MB: {words}\n"
            )
    except psutil.Error as error:
        return f"{process.pid}: {error}\n"


def repository(folder: Path) -> str:
    """Branch, changes and last commits; nothing of the repository runs for it."""
    try:
        with open_desk(folder, patience=PATIENCE) as desk:
            desk.copy_index()
            head = desk.head()
            tree = desk.tree_of(head)
            branch = desk.refs("rev-parse", "--abbrev-ref", "HEAD") if head else b"no commit yet\n"
            changed = desk.private("diff", "--name-status", "--no-ext-diff", tree).out
            stat = desk.private("diff", "--stat", "--no-ext-diff", "--no-textconv", tree).out
            new = desk.private("ls-files", "--others", "--exclude-standard").out
            log = (
                desk.refs("log", "-15", "--no-show-signature", "--format=%h %cI %s")
                if head
                else b""
            )
    except (GitError, OSError) as error:
        return f"git: {error}\n"
    parts = {"branch": branch, "changed": changed, "new files": new, "diff": stat, "log": log}
    return "".join(
        f"## {name}\n{text.decode('utf-8', 'backslashreplace').rstrip() or '(none)'}\n\n"
        for name, text in parts.items()
    )


def branch_of(folder: Path) -> str:
    """The branch of a worktree; empty where there is none."""
    try:
        with open_desk(folder, patience=PATIENCE) as desk:
            return desk.refs("rev-parse", "--abbrev-ref", "HEAD").decode("utf-8", "replace").strip()
    except (GitError, OSError):
        return ""
