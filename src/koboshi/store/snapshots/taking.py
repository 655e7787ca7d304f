"""Take a snapshot: all that `git status` shows, as a commit that no branch knows.

Tracked files that changed, staged or not, and untracked ones that are not ignored, with the bytes
they have on the disk. Index, worktree, HEAD, branches, reflogs and the stash are only read.

Filters do not run, neither `clean` (LFS) nor line endings: a changed file is kept as it lies there,
an unchanged one as git has it, which for LFS is the pointer. Submodules and other repositories
inside are kept as the commit they are at; what is uncommitted in them is not in the snapshot. Files
marked `assume-unchanged` or `skip-worktree` count as unchanged, as they do for `git status`.
"""

from __future__ import annotations

import os
import re
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from koboshi.errors import GitError, InputError

from .desk import Desk, joined, open_desk, shown, split
from .records import Snapshot, differing, message_of, ref_of

#: Seconds that a snapshot may take.
PATIENCE = 120.0
#: The agent goes on while we read: a file that is written at that moment is read once more.
_TRIES = 3
#: Names that are tried when another snapshot of the same name was quicker.
_NAMES = 20
_NO_BLOB = ("000000", "160000")  # modes: not there, a submodule
_IDENTITY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "koboshi"), ("EMAIL", "koboshi@localhost"))
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much goes into a snapshot; what is too large is left out and named."""

    file: int = 50_000_000  #: bytes of one file
    total: int = 500_000_000  #: bytes of all files that are read for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """No snapshot was taken, and why."""

    reason: str


@dataclass(slots=True)
class Gathered:
    """What is to be done to the copied index."""

    read: dict[bytes, int] = field(default_factory=dict)  #: path → size
    links: list[bytes] = field(default_factory=list)
    gone: list[bytes] = field(default_factory=list)
    left: dict[bytes, str] = field(default_factory=dict)  #: path → why it is not in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A snapshot, and the paths that are not in it."""

    snapshot: Snapshot
    left: frozenset[bytes]


def take(
    worktree: Path,
    agent: str,
    name: str,
    *,
    limits: Limits | None = None,
    patience: float = PATIENCE,
) -> Snapshot | Skipped:
    """A snapshot of the worktree that the folder is in; `name-2` if `name` is taken."""
    ref_of(agent, name)
    try:
        with open_desk(worktree, patience=patience) as desk:
            return take_at(desk, agent, name, limits or Limits()).snapshot
    except InputError:
        raise
    except GitError as error:
        return Skipped(reason=str(error))
    except OSError as error:
        return Skipped(reason=f"{error.filename or 'disk'}: {(error.strerror or '').lower()}")


def take_at(desk: Desk, agent: str, name: str, limits: Limits) -> Taken:
    """The same at a desk; its index then is the snapshot, with what the disk said of each file."""
    desk.copy_index()
    for last in (*[False] * (_TRIES - 1), True):
        gathered = _gather(desk, limits)
        try:
            _enter(desk, gathered)
            break
        except GitError:
            if last:
                raise
    # Objects that a partial clone has not fetched are no reason to fetch them.
    tree = desk.private("write-tree", "--missing-ok").out.decode().strip()
    left = dict(sorted(gathered.left.items()))
    snapshot = _commit(desk, agent, name, tree, [f"{shown(p)}: {why}" for p, why in left.items()])
    return Taken(snapshot=snapshot, left=frozenset(left))


def _gather(desk: Desk, limits: Limits) -> Gathered:
    # Not `git add -A`: one unreadable file, or one repository without a commit, and it gives up.
    known = set(split(desk.private("ls-files", "-z", "--modified").out))
    unmerged = {
        row.partition(b"\t")[2] for row in split(desk.private("ls-files", "-z", "--unmerged").out)
    }
    others = split(desk.private("ls-files", "-z", "--others", "--exclude-standard").out)
    gathered, parents = Gathered(), dict[bytes, bool]()
    for path in sorted(known | unmerged | set(others)):
        _sort(os.fsencode(desk.top), path, gathered, parents)
    total = sum(gathered.read.values())
    for path, size in sorted(gathered.read.items(), key=lambda each: -each[1]):
        if size > limits.file:
            gathered.left[path] = f"{size_words(size)}, more than {size_words(limits.file)}"
        elif total > limits.total:
            gathered.left[path] = f"all files have more than {size_words(limits.total)}"
        else:
            break
        total -= gathered.read.pop(path)
    # A tree has no place for a conflict: what cannot be read is not there at all.
    gathered.gone += sorted(unmerged & gathered.left.keys())
    return gathered


def _sort(top: bytes, path: bytes, gathered: Gathered, parents: dict[bytes, bool]) -> None:
    """Decide what becomes of one path, by what is on the disk now."""
    plain = path.rstrip(b"/")  # git ends another repository's name with a slash
    full = os.path.join(top, plain)  # noqa: PTH118 - bytes: the name may be no text
    try:
        found = os.lstat(full) if _reached(top, plain, parents) else None
    except OSError:
        found = None
    if found is None:
        gathered.gone.append(plain)
    elif stat.S_ISLNK(found.st_mode):
        gathered.read[plain] = 0
    elif stat.S_ISREG(found.st_mode):
        if os.access(full, os.R_OK):
            gathered.read[plain] = found.st_size
        else:
            gathered.left[plain] = "not readable"
    elif not stat.S_ISDIR(found.st_mode):
        gathered.left[plain] = "not a file"  # to open a pipe would wait for its other end
    elif os.path.lexists(os.path.join(full, b".git")):  # noqa: PTH118
        gathered.links.append(plain)
    else:
        gathered.gone.append(plain)  # a folder where a file was; what is in it is listed by itself


def _reached(top: bytes, path: bytes, parents: dict[bytes, bool]) -> bool:
    """Whether the path is reached without a link: behind one lies somebody else's file."""
    folder = os.path.dirname(path)  # noqa: PTH120 - bytes
    if not folder:
        return True
    if folder not in parents:
        here = _reached(top, folder, parents)
        parents[folder] = here and not os.path.islink(os.path.join(top, folder))  # noqa: PTH118, PTH114
    return parents[folder]


def _enter(desk: Desk, gathered: Gathered) -> None:
    if gathered.gone:
        words = ("update-index", "--force-remove", "-z", "--stdin")
        desk.private(*words, feed=joined(gathered.gone))
    adds = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
    if gathered.read:
        said = desk.private(*adds, feed=joined(list(gathered.read))).err
        for name in re.findall(rb"^Ignoring path (.+)$", said, re.MULTILINE):
            gathered.left[name] = "git takes no such name"
    for link in gathered.links:
        try:
            desk.private(*adds, feed=joined([link]))
        except GitError:
            gathered.left[link] = "a repository without a commit"


def _commit(desk: Desk, agent: str, name: str, tree: str, left: list[str]) -> Snapshot:
    parent, micros = desk.head(), time.time_ns() // 1000
    changed = differing(desk, desk.tree_of(parent), tree)
    size = _size(desk, [oid for mode, oid, _ in changed.values() if mode not in _NO_BLOB])
    dates = dict.fromkeys(
        ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"@{micros // 1_000_000} +0000"
    )
    error = GitError(f"{name} and {_NAMES} names after it are taken")
    for number in range(1, _NAMES + 1):
        chosen = name if number == 1 else f"{name}-{number}"
        ref = ref_of(agent, chosen)
        text = message_of(
            agent, chosen, micros=micros, files=len(changed), size=size, left_out=left
        )
        commit = desk.private(
            *("commit-tree", *(["-p", parent] if parent else []), tree),
            feed=text.encode(errors="backslashreplace"),
            more={**_IDENTITY, **dates},
        ).out.decode().strip()  # fmt: skip
        desk.keep()
        try:
            desk.refs("update-ref", "--stdin", "-z", feed=f"create {ref}\0{commit}\0".encode())
        except GitError as refused:
            if "exists" not in str(refused):
                raise
            error = refused
            continue
        return Snapshot(
            agent=agent, name=chosen, ref=ref, commit=commit, parent=parent,
            utc=micros / 1_000_000, files=len(changed), size=size, left_out=tuple(left),
        )  # fmt: skip
    raise error


def _size(desk: Desk, objects: list[str]) -> int:
    feed = "".join(f"{oid}\n" for oid in objects).encode()
    said = desk.private("cat-file", "--batch-check=%(objectsize)", feed=feed).out
    return sum(int(row) for row in said.split() if row.isdigit())


def size_words(size: int) -> str:
    """A size in words: `61 MB`, `3 KB`, `12 B`."""
    for unit, name in ((1_000_000, "MB"), (1000, "KB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"
