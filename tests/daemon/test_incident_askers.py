"""Many who look at incidents at once: the journals are read once for all of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from koboshi.daemon.control import incidents as module
from koboshi.daemon.control.incidents import Incidents
from koboshi.daemon.house import House
from koboshi.store.roster import Entry


def test_who_asks_the_same_at_the_same_moment_is_told_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until something is found, or a while has passed; who asks for something else is read for."""
    read: list[float] = []

    def found(*_: Any, since: float, **__: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        read.append(since)
        return [{"id": len(read)}]

    monkeypatch.setattr(module, "found_in", found)

    async def go() -> None:
        house = House(tmp_path)
        house.roster.keep(Entry(agent="a", agent_type="scripted", argv=("x",), cwd="/"))
        (tmp_path / "agents" / "a" / "journal").mkdir()
        verb = Incidents(house).incidents
        told = await asyncio.gather(*(verb({"seconds": 60.0}) for _ in range(50)))
        assert (told, len(read)) == ([[{"id": 1}]] * 50, 1)
        await verb({"seconds": 61.0})
        assert len(read) == 2
        house.news.forget("b")  # something that could look otherwise now
        assert await verb({"seconds": 60.0}) == [{"id": 3}]
        monkeypatch.setattr(module, "SAME", 0.0)
        assert await verb({"seconds": 60.0}) == [{"id": 4}]

    asyncio.run(go())
