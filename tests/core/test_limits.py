"""When a usage limit is over: for each agent at a moment of its own."""

from __future__ import annotations

import pytest

from koboshi.core.engine import happen, step
from koboshi.core.events import Context, PeersCounted
from koboshi.core.readings import Limit
from koboshi.core.settings import Settings
from koboshi.core.view import View, Window
from tests.core.worlds import blank, moment

RESETS = moment(100.0).utc


def goes_on(agent: str, spread: float, resets_at: float | None, *, peers: int = 1) -> float:
    """Seconds after the reset, in steps of half a second."""
    window = Window(limit=Limit(kind="session", resets_at=resets_at), nth=1, since=100.0)
    settings = Settings(limit_slack=5.0, limit_blind=5.0, limit_spread=spread)
    view = View(context=Context(agent=agent), settings=settings, window=window, peers=peers)
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


@pytest.mark.parametrize("resets_at", [RESETS, None])
def test_an_agent_alone_with_its_login_waits_for_nobody(resets_at: float | None) -> None:
    """There is nobody to make room for."""
    assert {goes_on(f"agent{n}", 60.0, resets_at, peers=0) for n in range(20)} == {5.0}


def test_who_shares_a_login_is_told_and_told_again() -> None:
    """Once is an event, the same again is none."""
    world = blank()
    world = step(world, happen(world, PeersCounted(count=2), moment(1.0)))[0]
    again = step(world, happen(world, PeersCounted(count=2), moment(2.0)))[0]

    assert world.view.peers == 2
    assert again is world
    assert step(again, happen(again, PeersCounted(count=0), moment(3.0)))[0].view.peers == 0
