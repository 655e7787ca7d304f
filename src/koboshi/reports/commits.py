"""What was committed in an agent's folder; nothing of the repository is executed for that."""

from __future__ import annotations

from pathlib import Path

from koboshi.errors import GitError
from koboshi.store.snapshots.calls import OVERRIDES, Git

from .values import Commit

#: Seconds for git to answer, and commits that are listed.
PATIENCE, MOST = 5.0, 200
#: A signature is checked by a program that the repository names.
_UNSIGNED = {"log.showSignature": "false"}


def commits(folder: str, since: float, until: float) -> tuple[Commit, ...]:
    """The commits of the branch that is checked out there, oldest first; none where git is not."""
    if not folder or not Path(folder).is_dir():
        return ()
    words = (
        "log",
        "-z",
        f"--since=@{int(since)}",
        f"--until=@{int(until)}",
        f"--max-count={MOST}",
        "--format=%ct %h %s",
    )
    try:
        git = Git(PATIENCE)
        env = git.environment({}, {**OVERRIDES, **_UNSIGNED}, sealed=False)
        said = git.call(*words, env=env, cwd=Path(folder)).out
    except GitError:
        return ()  # no repository, no commit yet, no git: nothing was committed
    rows = [row.split(" ", 2) for row in said.decode(errors="replace").split("\0") if row]
    found = [Commit(at=float(at), id=name, subject=subject) for at, name, subject in rows]
    return tuple(sorted(found, key=lambda each: each.at))
