"""Restore a snapshot, and destroy nothing.

`restore_to` writes into a new folder. `restore_here` first takes a snapshot of what is there now,
then writes only over what that snapshot holds: an ignored file, one that was too large, a folder in
the place of a file are left and named. Nothing is removed. Index, HEAD and branches stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import GitError, InputError

from .desk import Desk, open_desk, shown, split
from .records import Snapshot
from .taking import Limits, take_at

#: Seconds.
PATIENCE = 300.0
_LINK = "160000"
_OTHER = "index-other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was written."""

    where: Path
    written: tuple[str, ...]
    kept: tuple[str, ...] = ()  #: paths of the snapshot that were not written, and why
    extra: int = 0  #: files that are there and not in the snapshot; they stay
    before: Snapshot | None = None  #: what was there, if it was there


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file in a tree or an index."""

    mode: str
    oid: str
    sparse: bool = False  #: it is not meant to be on the disk


def restore_to(
    worktree: Path, snapshot: Snapshot, folder: Path, *, paths: Iterable[str] = ()
) -> Restored:
    """Write the files of a snapshot into a new folder."""
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{folder} is there already", hint="choose another with --to")
    with open_desk(worktree, patience=PATIENCE) as desk:
        wanted = _chosen(_tree(desk, snapshot), paths, snapshot)
        target = folder.absolute()
        target.mkdir(parents=True, exist_ok=True)
        _lay(desk, wanted)
        desk.private("checkout-index", "--all", "--force", index=_OTHER, worktree=target)
    kept = [f"{shown(p)}: a repository of its own" for p, e in wanted.items() if e.mode == _LINK]
    written = [shown(path) for path, entry in wanted.items() if entry.mode != _LINK]
    return Restored(where=target, written=tuple(written), kept=tuple(kept))


def restore_here(
    worktree: Path, snapshot: Snapshot, *, name: str, paths: Iterable[str] = ()
) -> Restored:
    """Write the files of a snapshot over those of the worktree, after a snapshot called `name`."""
    with open_desk(worktree, patience=PATIENCE) as desk:
        wanted = _chosen(_tree(desk, snapshot), paths, snapshot)
        before = take_at(desk, snapshot.agent, name, Limits())
        now = _index(desk)
        kept: dict[bytes, str] = {}
        write: dict[bytes, Entry] = {}
        for path, entry in wanted.items():
            if path in now and _same(now[path], entry) and path not in before.left:
                continue
            why = _obstacle(desk.top, path, entry, now, before.left)
            if why:
                kept[path] = why
            else:
                write[path] = entry
        _write(desk, before.snapshot, now | write)
        extra = 0 if paths else len(now.keys() - wanted.keys())
        return Restored(
            where=desk.top,
            written=tuple(map(shown, write)),
            kept=tuple(f"{shown(path)}: {why}" for path, why in kept.items()),
            extra=extra,
            before=before.snapshot,
        )


def _same(one: Entry, other: Entry) -> bool:
    return (one.mode, one.oid) == (other.mode, other.oid)


def _obstacle(
    top: Path, path: bytes, entry: Entry, now: Mapping[bytes, Entry], left: frozenset[bytes]
) -> str:
    """Why a file may not be written; empty: it may."""
    if entry.mode == _LINK or (path in now and now[path].mode == _LINK):
        return "a repository of its own"
    if path in now and now[path].sparse:
        return "outside the sparse checkout"
    full = os.path.join(os.fsencode(top), path)  # noqa: PTH118 - bytes: the name may be no text
    if path in left or (path not in now and os.path.lexists(full)):
        return "what is there now is in no snapshot"
    folder = path
    while folder := os.path.dirname(folder):  # noqa: PTH120
        there = os.path.join(os.fsencode(top), folder)  # noqa: PTH118
        if os.path.lexists(os.path.join(there, b".git")):  # noqa: PTH118
            return f"{shown(folder)} is a repository of its own"
        if os.path.lexists(there) and (os.path.islink(there) or not os.path.isdir(there)):  # noqa: PTH112, PTH114
            return f"{shown(folder)} is no folder now"
    return ""


def _write(desk: Desk, before: Snapshot, after: Mapping[bytes, Entry]) -> None:
    _lay(desk, after)
    tree = desk.private("write-tree", "--missing-ok", index=_OTHER).out.decode().strip()
    try:
        # As if a branch was switched: git looks at every file first, and writes nothing at all if
        # one of them is not what the snapshot before has.
        words = ("read-tree", "-m", "-u", before.commit, tree)
        desk.private(*words, settings={"core.sparseCheckout": "false"})
    except GitError as error:
        raise GitError(
            f"not restored: {error}",
            hint="is the agent at work there? 'koboshi pause' or 'koboshi stop' it, or use --to",
        ) from error


def _lay(desk: Desk, entries: Mapping[bytes, Entry]) -> None:
    """Make the other index of these entries."""
    rows = [f"{e.mode} {e.oid} 0\t".encode() + path + b"\0" for path, e in entries.items()]
    desk.private("read-tree", "--empty", index=_OTHER)
    desk.private("update-index", "-z", "--index-info", index=_OTHER, feed=b"".join(rows))


def _tree(desk: Desk, snapshot: Snapshot) -> dict[bytes, Entry]:
    found = {}
    for row in split(desk.private("ls-tree", "-r", "-z", "--full-tree", snapshot.commit).out):
        facts, _, path = row.partition(b"\t")
        mode, _, oid = facts.decode().split()
        found[path] = Entry(mode=mode, oid=oid)
    return found


def _index(desk: Desk) -> dict[bytes, Entry]:
    found = {}
    for row in split(desk.private("ls-files", "-s", "-t", "-z").out):
        facts, _, path = row.partition(b"\t")
        tag, mode, oid, _ = facts.decode().split()
        found[path] = Entry(mode=mode, oid=oid, sparse=tag == "S")
    return found


def _chosen(
    tree: dict[bytes, Entry], paths: Iterable[str], snapshot: Snapshot
) -> dict[bytes, Entry]:
    """The files below those paths, or all."""
    wanted = [os.fsencode(path).rstrip(b"/") for path in paths]
    if not wanted:
        return tree
    chosen: dict[bytes, Entry] = {}
    for each in wanted:
        below = {p: e for p, e in tree.items() if p == each or p.startswith(each + b"/")}
        if not below:
            raise InputError(
                f"expected a path in the snapshot, not {shown(each)!r}",
                hint="paths begin at the top of the worktree; "
                f"'koboshi snapshots show {snapshot.agent} {snapshot.name}' names what changed",
            )
        chosen |= below
    return chosen
