"""Budgets of a plan, over the deaths of its keepers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from koboshi.plans import PlanStatus
from tests.daemon.loop.stages import Theatre


@pytest.fixture
def theatre(tmp_path: Path) -> Theatre:
    """A project with a plan of three steps; each run costs 25 cents and 120 tokens."""
    return Theatre(tmp_path)


def notes(theatre: Theatre) -> list[dict[str, Any]]:
    """The journal of the plan."""
    (path,) = theatre.state.glob("plans/*/journal.jsonl")
    return [json.loads(row) for row in path.read_text().splitlines()]


def test_money_is_counted_over_all_keepers(theatre: Theatre) -> None:
    """Two runs are paid for; the third is not begun, also not by whoever comes next."""
    ran = theatre.loop("M1.md", "--budget", "0.50")

    plan = theatre.plan()
    assert (ran.returncode, plan.status) == (1, PlanStatus.WAITING)
    assert "$0.50 of $0.50 are spent" in plan.last_action
    assert [step.state.value for step in plan.steps] == ["DONE", "DONE", "PENDING"]
    again = theatre.loop("resume")
    assert again.returncode == 1
    assert again.stderr.endswith("'koboshi loop FILE' with a larger budget goes on\n")
    assert len(theatre.calls()) == 2
    assert theatre.calls()[1]["argv"].count("--max-budget-usd") == 1
    assert theatre.calls()[1]["argv"][theatre.calls()[1]["argv"].index("--max-budget-usd") + 1] == (
        "0.25"
    )
    spent = [note for note in notes(theatre) if note["k"] == "spent"]
    assert [(each["cost"], each["tokens"]) for each in spent] == [(0.25, 120)] * 2
    assert theatre.loop("M1.md", "--budget", "5").returncode == 0


def test_tokens_are_counted(theatre: Theatre) -> None:
    """The last step is finished, and what was paid for is taken."""
    assert theatre.loop("M1.md", "--token-budget", "360").returncode == 0


def test_a_cost_that_nobody_told_stops_it(theatre: Theatre) -> None:
    """Closed; a person who goes on takes it for nothing."""
    theatre.play({"1": [{"says": None, "code": 1}, {"write": {"a.txt": "alpha\n"}}]})

    theatre.loop("M1.md", "--budget", "5")

    assert theatre.plan().status is PlanStatus.WAITING
    assert "nobody knows what task_" in theatre.plan().last_action
    assert theatre.loop("resume").returncode == 0


def test_time_goes_on_over_a_death(theatre: Theatre) -> None:
    """What the journal says of before counts; a rest does not."""
    theatre.play({"1": [{"sh": f"touch {theatre.folder}/stop; sleep 20"}]})
    theatre.loop("M1.md", "--time-budget", "1h")
    (path,) = theatre.state.glob("plans/*/journal.jsonl")
    (theatre.folder / "stop").unlink()
    rows = notes(theatre)
    for row in rows:
        row["utc"] -= 7200.0 if row["k"] == "begun" else 10_000.0
    rows = [row for row in rows if row["k"] != "rested"]  # it was killed, and nobody wrote that
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    began = time.monotonic()
    assert theatre.loop("resume").returncode == 1

    assert "of 3600 seconds are used up" in theatre.plan().last_action
    assert time.monotonic() - began < 20


def test_a_limit_is_waited_out_without_an_attempt(theatre: Theatre) -> None:
    """Until the time that the CLI told, and some seconds."""
    event = {"type": "rate_limit_event",
             "rate_limit_info": {"status": "rejected", "resetsAt": time.time() + 8}}  # fmt: skip
    said = {"is_error": True, "api_error_status": 429, "result": "You've hit your limit"}
    limited = {"says": said,
               "sh": f"echo '{json.dumps(event)}'", "code": 1}  # fmt: skip
    theatre.play({"1": [limited, {"write": {"a.txt": "alpha\n"}}]})

    began = time.time()
    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    assert theatre.plan().results[1].attempts == 1
    assert len(theatre.calls()) == 4
    assert time.time() - began >= 8
