"""Journals that earlier koboshi wrote can be read: each case is one segment as it was then.

`cases/journals/NN-WHAT.jsonl` is never changed. Whoever changes what is written adds a case.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from koboshi.rules import BUILTIN
from koboshi.store import wire
from koboshi.store.history import load
from koboshi.store.journal import Line, read_segment
from koboshi.store.replays import replay
from koboshi.testing import MemoryShelf
from tests.cli.journals import run
from tests.store.shelves import BLANK, START

CASES = sorted((Path(__file__).parent.parent / "cases" / "journals").glob("*.jsonl"))
NAME = "2026-10-26.0001.jsonl"
each_case = pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])


def lines_of(case: Path) -> list[Line]:
    """Its records."""
    return list(read_segment(NAME, case.read_bytes()))


def test_there_are_cases() -> None:
    """From the first format on."""
    assert len(CASES) >= 4


@each_case
def test_every_record_is_read(case: Path) -> None:
    """None is passed over, and none is another one."""
    raw = [json.loads(row) for row in case.read_text(encoding="utf-8").splitlines()]
    kinds = {wire.Opened: "opened", wire.Seen: "seen", wire.Judged: "judged"}
    found = [kinds.get(type(line.record), "other") for line in lines_of(case)]
    told = {"opened": "opened", "seen": "seen", "finished": "seen", "admitted": "judged"}

    assert found == [told.get(r["k"], "judged" if r["k"] == "held" else "other") for r in raw]


@each_case
def test_a_supervisor_of_today_goes_on_from_it(case: Path) -> None:
    """With the number of its last event, its run, and what was admitted."""
    raw = [json.loads(row) for row in case.read_text(encoding="utf-8").splitlines()]
    shelf = MemoryShelf()
    shelf.create(NAME, case.read_bytes())
    world = load(shelf, BLANK, START).world
    runs = [r["body"]["run"] for r in raw if r.get("type") == "run-started"]

    assert world.seq >= max(r["seq"] for r in raw if "seq" in r)
    assert world.view.run.number >= max(runs, default=0)
    finished = {r["key"] for r in raw if r["k"] == "finished" and r["ending"] == "done"}
    assert finished <= set(world.ledger.claims) | set(world.ledger.noted)


@each_case
def test_it_can_be_decided_again(case: Path) -> None:
    """Today's rules may say otherwise; they can say something."""
    found = replay(lines_of(case), BUILTIN)

    assert found.events > 0
    assert found.decisions > 0


@each_case
@pytest.mark.parametrize("verb", [("lint",), ("replay", "--json")])
def test_commands_take_it(case: Path, verb: tuple[str, ...], tmp_path: Path) -> None:
    """Without a word about damage."""
    copy = tmp_path / NAME
    copy.write_bytes(case.read_bytes())
    ran = run(verb[0], str(copy), *verb[1:])

    assert ran.code in (0, 1)
    assert ran.err == ""
