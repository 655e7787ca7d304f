"""The demo claims only what the journal shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.core.actions import Send
from koboshi.core.events import Order, OrderGiven, Origin, RunStarted, ScreenRead
from koboshi.core.readings import Reading, Status
from koboshi.demo.checks import Story, reloaded

ORDER = OrderGiven(order=Order.RELOAD, by="agent", text="new tools", note="at step 3")
BACK = RunStarted(run=4, origin=Origin.RESUMED)
TOLD = Send(run=4, text="You are back: new tools, at step 3", about="reload1.0", ordered=True)


def night(order: OrderGiven = ORDER, back: RunStarted = BACK, told: Send = TOLD) -> Story:
    """A journal in which the agent restarted itself."""
    reading = Reading(status=Status.IDLE, lines=("> You are back: run #4, restarted 3 times.",))
    return Story(
        orders=[(7, order)],
        runs=[(3, RunStarted(run=3, origin=Origin.FRESH)), (9, back)],
        decided=[("RLD002", told)],
        done=[(12, told)],
        screens=[ScreenRead(run=4, reading=reading, digest="", seen_at=0.0)],
    )


def test_a_restart_by_the_agent_is_seen() -> None:
    """Asked for, resumed, told in its own words, seen by the agent."""
    assert reloaded(night())


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(Story(), id="nothing happened"),
        pytest.param(night(order=replace(ORDER, by="person")), id="somebody else asked"),
        pytest.param(night(back=replace(BACK, origin=Origin.FRESH)), id="its session is lost"),
        pytest.param(night(told=replace(TOLD, text="You are back: new tools")), id="no context"),
        pytest.param(replace(night(), done=[]), id="not told"),
        pytest.param(replace(night(), done=[(12, TOLD), (13, TOLD)]), id="told twice"),
        pytest.param(replace(night(), screens=[]), id="the agent did not see it"),
        pytest.param(replace(night(), runs=[(3, BACK)]), id="no run came after it"),
    ],
)
def test_each_part_of_the_claim_counts(story: Story) -> None:
    """One that is missing is enough."""
    assert not reloaded(story)
