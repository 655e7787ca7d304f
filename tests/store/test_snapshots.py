"""Snapshots of uncommitted work: all of it goes in, and nothing of the user's changes."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from koboshi.errors import InputError
from koboshi.store.snapshots import Limits, changes, find, list_snapshots, prune, take
from tests.store.repositories import Repo

#: Names that programs stumble over.
NAMES = (
    b"with space", b"two\nlines", b"-rf", b"\xff\xfe.bin", "日本語".encode(), b'"quoted"', b"a\tb",
    b":(top)x", b"*", b"back\\slash", b"deep/er/still", b"#hash", b" lead", b"trail ",
)  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """One commit, nothing else."""
    return Repo.made(tmp_path / "work")


def test_all_uncommitted_work_is_in_it_and_the_repository_is_untouched(repo: Repo) -> None:
    """Staged, then changed, changed only, deleted, renamed, new; beside a stash and a lock."""
    for name in ("staged", "both", "changed", "deleted", "moved"):
        repo.write(name, f"{name}\n")
    repo.write(".gitignore", "*.secret\n")
    repo.commit()
    repo.write("kept.txt", "stashed\n")
    repo.git("stash")
    repo.write("staged", "staged anew\n")
    repo.write("both", "staged\n")
    repo.git("add", "staged", "both")
    repo.write("both", "and changed\n")
    repo.write("changed", "anew\n", mode=0o755)
    (repo.top / "deleted").unlink()
    repo.git("mv", "moved", "there")
    repo.write("new/file", "new\n")
    repo.write("key.secret", "never")
    (repo.top / "link").symlink_to("nowhere/at all")
    repo.write("intended", "later\n")
    repo.git("add", "-N", "intended")
    before = repo.everything()
    (repo.top / ".git" / "index.lock").touch()  # the agent's own git is at work
    snapshot = repo.take()
    (repo.top / ".git" / "index.lock").unlink()
    found = repo.files(snapshot)

    os.utime(repo.top / ".git", ns=(0, before[str(repo.top / ".git")][1]))  # type: ignore[index]
    assert repo.everything() == before
    assert found == {
        b".gitignore": ("100644", b"*.secret\n"),
        b"kept.txt": ("100644", b"kept\n"),
        b"staged": ("100644", b"staged anew\n"),
        b"both": ("100644", b"and changed\n"),
        b"changed": ("100755", b"anew\n"),
        b"there": ("100644", b"moved\n"),
        b"new/file": ("100644", b"new\n"),
        b"link": ("120000", b"nowhere/at all"),
        b"intended": ("100644", b"later\n"),
    }
    assert (snapshot.files, snapshot.left_out) == (9, ())
    assert snapshot.parent == repo.git("rev-parse", "HEAD").decode().strip()
    assert repo.git("log", "-1", "--format=%an %ae %cn %P", snapshot.ref).decode().split() == [
        "koboshi", "koboshi@localhost", "koboshi", snapshot.parent,
    ]  # fmt: skip
    assert not (repo.top / ".git" / "logs" / "refs" / "koboshi").exists()


def test_what_changed_in_the_second_of_the_index_is_seen(repo: Repo) -> None:
    """Same size, same time: only the time of the index tells; a copy must have it, too."""
    path = repo.write("kept.txt", "kept\n")
    repo.git("config", "core.trustctime", "false")
    long_ago = 1_700_000_000
    os.utime(path, (long_ago, long_ago))
    repo.git("add", "kept.txt")
    os.utime(repo.top / ".git" / "index", (long_ago, long_ago))
    with path.open("r+b") as file:
        file.write(b"KEPT\n")
    os.utime(path, (long_ago, long_ago))

    assert repo.files(repo.take())[b"kept.txt"] == ("100644", b"KEPT\n")


def test_any_name_goes_in(repo: Repo) -> None:
    """Tracked and changed, and untracked."""
    for name in NAMES[::2]:
        repo.write(name, b"old")
    repo.commit()
    for name in NAMES:
        repo.write(name, b"in " + name)
    before = repo.everything()
    found = repo.files(repo.take())

    assert {name: content for name, (_, content) in found.items()} == {
        b"kept.txt": b"kept\n",
        **{name: b"in " + name for name in NAMES},
    }
    assert repo.everything() == before


def test_nothing_changed_is_clean(repo: Repo) -> None:
    """The commit has HEAD's tree."""
    snapshot = repo.take()

    assert (snapshot.clean, snapshot.files, snapshot.size) == (True, 0, 0)
    assert repo.git("diff", "HEAD", snapshot.ref) == b""


def test_before_the_first_commit_there_is_no_parent(tmp_path: Path) -> None:
    """An empty repository, then one with files."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    repo = Repo(tmp_path)
    empty = repo.take("empty")
    repo.write("a", "a")
    repo.git("add", "a")
    repo.write("b", "b")
    first = repo.take()

    assert (empty.files, empty.parent, first.files, first.parent) == (0, "", 2, "")
    assert [each.path for each in changes(repo.top, first)] == ["a", "b"]
    assert repo.git("rev-parse", "--verify", "-q", "HEAD", check=False) == b""


def test_a_detached_head_and_a_folder_below_the_top(repo: Repo) -> None:
    """The whole worktree, wherever in it the agent stands."""
    repo.git("checkout", "-q", "--detach")
    folder = repo.write("deep/down/file").parent
    repo.write("above")

    came = take(folder, "api", "one")
    assert sorted(repo.files(came)) == [b"above", b"deep/down/file", b"kept.txt"]  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["merge", "rebase"])
def test_conflicts_go_in_as_they_lie_there(repo: Repo, way: str) -> None:
    """Conflict markers, a file deleted on one side, a file in the way of a folder."""
    repo.write("gone", "1\n")
    repo.commit()
    repo.git("checkout", "-qb", "side")
    repo.write("kept.txt", "side\n")
    repo.write("gone", "side\n")
    repo.write("thing/inside", "x")
    repo.commit()
    repo.git("checkout", "-q", "main")
    repo.write("kept.txt", "main\n")
    repo.write("thing", "a file")
    (repo.top / "gone").unlink()
    repo.commit()
    repo.git(way, "side", check=False)
    assert repo.git("ls-files", "-u")
    before = repo.everything()
    found = repo.files(repo.take())

    assert repo.everything() == before
    assert b"<<<<<<<" in found[b"kept.txt"][1]
    on_disk = {
        os.fsencode(path.relative_to(repo.top))
        for path in repo.top.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert set(found) == on_disk


def test_files_folders_and_links_change_places(repo: Repo) -> None:
    """A file becomes a folder, a folder a file, a folder a link to where its files went."""
    for name in ("file", "folder/a", "folder/b", "linked/a"):
        repo.write(name, name)
    repo.commit()
    (repo.top / "file").unlink()
    repo.write("file/inside", "1")
    (repo.top / "folder" / "a").unlink()
    (repo.top / "folder" / "b").unlink()
    (repo.top / "folder").rmdir()
    repo.write("folder", "now a file")
    (repo.top / "linked").rename(repo.top / "elsewhere")
    (repo.top / "linked").symlink_to("elsewhere")
    repo.write("elsewhere/a", "changed there")

    found = repo.files(repo.take())
    assert sorted(found) == [b"elsewhere/a", b"file/inside", b"folder", b"kept.txt", b"linked"]
    assert found[b"linked"] == ("120000", b"elsewhere")


def test_other_repositories_are_recorded_and_not_entered(repo: Repo, tmp_path: Path) -> None:
    """A submodule that moved on, a clone, one without a commit; their settings do not run."""
    other = Repo.made(tmp_path / "other")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.top), "sub")
    repo.commit()
    sub, inside, bare = Repo(repo.top / "sub"), Repo.made(repo.top / "in side"), repo.top / "empty"
    subprocess.run(["git", "init", "-q", str(bare)], check=True)
    ran = tmp_path / "ran"
    for each in (sub, inside):
        each.git("config", "core.fsmonitor", f"touch {ran}; false")
    sub.write("uncommitted")
    sub.git("commit", "-qm", "on", "--allow-empty")
    ran.unlink(missing_ok=True)
    snapshot = repo.take()
    found = repo.git("ls-tree", "-r", snapshot.commit).decode()

    assert not ran.exists()
    for each, name in ((sub, "sub"), (inside, "in side")):
        assert f"160000 commit {each.git('rev-parse', 'HEAD').decode().strip()}\t{name}\n" in found
    assert snapshot.left_out == ("empty: a repository without a commit",)


def test_a_linked_worktree_has_its_own_index_and_shares_the_refs(repo: Repo) -> None:
    """The snapshot outlives the worktree."""
    linked = Repo(repo.top.parent / "linked")
    repo.git("worktree", "add", "-q", "-b", "side", str(linked.top))
    linked.write("only here", "1")
    before = (repo.everything(), linked.everything())
    snapshot = linked.take()
    assert (repo.everything(), linked.everything()) == before
    repo.git("worktree", "remove", "--force", str(linked.top))

    assert sorted(repo.files(snapshot)) == [b"kept.txt", b"only here"]
    assert list_snapshots(repo.top, "api") == (snapshot,)


@pytest.mark.parametrize("index", [[], ["--sparse-index"]])
def test_a_sparse_checkout_loses_nothing(repo: Repo, index: list[str]) -> None:
    """What is not on the disk is not deleted; what is there although it should not be is seen."""
    for name in ("in/a", "out/a", "out/b", "far/c"):
        repo.write(name, name)
    repo.commit()
    repo.git("sparse-checkout", "set", "--cone", *index, "in")
    repo.write("in/a", "changed")
    repo.write("out/b", "written though")
    repo.write("new", "new")
    before = repo.everything()
    snapshot = repo.take()
    found = {name: content for name, (_, content) in repo.files(snapshot).items()}

    assert repo.everything() == before
    assert found == {
        b"kept.txt": b"kept\n",
        b"in/a": b"changed",
        b"out/a": b"out/a",
        b"out/b": b"written though",
        b"far/c": b"far/c",
        b"new": b"new",
    }


def test_a_partial_clone_fetches_nothing(tmp_path: Path) -> None:
    """Objects that were never fetched are named in the tree and stay away."""
    origin = Repo.made(tmp_path / "origin")
    origin.write("out/a", "far away")
    origin.commit()
    origin.git("config", "uploadpack.allowFilter", "true")
    partial = ("--filter=blob:none", "--sparse", f"file://{origin.top}", str(tmp_path / "clone"))
    origin.git("clone", "-q", *partial)
    repo = Repo(tmp_path / "clone")
    repo.write("new", "1")
    absent = ("rev-list", "--objects", "--missing=print", "HEAD")
    missing = [row for row in repo.git(*absent).splitlines() if row.startswith(b"?")]
    snapshot = repo.take()

    assert (snapshot.files, len(missing)) == (1, 1)
    assert missing[0] in repo.git(*absent).splitlines()
    names = repo.git("ls-tree", "-r", "--name-only", snapshot.commit).decode().split()
    assert names == ["kept.txt", "new", "out/a"]


@pytest.mark.parametrize(
    "setting",
    [
        ["update-index", "--split-index"],
        ["update-index", "--untracked-cache"],
        ["update-index", "--index-version", "4"],
        ["config", "core.quotePath", "false"],
    ],
    ids=" ".join,
)
def test_every_kind_of_index_is_understood(repo: Repo, setting: list[str]) -> None:
    """And none is changed, nor what it stands on."""
    repo.git(*setting)
    repo.git("status")
    repo.write("new", "1")
    before = repo.everything()
    times = [path.stat().st_mtime_ns for path in (repo.top / ".git").glob("*index*")]
    snapshot = repo.take()

    assert [path.stat().st_mtime_ns for path in (repo.top / ".git").glob("*index*")] == times
    assert sorted(repo.files(snapshot)) == [b"kept.txt", b"new"]
    assert repo.everything() == before


def test_a_repository_with_other_sums(tmp_path: Path) -> None:
    """SHA-256."""
    repo = Repo.made(tmp_path / "r", "--object-format=sha256")
    repo.write("new", "1")

    assert len(repo.take().commit) == 64


def test_what_is_large_unreadable_or_no_file_is_left_out_and_named(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit per file and one for all; the older version of a tracked one stays."""
    repo.write("large", b"1")
    repo.commit()
    repo.write("large", b"x" * 200)
    repo.write("too large", b"x" * 101)
    for n in range(5):
        repo.write(f"f{n}", b"x" * (90 + n))
    (repo.top / "kept.txt").unlink()
    os.mkfifo(repo.top / "kept.txt")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(repo.top)  # the path is too long for a socket
        listener.bind("sock")
        snapshot = take(repo.top, "api", "one", limits=Limits(file=100, total=300))

    assert snapshot.left_out == (  # type: ignore[union-attr]
        "f3: all files have more than 300 B",
        "f4: all files have more than 300 B",
        "kept.txt: not a file",
        "large: 200 B, more than 100 B",
        "too large: 101 B, more than 100 B",
    )
    assert sorted(repo.files(snapshot)) == [b"f0", b"f1", b"f2", b"kept.txt", b"large"]  # type: ignore[arg-type]
    assert repo.files(snapshot)[b"large"][1] == b"1"  # type: ignore[arg-type]
    assert find(repo.top, "api", "one") == snapshot


def test_snapshots_at_the_same_time_do_not_meet(repo: Repo) -> None:
    """Eight of one name: eight snapshots."""
    repo.write("new", "1")
    before = repo.everything()
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: repo.take(), range(8)))

    assert {each.name for each in taken} == {"one", *(f"one-{n}" for n in range(2, 9))}
    assert {each.ref for each in list_snapshots(repo.top, "api")} == {each.ref for each in taken}
    assert repo.everything() == before


@pytest.mark.parametrize("agent", ["a..b", "a.", "x.lock", "a.b", "a_-b"])
def test_an_agents_name_that_is_no_ref(repo: Repo, agent: str) -> None:
    """Some of them git refuses."""
    came = take(repo.top, agent, agent)

    assert list_snapshots(repo.top, agent) == (came,)
    assert came.name == agent  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["", "../heads/main", "a b", "-x", "a/b"])
def test_a_name_that_climbs_is_refused(repo: Repo, name: str) -> None:
    """Nothing is written."""
    with pytest.raises(InputError, match="expected a"):
        take(repo.top, name, "one")
    if name:
        with pytest.raises(InputError, match="expected a snapshot's name"):
            take(repo.top, "api", name)
    assert repo.git("for-each-ref", "refs/koboshi") == b""


def test_old_ones_go_and_the_newest_stay(repo: Repo) -> None:
    """By number and by age; another agent's are not touched, nor is anything else."""
    taken = [repo.take(f"s{n}") for n in range(5)]
    take(repo.top, "web", "s0")
    repo.git("pack-refs", "--all")
    before = repo.git("for-each-ref", "refs/heads", "refs/koboshi/snapshots/web")
    young = prune(repo.top, "api", keep=2, older=3600.0)
    old = prune(repo.top, "api", keep=2)

    assert (young, old) == ((), tuple(taken[:3]))
    assert list_snapshots(repo.top, "api") == tuple(taken[3:])
    assert repo.git("for-each-ref", "refs/heads", "refs/koboshi/snapshots/web") == before


def test_the_newest_of_one_second_stays(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they are called: git's dates know no parts of a second."""
    taken = []
    for n, name in enumerate(["one", "one-10", "one-2", "before"]):
        monkeypatch.setattr(time, "time_ns", lambda n=n: 1_700_000_000_999_000_000 + n * 1000)
        taken.append(repo.take(name))
    # One as they were written before they knew: the oldest of its second.
    text = re.sub(
        b"\nKoboshi-Microsecond: .*", b"", repo.git("cat-file", "commit", taken[3].commit)
    )
    (repo.top / ".git" / "old").write_bytes(text)
    old = repo.git("hash-object", "-t", "commit", "-w", ".git/old").decode().strip()
    repo.git("update-ref", "refs/koboshi/snapshots/api/zz", old)

    listed = list_snapshots(repo.top, "api")
    assert [each.name for each in listed] == ["zz", "one", "one-10", "one-2", "before"]
    assert listed[1:] == tuple(taken)
    assert [each.name for each in prune(repo.top, "api", keep=1)] == [
        "zz",
        "one",
        "one-10",
        "one-2",
    ]


def test_a_ref_that_somebody_else_made_is_no_reason_to_fail(repo: Repo) -> None:
    """A blob and a foreign commit in our place."""
    repo.git("update-ref", "refs/koboshi/snapshots/api/x", "HEAD")
    blob = repo.git("rev-parse", "HEAD:kept.txt").decode().strip()
    repo.git("update-ref", "refs/koboshi/snapshots/api/y", blob)

    [found] = list_snapshots(repo.top, "api")
    assert (found.name, found.files, found.left_out) == ("x", 0, ())
