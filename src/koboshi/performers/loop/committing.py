"""Commit: what a verified step changed, and nothing else; once, whoever dies in between.

Unlike a snapshot this is the person's own git: their identity, hooks and signing hold.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import GitError

from .locks import wait_for

#: The line in a message by which a commit that was made before a crash is found again.
TRAILER = "Koboshi-Task"
#: How far back it is looked for.
RECENT = 50
#: Seconds; a hook may run the tests.
PATIENCE = 900.0
#: Times that a commit is tried while others lock the index.
_TRIES = 3
_NOBODY = ("-c", "user.name=koboshi", "-c", "user.email=koboshi@localhost")


class _Locked(GitError):
    """The index is locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tree:
    """Where git is called, and with which environment: a daemon's own is not the person's."""

    cwd: Path
    env: dict[str, str] | None = None


def commit(
    cwd: Path,
    paths: tuple[str, ...],
    message: str,
    task: str,
    *,
    env: dict[str, str] | None = None,
) -> str:
    """The short hash of the commit; empty where nothing was to be committed."""
    tree = _Tree(cwd=cwd, env=env)
    for _ in range(_TRIES - 1):
        try:
            return _commit(tree, paths, message, task)
        except _Locked:  # by the one of ours that outlived us, perhaps: then the commit is known
            if not wait_for(*_lock(tree)):
                break
    return _commit(tree, paths, message, task)


def _commit(tree: _Tree, paths: tuple[str, ...], message: str, task: str) -> str:
    known = _known(tree, task)
    if known:
        return known
    there = [path for path in paths if _dirty(tree, path)]
    if not there:
        return ""
    _git(tree, "add", "-A", "--", *there)
    text = f"{message}\n\n{TRAILER}: {task}\n"
    _git(tree, *_identity(tree), "commit", "-q", "-F", "-", "--", *there, feed=text)
    return _git(tree, "rev-parse", "--short", "HEAD").strip()


def _lock(tree: _Tree) -> tuple[Path, Path]:
    """The lock of the index, and the worktree it is for."""
    asked = (("--git-path", "index.lock"), ("--show-toplevel",))
    said = [_git(tree, "rev-parse", *words).removesuffix("\n") for words in asked]
    lock, top = (Path(os.path.realpath(tree.cwd / line)) for line in said)
    return lock, top


def committed(cwd: Path, task: str, *, env: dict[str, str] | None = None) -> str:
    """The short hash of the commit that was made for that task; empty: none was."""
    return _known(_Tree(cwd=cwd, env=env), task)


def push(cwd: Path, *, env: dict[str, str] | None = None) -> None:
    """Push the current branch to where it goes; a new one to `origin`."""
    tree = _Tree(cwd=cwd, env=env)
    branch = _git(tree, "symbolic-ref", "--short", "HEAD").strip()
    try:
        _git(tree, "rev-parse", "--abbrev-ref", "@{upstream}")
        _git(tree, "push", "-q")
    except GitError:
        _git(tree, "push", "-q", "--set-upstream", "origin", branch)


def worktree(cwd: Path, name: str) -> Path:
    """A worktree beside the repository, on a branch of its own; the one that is there goes on."""
    tree = _Tree(cwd=cwd)
    top = Path(_git(tree, "rev-parse", "--show-toplevel").strip())
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "plan"
    made = top.with_name(f"{top.name}-{slug}")
    if not (made / ".git").exists():
        branch = f"koboshi/{slug}"
        known = _git(tree, "branch", "--list", branch).strip()
        _git(tree, "worktree", "add", "-q", *(() if known else ("-b", branch)), str(made),
             *((branch,) if known else ()))  # fmt: skip
    return made / os.path.relpath(os.path.realpath(cwd), os.path.realpath(top))


def _known(tree: _Tree, task: str) -> str:
    """The commit of that task, if it was made already."""
    words = ("log", f"-{RECENT}", "--format=%h", "--fixed-strings", f"--grep={TRAILER}: {task}")
    try:
        return _git(tree, *words).strip().partition("\n")[0]
    except GitError:
        return ""  # no commit yet


def _dirty(tree: _Tree, path: str) -> bool:
    return bool(_git(tree, "status", "--porcelain", "--untracked-files=all", "--", path).strip())


def _identity(tree: _Tree) -> tuple[str, ...]:
    """Ours, where the person has none."""
    try:
        return () if _git(tree, "config", "user.email").strip() else _NOBODY
    except GitError:
        return _NOBODY


def _git(tree: _Tree, *words: str, feed: str = "") -> str:
    word = next(each for each in words if each[0] != "-" and "=" not in each)
    around = os.environ if tree.env is None else tree.env
    env = {name: value for name, value in around.items() if not name.startswith("GIT_DIR")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_EDITOR": "true"}
    try:
        ran = subprocess.run(
            ["git", *words], cwd=tree.cwd, env=env, input=feed, text=True, errors="replace",
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {word}: {error}") from error
    if ran.returncode:
        said = (ran.stderr or ran.stdout).strip().splitlines() or ["without a word"]
        locked = [line for line in said if "index.lock" in line]
        if locked:
            raise _Locked(f"git {word} refused: {locked[0]}")
        raise GitError(f"git {word} refused: {said[-1]}")
    return ran.stdout
