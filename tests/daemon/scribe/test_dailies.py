"""Three logs a day over all agents; and what is not written when the disk fills up."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from koboshi.core.actions import Escalate, Start
from koboshi.core.engine import happen, step
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Origin,
    Outcome,
    RunExited,
    RunStarted,
)
from koboshi.daemon.scribe import papers
from koboshi.daemon.scribe.dailies import Dailies
from koboshi.daemon.scribe.papers import Paper
from koboshi.daemon.scribe.pen import Entry, Pen
from koboshi.store.shelves import room
from tests.core.worlds import Driver

UTC = 1_794_700_800.0


def test_each_log_has_its_own(tmp_path: Path) -> None:
    """Judgements, restarts, word to people; each line with its agent."""
    start = Start(run=2, origin=Origin.RESUMED)
    asked = Escalate(about="x", text="look at it")

    async def play() -> None:
        pen, driver = Pen(), Driver()
        dailies = Dailies(pen, tmp_path)
        for body in (
            RunStarted(run=1, origin=Origin.FIRST),
            RunExited(run=1, code=1),
            ActionFinished(key=start.key, action=start, outcome=Outcome(ending=Ending.DONE)),
            ActionFinished(key=asked.key, action=asked, outcome=Outcome(ending=Ending.DONE)),
        ):
            driver.at += 1.0
            event = happen(driver.world, body, driver.now)
            driver.world, decisions = step(driver.world, event)
            dailies.heard(event, decisions, driver.world)
        dailies.told(driver.now.utc, "phone: koboshi: a1 – needs you – sent")
        await pen.close()

    asyncio.run(play())
    logs = {path.name.split("-")[1]: path.read_text() for path in tmp_path.iterdir()}

    assert set(logs) == {"monitor", "restart", "notify"}
    assert "a1 e2 run 1 ended: exit code 1" in logs["monitor"]
    assert "RUN001" in logs["monitor"]
    assert [row.split(" ", 2)[2] for row in logs["restart"].splitlines()] == [
        "e1 run 1 started (first)",
        "e2 run 1 ended: exit code 1",
        "e3 start run 2 (resumed) – done",
    ]
    assert "ask a person: look at it – done" in logs["notify"]
    assert "phone: koboshi: a1 – needs you – sent" in logs["notify"]


def test_details_go_first_when_the_disk_fills_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What agents print is not written; what was decided is. Told once, and when it is over."""
    caplog.set_level(logging.INFO)
    left = [100 << 20]
    monkeypatch.setattr(papers, "room", lambda _: left[0])
    detail = Paper(agent="a", folder=tmp_path, base="output", detail=True)
    decisions = Paper(agent="a", folder=tmp_path, base="monitor")

    async def play() -> None:
        pen = Pen()
        for n in range(3):
            pen.put(detail, Entry(UTC, (f"row {n}",)))
            pen.put(decisions, Entry(UTC, (f"decision {n}",)))
            await pen.settled()
        left[0] = 1 << 30
        pen.put(detail, Entry(UTC, ("row 3",)))
        await pen.close()

    asyncio.run(play())
    assert (tmp_path / "monitor.log").read_text().count("decision") == 3
    assert [row.split(" ", 1)[1] for row in (tmp_path / "output.log").read_text().splitlines()] == [
        "(lines were lost here: 3)",
        "row 3",
    ]
    reasons = [r.__dict__.get("reason", "") for r in caplog.records if r.message == "not written"]
    assert len(reasons) == 1
    assert "only 100 MB are left: details are not written" in reasons[0]
    assert any(r.message == "written again" for r in caplog.records)


def test_there_is_room_where_a_folder_will_be(tmp_path: Path) -> None:
    """The one that is not made yet counts as the one above it."""
    assert room(tmp_path / "not" / "yet") == pytest.approx(room(tmp_path), rel=0.1)
