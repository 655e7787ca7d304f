"""Restoring a snapshot: the same bytes, and nothing destroyed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.errors import GitError, InputError, UnknownSnapshot
from koboshi.store.snapshots import find, list_snapshots, restore_here, restore_to, restoring
from koboshi.store.snapshots.taking import Limits, take_at
from tests.store.repositories import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """One commit."""
    return Repo.made(tmp_path / "work")


def on_disk(top: Path) -> dict[bytes, object]:
    """Every file below, but git's own and ignored ones: bytes and mode, or where a link leads."""
    found: dict[bytes, object] = {}
    for path in top.rglob("*"):
        name = path.relative_to(top)
        if name.parts[0] == ".git" or any(part.endswith(".ignored") for part in name.parts):
            continue
        if path.is_symlink():
            found[os.fsencode(name)] = os.fsencode(path.readlink())
        elif path.is_file():
            found[os.fsencode(name)] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


# --- whatever a worktree holds -------------------------------------------------------------------

PARTS = st.sampled_from(
    [b"a", b"b", b"c", b"-x", b"sp ace", b"new\nline", b"\xff", "é".encode(), b"x.ignored"]
)
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(b"/".join)
CONTENTS = st.one_of(
    st.binary(max_size=40).map(lambda content: (content, False)),
    st.binary(max_size=40).map(lambda content: (content, True)),
    st.sampled_from([b"a", b"../..", b"\xfe", b"/dev/null"]),
    st.just(b"line\r\nline\n$Id$\n").map(lambda content: (content, False)),
)
TREES = st.dictionaries(PATHS, CONTENTS, max_size=8)


def lay(top: Path, tree: dict[bytes, object]) -> None:
    """Make the worktree look like that; what cannot be beside what is there is left."""
    for name in on_disk(top).keys() - {b".gitattributes", b".gitignore"}:
        (top / os.fsdecode(name)).unlink()
    for folder in sorted(top.rglob("*"), reverse=True):
        if (
            folder.is_dir()
            and not folder.is_symlink()
            and ".git" not in folder.parts
            and not any(folder.iterdir())
        ):
            folder.rmdir()
    for name, what in tree.items():
        path = top / os.fsdecode(name)
        parents = [p for p in path.parents if top in p.parents]
        if os.path.lexists(path) or any(p.is_symlink() or p.is_file() for p in parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, bytes):
            path.symlink_to(os.fsdecode(what))
        elif isinstance(what, tuple):
            path.write_bytes(what[0])
            path.chmod(0o755 if what[1] else 0o644)


@settings(max_examples=12)
@given(committed=TREES, staged=TREES, now=TREES, later=TREES, converted=st.booleans())
def test_what_was_taken_comes_back(
    committed: dict[bytes, object],
    staged: dict[bytes, object],
    now: dict[bytes, object],
    later: dict[bytes, object],
    *,
    converted: bool,
) -> None:
    """Into a folder: the same bytes, modes and links. In place: those, and what was there since."""
    with tempfile.TemporaryDirectory(prefix="kob-") as folder:
        repo, out = Repo.made(Path(folder) / "work"), Path(folder) / "out"
        repo.write(".gitignore", "*.ignored\n")
        if converted:  # a changed file is not; the ones of the commit stay as git has them
            repo.write(".gitattributes", "c/** text eol=lf ident\n")
        for tree in (committed, staged, now):
            lay(repo.top, tree)
            if tree is committed:
                repo.commit()
            if tree is staged:
                repo.git("add", "-A")
        before, disk = repo.everything(), on_disk(repo.top)
        snapshot = repo.take()
        assert repo.everything() == before
        restore_to(repo.top, snapshot, out)
        assert repo.everything() == before
        assert on_disk(out) == disk

        lay(repo.top, later)
        between = on_disk(repo.top)
        index = (repo.top / ".git" / "index").read_bytes()
        came = restore_here(repo.top, snapshot, name="before")
        after = on_disk(repo.top)
        assert (repo.top / ".git" / "index").read_bytes() == index
        assert between.keys() <= after.keys()
        kept = len(came.kept)
        assert sum(after.get(name) != what for name, what in disk.items()) <= kept
        assert {n for n, w in after.items() if w != between.get(n)} <= disk.keys()
        assert came.before is not None
        restore_to(repo.top, came.before, Path(folder) / "back")
        assert on_disk(Path(folder) / "back") == between


# --- into a folder -------------------------------------------------------------------------------


def test_a_folder_that_is_there_is_not_written_into(repo: Repo, tmp_path: Path) -> None:
    """A file, a link, a folder with something in it; an empty one is welcome."""
    snapshot = repo.take()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("work", "work/kept.txt", "link"):
        with pytest.raises(InputError, match="is there already"):
            restore_to(repo.top, snapshot, tmp_path / name)
    (tmp_path / "empty").mkdir()

    assert restore_to(repo.top, snapshot, tmp_path / "empty").written == ("kept.txt",)


def test_only_some_paths(repo: Repo, tmp_path: Path) -> None:
    """A file and a folder; one that is not in it is an error."""
    for name in ("a/b", "a/c/d", "ab", "e"):
        repo.write(name, name)
    snapshot = repo.take()
    came = restore_to(repo.top, snapshot, tmp_path / "out", paths=["a/", "e"])

    assert came.written == ("a/b", "a/c/d", "e")
    assert sorted(on_disk(tmp_path / "out")) == [b"a/b", b"a/c/d", b"e"]
    with pytest.raises(InputError, match="expected a path in the snapshot, not 'f'"):
        restore_to(repo.top, snapshot, tmp_path / "other", paths=["f"])
    assert not (tmp_path / "other").exists()


def test_an_unknown_snapshot_is_named(repo: Repo) -> None:
    """With the ones there are."""
    repo.take("one")
    with pytest.raises(UnknownSnapshot, match="not 'two'") as caught:
        find(repo.top, "api", "two")

    assert caught.value.hint == "the newest: one"


# --- in place ------------------------------------------------------------------------------------


def test_what_is_in_no_snapshot_is_not_written_over(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ignored by now, too large by now, a folder or a link in the way, another repository."""
    for name in ("ignored", "large", "folder", "linked/x", "repo/x", "plain"):
        repo.write(name, "old")
    snapshot = repo.take()
    repo.write(".gitignore", "ignored\n")
    repo.write("ignored", "precious")
    repo.write("large", b"x" * 200)
    (repo.top / "folder").unlink()
    repo.write("folder/x", "new")
    (repo.top / "linked" / "x").unlink()
    (repo.top / "linked").rmdir()
    (repo.top / "linked").symlink_to(repo.top.parent)
    (repo.top / "repo" / "x").unlink()
    Repo.made(repo.top / "repo")
    repo.write("plain", "new")
    repo.write("extra", "stays")
    monkeypatch.setattr(restoring, "Limits", lambda: Limits(file=100))
    came = restore_here(repo.top, snapshot, name="before")

    assert came.written == ("plain",)
    assert came.kept == (
        "folder: what is there now is in no snapshot",
        "ignored: what is there now is in no snapshot",
        "large: what is there now is in no snapshot",
        "linked/x: linked is no folder now",
        "repo/x: repo is a repository of its own",
    )
    assert (repo.top / "ignored").read_text() == "precious"
    assert (repo.top / "extra").read_text() == "stays"
    assert not (repo.top.parent / "x").exists()
    assert came.extra == 5


def test_a_file_that_changes_while_it_is_restored_stops_all(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent writes after the snapshot before, and its words are not lost."""
    repo.write("a", "1")
    snapshot = repo.take()
    repo.write("a", "2")
    repo.write("kept.txt", "2")

    def meddle(*words: object) -> object:
        taken = take_at(*words)  # type: ignore[arg-type]
        repo.write("a", "the agent's")
        return taken

    monkeypatch.setattr(restoring, "take_at", meddle)
    with pytest.raises(GitError, match="not restored") as caught:
        restore_here(repo.top, snapshot, name="before")

    assert "koboshi pause" in caught.value.hint
    assert (repo.top / "a").read_text() == "the agent's"
    assert (repo.top / "kept.txt").read_text() == "2"
    assert [each.name for each in list_snapshots(repo.top, "api")] == ["one", "before"]


def test_a_sparse_checkout_stays_sparse(repo: Repo) -> None:
    """What is outside of it is named, not written."""
    for name in ("in/a", "out/b"):
        repo.write(name, "1")
    repo.commit()
    repo.write("out/b", "2")
    repo.write("in/a", "2")
    snapshot = repo.take()
    repo.git("checkout", "-q", ".")
    repo.git("sparse-checkout", "set", "--cone", "in")
    came = restore_here(repo.top, snapshot, name="before")

    assert came.written == ("in/a",)
    assert came.kept == ("out/b: outside the sparse checkout",)
    assert not (repo.top / "out").exists()
