"""`koboshi history`: every run once, with its end and why."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from koboshi.core.engine import World, happen, step
from koboshi.core.events import Event, Order, OrderGiven, Origin, RunExited, RunStarted
from koboshi.store.sessions import runs
from tests.cli.journals import run
from tests.core.worlds import blank, moment


def test_all_runs_of_a_night_are_listed_and_put_into_the_file(state: Path) -> None:
    """Numbered without gaps, each ended before the next began; the file is the owner's alone."""
    ran = run("history", "sim", "--json")

    assert (ran.code, ran.err) == (0, "")
    found = ran.lines
    assert [each["run"] for each in found] == list(range(1, len(found) + 1))
    assert len(found) > 1
    for before, after in itertools.pairwise(found):
        assert before["started"] <= before["ended"] <= after["started"]
        assert before["reason"]
    file = state / "agents" / "sim" / "sessions.jsonl"
    assert [json.loads(line) for line in file.read_text().splitlines()] == found
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("history", "sim", "--json").lines == found
    assert run("history", "sim").lines_of()[0].startswith("#1  ")


def test_runs_that_the_journal_has_forgotten_are_listed_too(state: Path) -> None:
    """From the file; what the journal knows goes over what stands there."""
    file = state / "agents" / "sim" / "sessions.jsonl"
    found = run("history", "sim", "--json").lines
    older = {**found[0], "run": 0, "session": "s0", "sessions": ["s0"]}
    wrong = {**found[0], "how": "nobody knows", "sessions": ["s0", *found[0]["sessions"]]}
    file.write_text("".join(json.dumps(row) + "\n" for row in (older, wrong, "no run", 3)))

    again = run("history", "sim", "--json").lines
    assert again[0] == older
    assert again[2:] == found[1:]
    assert again[1] == {**found[0], "sessions": wrong["sessions"], "session": found[0]["session"]}


def test_an_unknown_agent_is_a_sentence(state: Path) -> None:
    """With the names that are known."""
    ran = run("history", "nosuch")

    assert ran.code == 2
    assert "nosuch" in ran.err
    assert str(state) not in ran.out


@pytest.mark.parametrize(
    ("order", "code", "reason"),
    [
        (OrderGiven(order=Order.RELOAD, text="new tools"), 143, "reload: new tools"),
        (OrderGiven(order=Order.STOP), 143, "a person said stop"),
        (None, 1, "crashed"),
    ],
)
def test_why_it_ended(order: OrderGiven | None, code: int, reason: str) -> None:
    """What was ordered counts, not the exit code."""
    world, told = blank(), list[tuple[Event, World]]()
    bodies = [RunStarted(run=1, origin=Origin.FIRST, session="s1"), RunExited(run=1, code=code)]
    for at, body in enumerate((bodies[0], *((order,) if order else ()), bodies[1])):
        event = happen(world, body, moment(float(at)))
        world, _ = step(world, event)
        told.append((event, world))
    [past] = runs(told)

    assert (past.sessions, past.how, past.reason) == (("s1",), f"exit code {code}", reason)
