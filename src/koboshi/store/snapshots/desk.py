"""Desk: a git folder of our own beside the repository, so that nothing of the repository runs.

The private folder has its own settings, index and attributes, and only reads the objects of the
repository. So hooks, `core.fsmonitor`, filters, includes and signing are not switched off one by
one: they are not there. Settings that say what the disk can (`core.fileMode` …) and what is ignored
are copied. New objects stay here until `keep` brings all of them over as one pack: whoever is
killed before leaves nothing in the repository, and one sync makes them durable (a sync for each
took 20 s for 2,000 files). Refs are read and written in the repository, with `calls.OVERRIDES`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import GitError, NoWorktree

from .calls import OVERRIDES, Answer, Git

PREFIX = "koboshi-snapshot-"
#: Seconds. Every call has a time limit: a folder this old belongs to nobody alive.
_STALE = 3600.0
#: Highest precedence, over every `.gitattributes`: bytes go in and out as they are.
_ATTRIBUTES = "* -text -eol -crlf -ident -filter -working-tree-encoding\n"
_COPIED = (
    "filemode|symlinks|ignorecase|precomposeunicode|trustctime|checkstat"
    "|sparsecheckout|sparsecheckoutcone"
)
_OWN = {
    "core.bare": "false",
    "core.untrackedCache": "false",
    "core.splitIndex": "false",
    "index.sparse": "false",
    "diff.ignoreSubmodules": "dirty",  # else git asks the submodule's own git, with its settings
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """What git says of a folder in a worktree."""

    top: Path
    git_dir: Path  #: of this worktree, which may be a linked one
    objects: Path
    excludes: Path
    object_format: str
    settings: Mapping[str, str]


class Desk:
    """Calls of git about one worktree, in the private folder or at the repository."""

    def __init__(self, git: Git, repository: Repository, folder: Path) -> None:
        self._git = git
        self._folder = folder
        self.repository = repository
        self.top = repository.top

    def private(
        self,
        *words: str,
        feed: bytes = b"",
        index: str = "index",
        worktree: Path | None = None,
        more: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Answer:
        """A call that knows the worktree, the objects and the copied index, and nothing else."""
        own = {
            "GIT_DIR": str(self._folder),
            "GIT_WORK_TREE": str(worktree or self.top),
            "GIT_INDEX_FILE": str(self._folder / index),
            **(more or {}),
        }
        env = self._git.environment(own, {**_OWN, **self.repository.settings, **(settings or {})})
        return self._git.call(*words, env=env, cwd=worktree or self.top, feed=feed)

    def refs(self, *words: str, feed: bytes = b"") -> bytes:
        """A call about the repository's refs."""
        env = self._git.environment({"GIT_DIR": str(self.repository.git_dir)}, OVERRIDES)
        return self._git.call(*words, env=env, cwd=self.top, feed=feed).out

    def keep(self) -> None:
        """Bring every new object into the repository, durably."""
        found = self._folder.glob("objects/[0-9a-f][0-9a-f]/*")
        names = "".join(f"{path.parent.name}{path.name}\n" for path in found)
        base = str(self.repository.objects / "pack" / "pack")
        # No search for deltas: git's own housekeeping has more time for it.
        self.private("pack-objects", "-q", "--window=0", base, feed=names.encode())

    def head(self) -> str:
        """The commit at HEAD; empty where there is none yet."""
        try:
            return self.refs("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
        except GitError:
            return ""

    def tree_of(self, commit: str) -> str:
        """The tree of a commit; the empty one of no commit."""
        if not commit:
            return self.private("hash-object", "-t", "tree", os.devnull).out.decode().strip()
        return self.refs("rev-parse", f"{commit}^{{tree}}").decode().strip()

    def copy_index(self) -> None:
        """The index as it is now, with its time; the real one is only read, and never locked."""
        # Trap: git takes a file for unchanged when its stat fits, unless the file is as young as
        # the index. A copy with a new time would hide what was written in the index's own second.
        git_dir = self.repository.git_dir
        for source in (git_dir / "index", *git_dir.glob("sharedindex.*")):
            with contextlib.suppress(FileNotFoundError):
                _copy(source, self._folder / source.name)


def _copy(source: Path, target: Path) -> None:
    # git replaces its index by a rename: an open one stays whole, and its time is its own.
    with source.open("rb") as reader, target.open("wb") as writer:
        shutil.copyfileobj(reader, writer)
        times = os.fstat(reader.fileno())
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


@contextlib.contextmanager
def open_desk(folder: Path, *, patience: float) -> Iterator[Desk]:
    """The desk for the worktree that this folder is in; raises GitError where there is none."""
    git = Git(patience)
    repository = _discover(git, folder)
    _sweep()
    private = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        _furnish(private, repository)
        yield Desk(git, repository, private)
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _discover(git: Git, folder: Path) -> Repository:
    # The user's own settings are read here: what is safe, and what is ignored, stands there.
    env = git.environment({}, OVERRIDES, sealed=False)

    def ask(*words: str) -> bytes:
        return git.call(*words, env=env, cwd=folder).out

    def place(*words: str) -> Path:
        # One call each: a path may hold a newline.
        said = ask("rev-parse", "--path-format=absolute", *words)
        return Path(os.fsdecode(said.removesuffix(b"\n")))

    known = ask(
        "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-object-format"
    )
    bare, inside, object_format = known.decode().split()
    if inside != "true":
        kind = "a bare git repository" if bare == "true" else "a repository's own git folder"
        raise NoWorktree(f"{kind} has no worktree")
    return Repository(
        top=place("--show-toplevel"),
        git_dir=place("--git-dir"),
        objects=place("--git-path", "objects"),
        excludes=place("--git-path", "info/exclude"),
        object_format=object_format,
        settings=_settings(ask),
    )


def _settings(ask: Callable[..., bytes]) -> dict[str, str]:
    found = {}
    with contextlib.suppress(GitError):  # none of them is set
        for entry in ask("config", "-z", "--get-regexp", rf"^core\.({_COPIED})$").split(b"\0"):
            key, line, value = entry.partition(b"\n")
            if key:  # a key without a value is true
                found[key.decode()] = value.decode() if line else "true"
    with contextlib.suppress(GitError):
        said = ask("config", "-z", "--type=path", "--get", "core.excludesFile")
        found["core.excludesFile"] = os.fsdecode(said.removesuffix(b"\0"))
    return found


def _furnish(private: Path, repository: Repository) -> None:
    for name in ("objects/info", "refs", "info"):
        (private / name).mkdir(parents=True)
    # Quoted, as C does it: a path may hold anything.
    quoted = "".join(f"\\{byte:03o}" for byte in os.fsencode(repository.objects))
    (private / "objects" / "info" / "alternates").write_text(f'"{quoted}"\n')
    (private / "HEAD").write_text("ref: refs/heads/none\n")
    (private / "config").write_text(
        "[core]\n\trepositoryformatversion = 1\n"
        f"[extensions]\n\tobjectformat = {repository.object_format}\n"
    )
    (private / "info" / "attributes").write_text(_ATTRIBUTES)
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(repository.excludes, private / "info" / "exclude")


def _sweep() -> None:
    """Remove what killed ones left."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = left.lstat()
            if found.st_uid == os.getuid() and time.time() - found.st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)


def split(listed: bytes) -> list[bytes]:
    """The entries of a list that git ended with NULs."""
    return [entry for entry in listed.split(b"\0") if entry]


def joined(entries: list[bytes]) -> bytes:
    """A list as git reads it with `-z`."""
    return b"".join(entry + b"\0" for entry in entries)


def shown(path: bytes) -> str:
    """A path for people and JSON; bytes that are no text stay recognisable."""
    return re.sub(r"[\udc80-\udcff]", lambda m: f"\\x{ord(m[0]) - 0xDC00:02x}", os.fsdecode(path))
