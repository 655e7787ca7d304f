"""Git repositories to take snapshots of, and all that must stay as it was."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from koboshi.store.snapshots import Skipped, Snapshot, take
from tests.conftest import need


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository and its worktree."""

    top: Path

    @classmethod
    def made(cls, top: Path, *options: str) -> Repo:
        """A new one, with `kept.txt` in its first commit."""
        need("git")
        subprocess.run(["git", "init", "-q", "-b", "main", *options, str(top)], check=True)
        repo = cls(top)
        repo.write("kept.txt", "kept\n")
        repo.commit()
        return repo

    def git(self, *words: str, check: bool = True) -> bytes:
        """Run git in it, as the agent would; it refreshes nothing by itself."""
        env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        ran = subprocess.run(
            ["git", *words], cwd=self.top, env=env, capture_output=True, check=False
        )
        assert not (check and ran.returncode), (words, ran.stderr)
        return ran.stdout

    def write(self, name: str | bytes, content: str | bytes = b"", *, mode: int = 0o644) -> Path:
        """A file in the worktree."""
        path = self.top / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return path

    def commit(self) -> None:
        """Commit all there is."""
        self.git("add", "-A")
        self.git("commit", "-qm", "x", "--allow-empty")

    def take(self, name: str = "one", **more: float) -> Snapshot:
        """A snapshot that must succeed."""
        came = take(self.top, "api", name, **more)  # type: ignore[arg-type]
        assert isinstance(came, Snapshot), came
        return came

    def skipped(self) -> str:
        """Why there is none."""
        came = take(self.top, "api", "one")
        assert isinstance(came, Skipped), came
        return came.reason

    def files(self, snapshot: Snapshot) -> dict[bytes, tuple[str, bytes]]:
        """What is in a snapshot: path → mode and bytes."""
        found = {}
        for row in self.git("ls-tree", "-rz", snapshot.commit).split(b"\0")[:-1]:
            facts, _, path = row.partition(b"\t")
            mode, kind, oid = facts.decode().split()
            found[path] = (mode, self.git("cat-file", "blob", oid) if kind == "blob" else b"")
        return found

    def everything(self) -> dict[str, object]:
        """All of the user's: what git says, and each file with its time. Objects may be added."""
        said = {
            words: self.git(*words.split())
            for words in ("status --porcelain=v2 -z", "stash list", "for-each-ref refs/heads")
        }
        ours = ("objects", "refs/koboshi")
        disk = {
            str(path): _facts(path)
            for path in sorted(self.top.rglob("*"))
            if not any(f"/.git/{each}" in str(path) for each in ours)
        }
        # A folder is as new as what was made in it: `.git/refs` got `koboshi`.
        disk.pop(str(self.top / ".git" / "refs"), None)
        return {**said, **disk}


def _facts(path: Path) -> tuple[int, int, object]:
    found = path.lstat()
    content: object = None
    if path.is_symlink():
        content = path.readlink()
    elif path.is_file():
        content = path.read_bytes()
    # git itself, asked for the status, touches the file that a split index stands on.
    young = path.name.startswith("sharedindex.")
    return found.st_mode, 0 if young else found.st_mtime_ns, content
