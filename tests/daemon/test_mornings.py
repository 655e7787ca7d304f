"""The report every morning: once a day, at its time, or soon after."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from koboshi.config.outside import Notify
from koboshi.daemon import mornings
from koboshi.daemon.mornings import due
from koboshi.notices.notice import Notice
from tests.cli.journals import lay_down

WANTED = 7 * 60 + 30


@pytest.mark.parametrize(
    ("wanted", "told", "clock", "day"),
    [
        (WANTED, "", "07:29", ""),
        (WANTED, "", "07:30", "2026-11-15"),
        (WANTED, "2026-11-14", "08:59", "2026-11-15"),
        (WANTED, "2026-11-15", "07:31", ""),
        (WANTED, "", "09:30", ""),
        (None, "", "07:30", ""),
    ],
)
def test_it_is_told_once_a_day_and_not_much_too_late(
    wanted: int | None, told: str, clock: str, day: str
) -> None:
    """A machine that slept tells it when it wakes, not at noon."""
    now = datetime.fromisoformat(f"2026-11-15T{clock}:00").replace(tzinfo=UTC)

    assert due(wanted, told, now) == day


def test_each_agent_is_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the time that is set; the day is written down before, so that a crash tells it once."""
    for name in ("a", "b"):
        lay_down(tmp_path, name)
    monkeypatch.setattr(mornings, "LOOK", 0.0)
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0 + 1800)
    now = datetime.now().astimezone()
    minute = now.hour * 60 + now.minute
    taken, both = list[Notice](), asyncio.Event()

    async def take(notice: Notice) -> str:
        assert (tmp_path / mornings.FILE).exists()
        taken.append(notice)
        if len(taken) > 1:
            both.set()
        return ""

    async def act() -> None:
        task = asyncio.create_task(mornings.mornings(tmp_path, lambda: minute, take))
        await asyncio.wait_for(both.wait(), 60)
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(act())
    assert [each.agent for each in taken] == ["a", "b"]
    assert all(each.text.startswith(f"{each.agent}: working") for each in taken)
    assert not any(each.asks for each in taken)


def test_the_time_is_the_owners_to_set() -> None:
    """A wrong one is a mistake with what was expected."""
    assert Notify.model_validate({"report": "7:30"}).report == WANTED
    assert Notify().report is None
    for wrong in ("25:00", "7.30", 7, ""):
        with pytest.raises(ValueError, match="07:30"):
            Notify.model_validate({"report": wrong})
