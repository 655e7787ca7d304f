"""What the machine says: as far as it can be had, and nothing of a repository runs for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from koboshi.incidents.surroundings import branch_of, processes, repository, system
from tests.store.repositories import Repo


def test_the_machine_is_told(tmp_path: Path) -> None:
    """Disks that are not there, too."""
    told = json.loads(system(tmp_path, tmp_path / "missing"))

    assert told["disks"][str(tmp_path)]["free"] > 0
    assert "No such file" in told["disks"][str(tmp_path / "missing")]
    assert told["memory"]["total"] > told["memory"]["available"] > 0


def test_processes_are_a_row_each() -> None:
    """With the words they were started with."""
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()", "a-word"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()  # its words are not to be had the moment it is there
        told = processes(os.getpid())
        child.stdin.close()

    assert f"{child.pid} (of {os.getpid()})" in told
    assert "a-word" in told
    assert processes(None) == "no process is known\n"
    assert "process 999999999" in processes(999999999)


def test_a_repository_is_told_and_not_run(tmp_path: Path) -> None:
    """Branch, changes, new files, commits; a filter and a hook in it stay as they are."""
    repo = Repo.made(tmp_path / "repo")
    ran = tmp_path / "ran"
    repo.git("config", "filter.x.clean", f"touch {ran}; cat")
    repo.git("config", "core.fsmonitor", f"touch {ran}; false")
    repo.git("config", "diff.external", f"touch {ran}")
    repo.write(".gitattributes", "*.txt filter=x diff=x\n")
    repo.write("kept.txt", "changed\n")
    repo.write("new.py", "x\n")
    ran.unlink(missing_ok=True)
    told = repository(repo.top)

    assert "## branch\nmain\n" in told
    assert "M\tkept.txt" in told
    assert "new.py" in told
    assert "1 file changed, 1 insertion(+), 1 deletion(-)" in told
    assert not ran.exists()
    assert branch_of(repo.top) == "main"


def test_no_repository_is_no_trouble(tmp_path: Path) -> None:
    """It says that there is none."""
    assert repository(tmp_path).startswith("git: ")
    assert branch_of(tmp_path) == ""
