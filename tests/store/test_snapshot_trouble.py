"""Snapshots where something is wrong: no git, no repository, a hostile one, no disk, no time."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from koboshi.store.snapshots import Skipped, Snapshot, aside, list_snapshots, snapshot_for, take
from koboshi.store.snapshots.desk import PREFIX
from tests.conftest import need
from tests.hosts.waiting import runs, until
from tests.store.repositories import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """One commit, and a new file."""
    made = Repo.made(tmp_path / "work")
    made.write("new", "new\n")
    return made


def tell(folder: Path, name: str = "ckpt-1", patience: float = 20.0) -> str:
    """The line for the outcome."""
    return asyncio.run(snapshot_for(str(folder), "api", name, patience=patience))


# --- nothing to take -----------------------------------------------------------------------------


def test_without_a_repository_there_is_none_and_it_is_said(tmp_path: Path) -> None:
    """A plain folder, none at all, a file, a bare repository, the inside of one."""
    need("git")
    (tmp_path / "file").touch()
    (tmp_path / "plain").mkdir()
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    repo = Repo.made(tmp_path / "work")

    said = {
        name: tell(tmp_path / name).partition(": ")[2]
        for name in ("plain", "none", "file", "bare", "work/.git")
    }
    assert said == {
        "plain": "not a git repository",
        "none": f"{tmp_path / 'none'}: no such file or directory",
        "file": f"{tmp_path / 'file'}: not a directory",
        "bare": "a bare git repository has no worktree",
        "work/.git": "a repository's own git folder has no worktree",
    }
    assert repo.git("for-each-ref", "refs/koboshi") == b""


def test_without_git_it_is_said(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a `git` that lies in the worktree is not started for it."""
    ran = tmp_path / "ran"
    repo.write("git", f"#!/bin/sh\ntouch {ran}\n", mode=0o755)
    monkeypatch.setenv("PATH", f".:{os.pathsep}{tmp_path}")
    monkeypatch.chdir(repo.top)

    assert tell(repo.top) == "no snapshot: git is not installed"
    assert not ran.exists()


def test_one_line_tells_what_came_of_it(repo: Repo) -> None:
    """Files and size, clean, and a name that cannot be one."""
    first = tell(repo.top)
    repo.commit()
    second = tell(repo.top, "ckpt-2")

    assert first == "snapshot refs/koboshi/snapshots/api/ckpt-1: 1 file, 4 B"
    assert second == "snapshot refs/koboshi/snapshots/api/ckpt-2: clean"
    assert tell(repo.top, "../x").startswith("no snapshot: expected a snapshot's name")


# --- hostile repositories ------------------------------------------------------------------------


def test_nothing_of_the_repository_is_executed(repo: Repo, tmp_path: Path) -> None:
    """Hooks, fsmonitor, filters, diff programs, includes, ssh, signing: each would leave a file."""
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\nexec cat\n')
    evil.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman"):
        (hooks / hook).symlink_to(evil)
        (repo.top / ".git" / "hooks" / hook).symlink_to(evil)
    repo.write(".gitattributes", "* filter=bad diff=bad text eol=crlf ident\n")
    (repo.top / ".git" / "more").write_text(f'[filter "bad"]\n\tclean = {evil}\n\trequired\n')
    for key, value in {
        "include.path": "more", "core.fsmonitor": str(evil), "core.hooksPath": str(hooks),
        "filter.bad.smudge": str(evil), "diff.bad.command": str(evil),
        "diff.bad.textconv": str(evil), "diff.external": str(evil), "core.sshCommand": str(evil),
        "core.pager": str(evil), "core.editor": str(evil), "core.askPass": str(evil),
        "credential.helper": str(evil), "gpg.program": str(evil), "commit.gpgSign": "true",
        "core.alternateRefsCommand": str(evil), "extensions.worktreeConfig": "true",
        "remote.o.url": f"ext::{evil}", "remote.o.promisor": "true", "alias.ls-files": "!false",
        "core.logAllRefUpdates": "always", "user.useConfigOnly": "true",
    }.items():  # fmt: skip
        repo.git("config", key, value)
    repo.write("kept.txt", "$Id$ and\r\nlines\n")
    ran.unlink(missing_ok=True)
    snapshot = repo.take()

    assert not ran.exists()
    assert not (repo.top / ".git" / "logs" / "refs" / "koboshi").exists()
    repo.git("config", "--unset", "core.fsmonitor")
    assert repo.files(snapshot)[b"kept.txt"][1] == b"$Id$ and\r\nlines\n"


def test_git_is_given_nothing_of_the_callers(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent's GIT_DIR, GIT_INDEX_FILE and keys go no further."""
    other = Repo.made(tmp_path / "other")
    seen, real = tmp_path / "seen", need("git")
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nenv >> {seen}\nexec {real} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.top / ".git" / "index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "dummy-key-000000")
    came = take(repo.top, "api", "one")
    monkeypatch.undo()

    assert isinstance(came, Snapshot)
    assert list_snapshots(repo.top, "api") == (came,)
    assert "dummy-key" not in seen.read_text()
    assert "EXTERNAL_DIFF" not in seen.read_text()
    assert str(other.top) not in seen.read_text()


@pytest.mark.parametrize("where", ["worktree", "exclude", "user"])
def test_what_is_ignored_is_never_in_it(
    repo: Repo, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the worktree's own list, by the repository's, by the user's."""
    home = tmp_path / "home"
    (home / "lists").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/lists/mine\n")
    place = {
        "worktree": repo.top / ".gitignore",
        "exclude": repo.top / ".git" / "info" / "exclude",
        "user": home / "lists" / "mine",
    }[where]
    place.write_text(".env\n")
    repo.write(".env", "KEY=dummy")
    repo.write("deep/.env", "KEY=dummy")

    assert [name for name in repo.files(repo.take()) if name.endswith(b".env")] == []


# --- the machine ---------------------------------------------------------------------------------


def test_a_full_disk_is_a_reason(repo: Repo) -> None:
    """No file may grow past 4 KB: git cannot write, and nothing has changed."""
    repo.write("large", os.urandom(100_000))
    before = repo.everything()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        came = tell(repo.top)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert came.startswith("no snapshot: ")
    assert repo.everything() == before
    assert repo.git("for-each-ref", "refs/koboshi") == b""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_repository_that_may_not_be_written_is_a_reason(repo: Repo) -> None:
    """Read-only objects and refs."""
    for folder in ("objects", "refs"):
        (repo.top / ".git" / folder).chmod(0o555)
    said = tell(repo.top)
    for folder in ("objects", "refs"):
        (repo.top / ".git" / folder).chmod(0o755)

    assert "permission" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_left_out(repo: Repo) -> None:
    """And the others go in."""
    repo.write("closed", "x", mode=0)

    assert repo.take().left_out == ("closed: not readable",)


def test_a_git_that_does_not_end_is_ended(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what it started; the supervisor is not held up."""
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\nsleep 600 & echo $! > {tmp_path}/pid; wait\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(aside, "_GRACE", 60.0)

    for patience in (0.5, 4, 30):  # a shell may be slow to start what is to be ended with it
        began = time.monotonic()
        said = tell(repo.top, patience=patience)
        assert said == f"no snapshot: git took longer than {patience:g} s"
        assert time.monotonic() - began < patience + 30.0
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
    asyncio.run(until(lambda: not runs(int((tmp_path / "pid").read_text()))))


def test_a_disk_that_does_not_answer_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread may hang for ever: nobody waits for it, not even at the end of the program."""
    hang = threading.Event()
    monkeypatch.setattr(aside, "take", lambda *_, **__: Skipped(reason=str(hang.wait(60.0))))
    monkeypatch.setattr(aside, "_GRACE", 0.0)
    began = time.monotonic()
    said = tell(Path(), patience=0.2)
    took = time.monotonic() - began
    hang.set()

    assert said == "no snapshot: it took longer than 0.2 s"
    assert took < 10.0


KILLED = """
import os, signal, sys, threading, time
from pathlib import Path
from koboshi.store.snapshots import take
threading.Thread(
    target=lambda: (time.sleep(float(sys.argv[2])), os.kill(os.getpid(), signal.SIGKILL)),
    daemon=True,
).start()
n = 0
while True:
    take(Path(sys.argv[1]), "api", f"n{n}")
    n += 1
"""


def test_killed_at_any_moment_it_leaves_the_users_things_alone(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lock, nothing changed, every snapshot whole; and the next one is taken."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for n in range(30):
        repo.write(f"f{n}", os.urandom(1000))
    before = repo.everything()
    for n in range(12):
        ran = subprocess.run(
            [sys.executable, "-c", KILLED, str(repo.top), str(0.11 + n * 0.013)], check=False
        )
        assert ran.returncode == -signal.SIGKILL
    time.sleep(0.2)  # a git that outlived its parent ends by itself
    left = [str(p) for p in (repo.top / ".git").rglob("*.lock")]
    snapshot = repo.take("last")

    assert left == []
    assert repo.everything() == before
    assert len(repo.files(snapshot)) == 32
    repo.git("fsck", "--strict", "--no-dangling")
    for each in list_snapshots(repo.top, "api"):
        assert len(repo.files(each)) == 32


def test_what_killed_ones_left_is_swept(repo: Repo) -> None:
    """When it is so old that nobody can be at it."""
    left = Path(tempfile.mkdtemp(prefix=PREFIX))
    young = Path(tempfile.mkdtemp(prefix=PREFIX))
    os.utime(left, (1, 1))
    repo.take()

    assert (left.exists(), young.exists()) == (False, True)
    young.rmdir()
