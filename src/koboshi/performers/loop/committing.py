"""Commit: what a verified step changed, and nothing else; once, whoever dies in between.

Unlike a snapshot this is the person's own git: their identity, hooks and signing hold.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from koboshi.errors import GitError

#: The line in a message by which a commit that was made before a crash is found again.
TRAILER = "Koboshi-Task"
#: How far back it is looked for.
RECENT = 50
#: Seconds; a hook may run the tests.
PATIENCE = 900.0
_NOBODY = ("-c", "user.name=koboshi", "-c", "user.email=koboshi@localhost")


def commit(cwd: Path, paths: tuple[str, ...], message: str, task: str) -> str:
    """The short hash of the commit; empty where nothing was to be committed."""
    known = committed(cwd, task)
    if known:
        return known
    there = [path for path in paths if _dirty(cwd, path)]
    if not there:
        return ""
    _git(cwd, "add", "-A", "--", *there)
    text = f"{message}\n\n{TRAILER}: {task}\n"
    _git(cwd, *_identity(cwd), "commit", "-q", "-F", "-", "--", *there, feed=text)
    return _git(cwd, "rev-parse", "--short", "HEAD").strip()


def push(cwd: Path) -> None:
    """Push the current branch to where it goes; a new one to `origin`."""
    branch = _git(cwd, "symbolic-ref", "--short", "HEAD").strip()
    try:
        _git(cwd, "rev-parse", "--abbrev-ref", "@{upstream}")
        _git(cwd, "push", "-q")
    except GitError:
        _git(cwd, "push", "-q", "--set-upstream", "origin", branch)


def worktree(cwd: Path, name: str) -> Path:
    """A worktree beside the repository, on a branch of its own; the one that is there goes on."""
    top = Path(_git(cwd, "rev-parse", "--show-toplevel").strip())
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "plan"
    made = top.with_name(f"{top.name}-{slug}")
    if not (made / ".git").exists():
        branch = f"koboshi/{slug}"
        known = _git(cwd, "branch", "--list", branch).strip()
        _git(cwd, "worktree", "add", "-q", *(() if known else ("-b", branch)), str(made),
             *((branch,) if known else ()))  # fmt: skip
    return made / os.path.relpath(os.path.realpath(cwd), os.path.realpath(top))


def committed(cwd: Path, task: str) -> str:
    """The commit of that task, if it was made already; empty: it was not."""
    words = ("log", f"-{RECENT}", "--format=%h", "--fixed-strings", f"--grep={TRAILER}: {task}")
    try:
        return _git(cwd, *words).strip().partition("\n")[0]
    except GitError:
        return ""  # no commit yet


def _dirty(cwd: Path, path: str) -> bool:
    return bool(_git(cwd, "status", "--porcelain", "--untracked-files=all", "--", path).strip())


def _identity(cwd: Path) -> tuple[str, ...]:
    """Ours, where the person has none."""
    try:
        return () if _git(cwd, "config", "user.email").strip() else _NOBODY
    except GitError:
        return _NOBODY


def _git(cwd: Path, *words: str, feed: str = "") -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_DIR")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_EDITOR": "true"}
    try:
        ran = subprocess.run(
            ["git", *words], cwd=cwd, env=env, input=feed, text=True, errors="replace",
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {words[0]}: {error}") from error
    if ran.returncode:
        said = (ran.stderr or ran.stdout).strip().splitlines()[-1:] or ["without a word"]
        raise GitError(f"git {words[0]} refused: {said[0]}")
    return ran.stdout
