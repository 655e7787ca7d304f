"""Only what koboshi wrote is given away, and only under its own name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from koboshi.errors import InputError
from koboshi.incidents.kept import kept, piece, text_of

GOOD = "20260101-120000-1.crash.tar.gz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An agent's folder with one bundle, one prompt, and things that are none."""
    agent = tmp_path / "agents" / "a"
    (agent / "bundles").mkdir(parents=True)
    (agent / "prompts").mkdir()
    (agent / "bundles" / GOOD).write_bytes(b"0123456789")
    (agent / "bundles" / "mine.tar.gz").write_bytes(b"secret")
    (agent / "bundles" / "20260101-120001-x.txt").write_bytes(b"secret")
    (agent / "environment.json").write_text('{"KEY": "secret"}')
    (agent / "bundles" / "20260101-120002-link.tar.gz").symlink_to(agent / "environment.json")
    os.mkfifo(agent / "bundles" / "20260101-120003-fifo.tar.gz")
    (agent / "bundles" / "20260101-120004-dir.tar.gz").mkdir()
    (agent / "prompts" / "20260101-120000-fix-run1.md").write_text("# mend it")
    return agent


def test_listed_is_what_we_wrote(folder: Path) -> None:
    """By name, and files only: no link, no pipe, no folder."""
    assert [each.name for each in kept(folder, "bundle")] == [GOOD]
    assert kept(folder, "bundle")[0].facts()["size"] == 10
    assert text_of(folder, "prompt", "20260101-120000-fix-run1.md") == "# mend it"
    assert kept(folder.parent / "nobody", "bundle") == []


def test_piece_by_piece(folder: Path) -> None:
    """All of it, and a mark by which another file of that name is known."""
    first = piece(folder, "bundle", GOOD, 0, 4)
    assert (first.content, first.size) == (b"0123", 10)
    assert piece(folder, "bundle", GOOD, 8, 4).content == b"89"
    assert piece(folder, "bundle", GOOD, 99, 4).content == b""
    (folder / "bundles" / GOOD).write_bytes(b"another one")
    assert piece(folder, "bundle", GOOD, 0, 4).mark != first.mark


@pytest.mark.parametrize(
    "name",
    [
        "mine.tar.gz",
        "../environment.json",
        "../bundles/" + GOOD,
        "./" + GOOD,
        "/etc/passwd",
        "20260101-120002-link.tar.gz",
        "20260101-120003-fifo.tar.gz",
        "20260101-120004-dir.tar.gz",
        "20260101-120001-x.txt",
        GOOD + "\0",
        "",
        ".",
    ],
)
def test_nothing_else_can_be_had(folder: Path, name: str) -> None:
    """No name climbs, no link is followed."""
    with pytest.raises(InputError):
        piece(folder, "bundle", name, 0)


def test_a_link_put_there_at_the_last_moment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the listing and the opening."""
    known = kept(folder, "bundle")
    (folder / "bundles" / GOOD).unlink()
    (folder / "bundles" / GOOD).symlink_to(folder / "environment.json")
    monkeypatch.setattr("koboshi.incidents.kept.kept", lambda *_: known)

    with pytest.raises(InputError):
        piece(folder, "bundle", GOOD, 0)
