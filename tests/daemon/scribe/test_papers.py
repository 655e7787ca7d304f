"""Log files: private, cut into pieces, old pieces removed, hostile surroundings refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from koboshi.daemon.scribe.papers import KEEP_FILES, Paper, append, day_of

DAY = 86400.0
NOON = 1_794_700_800.0  # 2026-11-15, 00:00 UTC


@pytest.fixture(params=[False, True], ids=["one file", "a file a day"])
def paper(request: pytest.FixtureRequest, tmp_path: Path) -> Paper:
    """Both kinds of log."""
    return Paper(agent="a", folder=tmp_path / "new" / "logs", base="x_a", daily=request.param)


def write(paper: Paper, utc: float, text: str, most: int = 1000) -> Path:
    """Append as if at that time; the file that it went to."""
    append(paper, utc, text.encode(), most=most)
    path = paper.path(day_of(utc))
    os.utime(path, (utc, utc))
    return path


def test_lines_are_added_for_the_owner_alone(paper: Paper) -> None:
    """Also where somebody opened the file to others."""
    path = write(paper, NOON, "one\n")
    path.chmod(0o644)
    write(paper, NOON, "two\n")

    assert path.read_text() == "one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_full_file_and_the_day_before_are_put_away(paper: Paper) -> None:
    """By the day of their last line; nothing is lost."""
    for n in range(5):
        write(paper, NOON, f"{n}\n" * 3, most=10)
    write(paper, NOON + DAY, "next\n", most=10)

    days = sorted(path.name for path in paper.folder.iterdir())
    today = "x_a_20261116.log" if paper.daily else "x_a.log"
    first = "x_a_20261115.log" if paper.daily else "x_a_20261115.5.log"
    assert days == sorted([*(f"x_a_20261115.{n}.log" for n in range(1, 5)), first, today])
    assert (paper.folder / today).read_text() == "next\n"


def test_old_files_go_and_others_stay(paper: Paper) -> None:
    """A week, as the journal; what is named otherwise is not ours."""
    for n in range(10):
        write(paper, NOON + n * DAY, f"{n}\n")
    (paper.folder / "x_ab_20200101.log").write_text("")
    write(paper, NOON + 10 * DAY, "last\n")

    names = sorted(path.name for path in paper.folder.iterdir())
    assert "x_ab_20200101.log" in names
    ours = [name for name in names if name.startswith("x_a_")]
    assert ours[0] == ("x_a_20261118.log" if paper.daily else "x_a_20261118.1.log")


def test_one_day_cannot_fill_the_disk(paper: Paper) -> None:
    """So many files of one log, and no more."""
    for n in range(40):
        write(paper, NOON, f"{n:02}\n", most=4)

    assert len(list(paper.folder.iterdir())) <= KEEP_FILES + 1
    assert paper.path("20261115").read_text() == "39\n"


def test_a_log_that_was_moved_away_begins_anew(paper: Paper) -> None:
    """Nobody is asked to tell us."""
    path = write(paper, NOON, "one\n")
    path.rename(path.with_suffix(".mine"))
    write(paper, NOON, "two\n")

    assert path.read_text() == "two\n"


def test_what_is_no_file_of_ours_is_refused(paper: Paper, tmp_path: Path) -> None:
    """A link leads elsewhere, a pipe would be waited for, a folder is none."""
    paper.folder.mkdir(parents=True)
    path, target = paper.path(day_of(NOON)), tmp_path / "target"
    target.write_text("")
    for kind in ("link", "pipe", "folder"):
        if kind == "link":
            path.symlink_to(target)
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
        os.utime(path, (NOON, NOON), follow_symlinks=False)
        with pytest.raises(OSError, match=r".+"):
            append(paper, NOON, b"x\n")
        if kind == "folder":
            path.rmdir()
        else:
            path.unlink()
    assert target.read_text() == ""
