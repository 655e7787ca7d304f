"""Which snapshots there are, what is in them, and which may go.

A snapshot is a commit at `refs/koboshi/snapshots/<agent>/<name>`; its parent is the HEAD of that
time. What is known of it stands in its message: there is no second place that could disagree.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import InputError, UnknownSnapshot
from koboshi.store.paths import check_name

from .desk import Desk, open_desk, shown, split

ROOT = "refs/koboshi/snapshots"
#: Seconds for everything but taking one.
PATIENCE = 60.0
#: A message names at most so many files that were left out.
_NAMED = 50
#: Microseconds. A commit knows its second only, and the newest of a second must not go as older.
_SECOND = 1_000_000
_FACT = re.compile(r"^Koboshi-(Files|Size|Microsecond|Left-Out): (.*)$", re.MULTILINE)
_FIELDS = ("refname", "objectname", "committerdate:unix", "parent", "contents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One snapshot."""

    agent: str
    name: str
    ref: str
    commit: str
    parent: str  #: HEAD at that time; empty: there was no commit yet
    utc: float
    files: int  #: that differ from the parent
    size: int  #: bytes of those
    left_out: tuple[str, ...] = ()  #: what is not in it, and why

    @property
    def clean(self) -> bool:
        """Whether nothing differed from the parent."""
        return self.files == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file that differs between two snapshots, or one and its parent."""

    path: str
    kind: str  #: `A`, `M`, `D`, `T`, as git says it
    added: int | None  #: lines; None: it is no text
    deleted: int | None


def ref_of(agent: str, name: str = "") -> str:
    """Where an agent's snapshots are, or one of them is."""
    return f"{ROOT}/{_part(check_name(agent))}/{_part(check_snapshot(name)) if name else ''}"


def check_snapshot(name: str) -> str:
    """The name, if it can be a snapshot's."""
    try:
        return check_name(name)
    except InputError:
        raise InputError(
            f"expected a snapshot's name of letters, digits, '.', '_' and '-', not {name!r}"
        ) from None


def _part(name: str) -> str:
    """A name as a part of a ref: git refuses `a..b`, `a.` and `a.lock`."""
    odd = ".." in name or name.endswith((".", ".lock"))
    return name.replace(".", "%2E") if odd else name


def list_snapshots(
    worktree: Path, agent: str, *, patience: float = PATIENCE
) -> tuple[Snapshot, ...]:
    """All snapshots of that agent in the repository of its worktree, oldest first."""
    check_name(agent)
    with open_desk(worktree, patience=patience) as desk:
        return read(desk, agent)


def read(desk: Desk, agent: str) -> tuple[Snapshot, ...]:
    """The same, at a desk."""
    form = "%00".join(f"%({field})" for field in _FIELDS) + "%00"
    rows = desk.refs("for-each-ref", f"--format={form}", ref_of(agent)).split(b"\0")[:-1]
    found = []
    for n in range(0, len(rows), len(_FIELDS)):
        ref, commit, second, parent, message = (
            cell.decode(errors="replace").lstrip("\n") for cell in rows[n : n + len(_FIELDS)]
        )
        if second.isdecimal():  # else it is no commit, and not ours
            name = ref.rpartition("/")[2].replace("%2E", ".")
            found.append(_snapshot(agent, name, ref, commit, int(second), parent, message))
    return tuple(sorted(found, key=lambda each: (each.utc, each.name)))


def _snapshot(
    agent: str, name: str, ref: str, commit: str, second: int, parent: str, message: str
) -> Snapshot:
    facts: dict[str, list[str]] = {"Files": [], "Size": [], "Microsecond": [], "Left-Out": []}
    for key, value in _FACT.findall(message):
        facts[key].append(value)
    return Snapshot(
        agent=agent, name=name, ref=ref, commit=commit, parent=parent.partition(" ")[0],
        utc=(second * _SECOND + min(_number(facts["Microsecond"]), _SECOND - 1)) / _SECOND,
        files=_number(facts["Files"]), size=_number(facts["Size"]),
        left_out=tuple(facts["Left-Out"]),
    )  # fmt: skip


def _number(values: list[str]) -> int:
    # Anybody can write a ref: what is no number counts nothing.
    return int(values[0]) if values and re.fullmatch(r"[0-9]{1,18}", values[0]) else 0


def message_of(
    agent: str, name: str, *, micros: int, files: int, size: int, left_out: Iterable[str]
) -> str:
    """What a snapshot's commit says; `micros` is when it was taken, in microseconds."""
    left = list(left_out)
    more = [f"and {len(left) - _NAMED} more"] if len(left) > _NAMED else []
    lines = [f"Koboshi-Left-Out: {' '.join(each.split())}" for each in [*left[:_NAMED], *more]]
    return "\n".join(
        [
            f"koboshi snapshot {name} of {agent}",
            "",
            "Uncommitted work as it was found. To see it again:",
            f"koboshi snapshots restore {agent} {name} --to DIR",
            "",
            f"Koboshi-Files: {files}",
            f"Koboshi-Size: {size}",
            f"Koboshi-Microsecond: {micros % _SECOND}",
            *lines,
            "",
        ]
    )


def find(worktree: Path, agent: str, name: str) -> Snapshot:
    """That snapshot; an unknown one is an error that lists the newest."""
    known = list_snapshots(worktree, agent)
    for each in known:
        if each.name == name:
            return each
    newest = ", ".join(each.name for each in known[-5:]) or "none yet"
    raise UnknownSnapshot(
        f"expected the name of a snapshot of {agent}, not {name!r}", hint=f"the newest: {newest}"
    )


def changes(worktree: Path, snapshot: Snapshot) -> tuple[Change, ...]:
    """What differs between a snapshot and its parent, by path."""
    return between(worktree, snapshot.parent, snapshot.commit)


def between(
    worktree: Path, before: str, after: str, *, patience: float = PATIENCE
) -> tuple[Change, ...]:
    """What differs between two commits, by path; empty for one: nothing was there."""
    with open_desk(worktree, patience=patience) as desk:
        trees = (desk.tree_of(before), desk.tree_of(after))
        kinds = {path: kind for path, (_, _, kind) in differing(desk, *trees).items()}
        # Neither a diff program nor a converter of the repository: the desk knows none, and still.
        words = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff")
        rows = split(desk.private(*words, "--no-textconv", *trees).out)
    found = []
    for row in rows:
        added, deleted, path = row.split(b"\t", 2)
        counts = [int(n) if n.isdigit() else None for n in (added, deleted)]
        kind = kinds.get(path, "M")
        found.append(Change(path=shown(path), kind=kind, added=counts[0], deleted=counts[1]))
    return tuple(found)


def differing(desk: Desk, before: str, after: str) -> dict[bytes, tuple[str, str, str]]:
    """What differs between two trees: path → (mode, object, kind), as it is in `after`."""
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
    rows = split(desk.private(*words, before, after).out)
    found = {}
    for facts, path in zip(rows[::2], rows[1::2], strict=True):
        _, mode, _, oid, kind = facts.decode().removeprefix(":").split()
        found[path] = (mode, oid, kind)
    return found


def prune(
    worktree: Path, agent: str, *, keep: int, older: float = 0.0, patience: float = PATIENCE
) -> tuple[Snapshot, ...]:
    """Remove snapshots that are not among the newest `keep` and are `older` than so many seconds.

    Returns what was removed. Their objects go with git's own housekeeping, not before.
    """
    with open_desk(worktree, patience=patience) as desk:
        known = read(desk, agent)
        limit = time.time() - older
        gone = tuple(each for each in known[: max(0, len(known) - keep)] if each.utc <= limit)
        # With the value that was seen: one that was written anew in between stays.
        orders = [f"delete {each.ref}\0{each.commit}\0".encode() for each in gone]
        if orders:
            desk.refs("update-ref", "--stdin", "-z", feed=b"".join(orders))
    return gone
