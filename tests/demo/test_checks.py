"""The demo claims only what the journal shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.core.actions import Checkpoint, Interrupt, Notify, Send
from koboshi.core.events import (
    Order,
    OrderGiven,
    Origin,
    RunExited,
    RunStarted,
    ScreenRead,
    Severity,
)
from koboshi.core.readings import Reading, Status
from koboshi.demo.checks import FINISHED, Story, finished, reloaded, told_of_circle, unstuck

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


SAVE = Checkpoint(run=2, name="ckpt", about="refresh1.0")
STOPPED = Interrupt(run=2, about="hang1.0.0")
FRESH = RunStarted(run=3, origin=Origin.FRESH)


def test_a_hang_is_interrupted_saved_and_restarted_in_that_order() -> None:
    """A fresh run before the save proves nothing."""
    story = Story(done=[(3, STOPPED), (5, SAVE)], runs=[(7, FRESH)])

    assert unstuck(story)
    assert not unstuck(replace(story, done=[(5, SAVE)]))
    assert not unstuck(replace(story, done=[(3, STOPPED)]))
    assert not unstuck(replace(story, done=[(3, STOPPED), (9, SAVE)]))
    assert not unstuck(replace(story, runs=[(2, FRESH)]))


def test_a_circle_is_told_of_once() -> None:
    """Not twice, and not by another rule."""
    told = Send(run=2, text="You have made the same call", about="loop1")
    story = Story(decided=[("LVL001", told)], done=[(4, told)])

    assert told_of_circle(story)
    assert not told_of_circle(replace(story, done=[]))
    assert not told_of_circle(replace(story, done=[(4, told), (5, told)]))
    assert not told_of_circle(replace(story, decided=[("IDL001", told)]))


def test_the_end_is_said_saved_meant_and_told() -> None:
    """Each of these, in that order."""
    reading = Reading(status=Status.IDLE, lines=(FINISHED,))
    note = Notify(about="5.finished", text="all done", severity=Severity.P1)
    story = Story(
        screens=[ScreenRead(run=5, reading=reading, digest="", seen_at=0.0)],
        done=[(4, SAVE), (9, note)],
        exits=[(7, RunExited(run=5, code=0, meant=True))],
    )

    assert finished(story)
    assert not finished(replace(story, screens=[]))
    assert not finished(replace(story, done=[(9, note)]))
    assert not finished(replace(story, done=[(4, SAVE)]))
    assert not finished(replace(story, done=[(8, SAVE), (9, note)]))
    assert not finished(replace(story, exits=[(7, RunExited(run=5, code=1, meant=False))]))
