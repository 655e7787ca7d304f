"""A plan's journal is bounded, and recovery knows the same whatever was dropped."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.plans.spending import BEGUN, KNOWN, REPLANNED, RESTED, SPENT, ledger
from koboshi.store.notebooks import Notebook
from koboshi.store.planjournal import PlanJournal, condensed, flying, last
from koboshi.store.progress import Progress

Row = dict[str, Any]


def _row(number: int, kind: str, which: int) -> Row:
    """A line as a keeper writes it."""
    key, when = f"{which}.start", {"utc": float(number)}
    match kind:
        case "admitted":
            return {"k": kind, "action": {"key": key}, **when}
        case "finished":
            return {"k": kind, "key": key, "seq": number, **when}
        case "spent":
            cost = None if which == 0 else which / 4
            told = {"task": f"task_{number}", "cost": cost, "tokens": which or None}
            return {"k": SPENT, **told, "limited": which == 1, **when}
        case "begun":
            return {"k": BEGUN, "goal": "a" if which else "b", **when}
        case _:
            return {"k": kind, "seq": number, **when}


KINDS = (BEGUN, RESTED, SPENT, REPLANNED, "admitted", "finished", "opened", "seen", "held")
ROWS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 2)), max_size=40).map(
    lambda drawn: [_row(n, kind, which) for n, (kind, which) in enumerate(drawn, 1)]
)


@given(ROWS, st.data())
def test_what_is_folded_outlives_the_lines(rows: list[Row], data: st.DataObject) -> None:
    """Wherever a segment ends, also twice: the rest says the same as the whole."""
    left = rows
    for _ in range(2):
        cut = data.draw(st.integers(0, len(left)))
        head = json.loads(json.dumps(condensed(left[:cut], utc=1.0)))
        left = [head, *left[cut:]]

    assert ledger(left) == ledger(rows)
    assert (tuple(flying(left)), last(left)) == (tuple(flying(rows)), last(rows))


def test_what_a_person_forgave_stays_forgiven() -> None:
    """Who went on after a cost that nobody knew is not asked again."""
    words = ((BEGUN, 1), ("spent", 0), (RESTED, 0), (BEGUN, 1))
    rows = [_row(n, kind, which) for n, (kind, which) in enumerate(words, 1)]
    spent = ledger([json.loads(json.dumps(condensed(rows, utc=9.0)))])

    assert spent == ledger(rows)
    assert (spent.untold(spent.costs), len(spent.forgiven)) == ((), 1)


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    """The folder of a plan, with small segments."""
    made = Progress(tmp_path, tmp_path / "M1.md")
    made.notebook = Notebook(made.folder, segment_bytes=2000, keep=3)
    return made


def size(progress: Progress) -> int:
    """Bytes of all segments."""
    return sum(path.stat().st_size for path in progress.folder.glob("journal*"))


def test_a_journal_grows_to_its_bound(progress: Progress) -> None:
    """What is spent and numbered is known at the end all the same."""
    journal = PlanJournal(progress)
    journal.note({"k": BEGUN, "goal": "a", "utc": 1.0})
    journal.note(_row(2, "spent", 2))
    most = 0
    for number in range(3, 400):
        journal.note(_row(number, "seen", 0) | {"body": "x" * 100})
        most = max(most, size(progress))

    assert most < 5 * 2500
    assert len(list(progress.folder.glob("journal*"))) == 4
    assert not (progress.folder / "journal.jsonl").exists()
    spent = ledger(journal.rows())
    assert (spent.cost, spent.read, spent.since) == (0.5, 2, 1.0)
    assert journal.last() == 399
    shown = [row["seq"] for row in progress.notebook.all() if row["k"] == "seen"]
    assert shown == list(range(shown[0], 400))


def test_old_segments_go_by_their_age(progress: Progress) -> None:
    """As those of agents do."""
    notebook = progress.notebook
    notebook.add({"k": "seen", "seq": 1})
    old = time.time() - 8 * 86400
    os.utime(progress.folder / "journal.jsonl", (old, old))

    notebook.turn({"k": KNOWN, "seq": 1})

    assert [row["k"] for row in notebook.all()] == [KNOWN]


def test_a_torn_line_costs_itself_alone(progress: Progress) -> None:
    """The next one begins on a line of its own: it may say that time counts."""
    journal = PlanJournal(progress)
    journal.note({"k": BEGUN, "goal": "a", "utc": 1.0})
    with (progress.folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"k": "rest')
    journal.note({"k": RESTED, "utc": 11.0})

    assert ledger(journal.rows()).seconds == 10.0


def test_a_full_disk_lets_the_segment_grow(
    progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was to be written is written; the next line tries again."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    journal = PlanJournal(progress)
    with monkeypatch.context() as patched:
        patched.setattr("koboshi.store.notebooks.write_whole", full)
        for number in range(1, 40):
            journal.note(_row(number, "seen", 0) | {"body": "x" * 100})
    assert [path.name for path in progress.folder.glob("journal*")] == ["journal.jsonl"]
    assert journal.last() == 39

    journal.note(_row(40, "seen", 0))

    assert (journal.last(), len(journal.rows())) == (40, 1)


def test_what_a_death_left_half_made_is_nothing(progress: Progress) -> None:
    """A segment that was being written has another name; the one before is gone on with."""
    journal = PlanJournal(progress)
    journal.note(_row(1, "seen", 0))
    (progress.folder / ".journal.0002.jsonl.abcd").write_bytes(b'{"k": "kno')
    journal.note(_row(2, "seen", 0))

    assert [row["seq"] for row in journal.rows()] == [1, 2]
