"""The past as a picture: statuses without gaps, marks where something happened."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from koboshi.core.events import Order, OrderGiven
from koboshi.scripted.acts import load_script
from koboshi.store.history import follow
from koboshi.store.journal import read
from koboshi.store.notes import LONGEST, MOST, notes_in
from koboshi.store.queries import with_context
from koboshi.store.timelines import MARKS, Picture, drawn
from tests.daemon.lives import Life

SCRIPT = """
[[act]]
do = "work"
seconds = 20
context = 30
say = "some work"
[[act]]
do = "ask"
command = "rm -rf build"
[[act]]
do = "crash"
"""


def lived() -> Life:
    """An agent that worked, asked, and crashed."""
    life = Life(load_script(SCRIPT))
    life.rise()
    life.live(5)
    return life


def test_statuses_follow_each_other_without_a_gap() -> None:
    """From the first event to the end of the picture."""
    life = lived()
    life.live(60)
    end = life.runtime.utc

    told = drawn(with_context(follow(read(life.shelf), ())), 0.0, end)

    spans = told["spans"]
    assert [s["from"] for s in spans[1:]] == [s["to"] for s in spans[:-1]]
    assert spans[-1]["to"] == end
    assert all(a["status"] != b["status"] for a, b in itertools.pairwise(spans))
    assert {"start"} <= {mark["kind"] for mark in told["marks"]}
    assert told["cut"] is False


def test_a_picture_begins_where_it_was_asked_to() -> None:
    """What was so before is told as a status, and not as marks."""
    life = lived()
    start = life.runtime.utc
    life.live(30)

    told = drawn(with_context(follow(read(life.shelf), ())), start, life.runtime.utc)

    assert told["spans"][0]["from"] == start
    assert all(mark["utc"] >= start for mark in told["marks"])


def test_an_end_that_was_meant_is_told_from_a_crash() -> None:
    """Both are `gone`."""
    life = lived()
    assert life.supervisor is not None
    life.supervisor.take(OrderGiven(order=Order.STOP, by="person"))
    life.live(30)

    told = drawn(with_context(follow(read(life.shelf), ())), 0.0, life.runtime.utc)

    assert (told["spans"][-1]["status"], told["spans"][-1]["meant"]) == ("gone", True)
    assert not any(span["meant"] for span in told["spans"][:-1] if span["status"] != "gone")


def test_a_picture_has_a_limit() -> None:
    """The newest marks are kept, and it says that it was cut."""
    found = Picture(start=0.0)
    found.marks = [{"utc": float(n)} for n in range(MARKS + 5)]
    found.context = [(float(n), n % 100) for n in range(5000)]

    told = found.facts(1.0)

    assert (len(told["marks"]), told["marks"][0]["utc"], told["cut"]) == (MARKS, 5.0, True)
    assert len(told["context"]) <= 301
    assert told["context"][-1] == [4999.0, 99]


def test_notes_are_told_newest_first_and_nothing_else_is(tmp_path: Path) -> None:
    """No half-written file, no link that leads elsewhere, no more than a page of each."""
    for n in range(MOST + 3):
        path = tmp_path / f"n{n:02}.md"
        path.write_text(f"note {n}" if n else "x" * LONGEST * 2, encoding="utf-8")
        os.utime(path, (1000 + n, 1000 + n))
    (tmp_path / ".n.md.tmp").write_text("half")
    (tmp_path / "a-LAST").write_text("n01")
    (tmp_path / "secret.md").symlink_to("/etc/passwd")

    found = notes_in(tmp_path)

    assert [note.name for note in found] == [f"n{n:02}" for n in range(MOST + 2, 2, -1)]
    assert found[0].facts() == {"name": "n22", "utc": 1022.0, "text": "note 22"}
    assert notes_in(tmp_path / "nowhere") == ()
