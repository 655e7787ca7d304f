"""A commit of a verified step, where a git has locked the index: one that lives, or a dead one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.errors import GitError
from koboshi.performers.loop import committing, locks
from koboshi.performers.loop.committing import TRAILER, commit
from tests.store.repositories import Repo


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """One with a change; a lock that nobody holds is taken away at once."""
    monkeypatch.setattr(locks, "LEFT", 0.0)
    made = Repo.made(tmp_path / "work")
    made.write("a.txt", "alpha")
    return made


@pytest.fixture
def at_work(repo: Repo) -> Iterator[subprocess.Popen[str]]:
    """A git that commits the same for the same task, and stands in a hook until told to go."""
    hook = repo.top / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho here\nread word <&3\n")
    hook.chmod(0o755)
    repo.git("add", "a.txt")
    words = ("git", "commit", "-m", f"a\n\n{TRAILER}: t1", "--", "a.txt")
    with subprocess.Popen(
        ("sh", "-c", 'exec "$@" 3<&0 2>&1', "-", *words),
        cwd=repo.top, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as made:  # fmt: skip
        assert made.stdout is not None
        assert made.stdout.readline() == "here\n"
        yield made
        made.kill()


def commits(repo: Repo) -> int:
    """How many were made for the task."""
    return len(repo.git("log", f"--grep={TRAILER}: t1", "--format=%h").split())


@pytest.mark.parametrize("linked", [False, True], ids=["worktree", "linked"])
def test_what_a_killed_git_left_is_taken_away(repo: Repo, tmp_path: Path, linked: bool) -> None:  # noqa: FBT001
    """And only that: a git that asks for objects is at work there all the time."""
    top, folder = repo.top, repo.top / ".git"
    if linked:
        repo.git("worktree", "add", "-q", str(tmp_path / "other"))
        top, folder = tmp_path / "other", folder / "worktrees" / "other"
        (top / "a.txt").write_text("alpha")
    left = [folder / "index.lock", folder / "next-index-1.lock"]
    for each in left:
        each.touch()
    kept = folder / "shallow.lock"
    kept.touch()
    with subprocess.Popen(("git", "cat-file", "--batch"), cwd=top, stdin=subprocess.PIPE):
        made = commit(top, ("a.txt",), "a", "t1")

    assert Repo(top).git("show", "--format=%h", "--name-only").decode().split() == [made, "a.txt"]
    assert [each.exists() for each in (*left, kept)] == [False, False, True]


def test_one_that_lives_is_waited_for_and_its_commit_is_the_one(
    repo: Repo, at_work: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after the death of a keeper whose git goes on."""

    def wait_for(lock: Path, top: Path) -> bool:
        assert at_work.stdin is not None
        at_work.stdin.write("go\n")
        at_work.stdin.flush()
        return locks.wait_for(lock, top)

    monkeypatch.setattr(committing, "wait_for", wait_for)
    made = commit(repo.top, ("a.txt",), "a", "t1")

    assert at_work.wait(30) == 0
    assert made == repo.git("rev-parse", "--short", "HEAD").decode().strip()
    assert commits(repo) == 1


def test_one_that_lives_is_not_robbed(
    repo: Repo, at_work: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes; the lock is named, and still there."""
    monkeypatch.setattr(locks, "HELD", 0.5)
    lock = repo.top / ".git" / "index.lock"
    with pytest.raises(GitError, match=r"git add refused: .*index\.lock"):
        commit(repo.top, ("a.txt",), "a", "t1")

    assert lock.exists()
    at_work.kill()
    at_work.wait(30)
    (repo.top / ".git" / "hooks" / "pre-commit").unlink()
    assert commit(repo.top, ("a.txt",), "a", "t1")
    assert commits(repo) == 1


def test_a_lock_that_cannot_be_taken_away_is_named(repo: Repo) -> None:
    """By git, not by a traceback."""
    lock = repo.top / ".git" / "index.lock"
    lock.mkdir()
    with pytest.raises(GitError, match=r"git add refused: .*index\.lock"):
        commit(repo.top, ("a.txt",), "a", "t1")

    assert lock.exists()
