"""When a usage limit is over: for each agent at a moment of its own."""

from __future__ import annotations

import pytest

from koboshi.core.events import Context
from koboshi.core.readings import Limit
from koboshi.core.settings import Settings
from koboshi.core.view import View, Window
from tests.core.worlds import moment

RESETS = moment(100.0).utc


def goes_on(agent: str, spread: float, resets_at: float | None) -> float:
    """Seconds after the reset, in steps of half a second."""
    window = Window(limit=Limit(kind="session", resets_at=resets_at), nth=1, since=100.0)
    settings = Settings(limit_slack=5.0, limit_blind=5.0, limit_spread=spread)
    view = View(context=Context(agent=agent), settings=settings, window=window)
    return next(n / 2 for n in range(1000) if view.limit_over(moment(100.0 + n / 2)))


@pytest.mark.parametrize("resets_at", [RESETS, None])
def test_agents_that_share_a_login_go_on_one_after_the_other(resets_at: float | None) -> None:
    """Each at the same moment every time, none before the reset, all within the spread."""
    agents = [f"agent{n}" for n in range(20)]
    moments = [goes_on(agent, 60.0, resets_at) for agent in agents]

    assert moments == [goes_on(agent, 60.0, resets_at) for agent in agents]
    assert len(set(moments)) > 15
    assert min(moments) >= 5.0
    assert max(moments) <= 65.5
    assert {goes_on(agent, 0.0, resets_at) for agent in agents} == {5.0}
