"""What the records of an agent say of its hours."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.actions import Answer, Mode, Refresh
from koboshi.core.events import Ending, Order, OrderGiven, Origin, RunExited, SignalRead, Source
from koboshi.core.readings import Limit, Meaning, Status
from koboshi.core.settings import Settings
from koboshi.reports.stretches import QUIET
from koboshi.reports.values import Account, Doing, Mishap, Reply, Restart
from tests.core.worlds import UTC, admitted, asking, blank, reading
from tests.reports.hours import Hours


def times(account: Account) -> list[tuple[str, float, float]]:
    """The stretches, in seconds of the test."""
    return [(s.doing.value, s.start - UTC, s.end - UTC) for s in account.stretches]


def test_time_goes_into_what_was_so_then() -> None:
    """Each status lasts until the next one; the hours cut both ends off."""
    hours = Hours()
    hours.start()
    hours.see(reading(Status.WORKING), after=9.0)
    hours.see(reading(Status.IDLE), after=40.0)
    hours.see(asking(), after=50.0)

    found = hours.account(since=20.0, until=130.0)
    assert times(found) == [("working", 20, 50), ("idle", 50, 100), ("asking", 100, 130)]
    assert found.totals == {Doing.WORKING: 30, Doing.IDLE: 50, Doing.ASKING: 30}
    assert found.status == "asking"
    assert found.needs == ("it asks: Do you want to proceed? npm test",)


def test_a_silence_is_time_that_nobody_saw() -> None:
    """A living run is told of; who is gone cannot stir, so that silence says nothing there."""
    hours = Hours()
    hours.start()
    hours.see(reading(Status.IDLE))
    hours.see(reading(Status.IDLE), after=QUIET + 1)
    hours.tell(RunExited(run=1, code=1), after=8.0)

    found = hours.account(until=5000.0)
    assert [doing for doing, _, _ in times(found)] == ["working", "unseen", "idle", "down"]
    assert found.stretches[-1].end == UTC + 5000.0


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from([Status.WORKING, Status.IDLE, Status.ASKING, Status.UNKNOWN]),
            st.integers(0, 400),
            st.integers(-500, 500),
        ),
        max_size=12,
    ),
    since=st.integers(0, 2000),
    length=st.integers(1, 3000),
)
def test_stretches_have_no_gaps_and_no_overlaps(
    steps: list[tuple[Status, int, int]], since: int, length: int
) -> None:
    """Also when the clock on the wall jumps; no two neighbours are the same."""
    hours = Hours()
    hours.start()
    for status, after, jump in steps:
        hours.utc_ahead += jump
        hours.see(asking() if status is Status.ASKING else reading(status), after=after)

    found = hours.account(since=since, until=since + length).stretches
    for before, behind in itertools.pairwise(found):
        assert before.end == behind.start
        assert before.doing is not behind.doing
    assert all(s.start < s.end for s in found)
    assert all(UTC + since <= s.start and s.end <= UTC + since + length for s in found)


def test_a_restart_has_the_reason_of_the_end_before_it() -> None:
    """Not the first run, and not one from before the hours."""
    hours = Hours()
    hours.start()
    hours.tell(RunExited(run=1, signal=9))
    hours.start(run=2, origin=Origin.RESUMED)
    hours.tell(OrderGiven(order=Order.RELOAD, by="agent", text="new tools"))
    hours.tell(RunExited(run=2, code=143))
    hours.start(run=3, origin=Origin.RESUMED)

    crash = Restart(at=UTC + 3, run=2, origin="resumed", why="crashed (signal 9)")
    asked = Restart(at=UTC + 6, run=3, origin="resumed", why="reload: new tools (exit code 143)")
    assert hours.account().restarts == (crash, asked)
    assert hours.account(since=4.0).restarts == (asked,)


def test_answers_name_their_rule_and_the_others_their_place() -> None:
    """A skipped answer is no answer; a question that went away by itself was a person's."""
    hours = Hours(world=blank(rules=()))
    hours.start()
    hours.see(asking())
    action = Answer(run=1, nth=1, fingerprint="f", choice=Meaning.ONCE)
    hours.admit(action, "PRM001")
    hours.finish(action, Ending.SKIPPED)
    assert hours.account().replies == ()

    hours.admit(action, "PRM001")
    hours.see(reading(Status.WORKING))  # gone before the outcome is told
    hours.finish(action)
    hours.see(asking("rm -rf /"))
    hours.see_same()
    hours.see(reading(Status.WORKING))
    ours, theirs = hours.account().replies

    assert (ours.subject, ours.answer, ours.ending) == ("npm test", "once", "done")
    assert ours.rule == "PRM001 a-rule"
    words = {"question": "Do you want to proceed?", "subject": "rm -rf /"}
    assert theirs == Reply(at=UTC + hours.at, **words)


def test_errors_limits_and_calls_are_told_once_each() -> None:
    """By the turn that ended in one, by the limit that was hit, by the person who was called."""
    hours = Hours()
    hours.start()
    hours.see(reading(Status.WORKING))
    hours.see(reading(Status.FAILED, error="529"))
    hours.see_same()
    hours.see(reading(Status.WORKING))
    hours.see(reading(Status.LIMITED, limit=Limit(kind="weekly", resets_at=UTC + 900)))
    hours.see_same()

    found = hours.account()
    assert [each.what for each in found.errors] == ["529"]
    assert found.limits == (Mishap(at=UTC + 6, what="weekly"),)


def test_a_mode_that_only_looks_is_told_what_would_have_been() -> None:
    """Once per occasion, whatever was seen meanwhile."""
    hours = Hours(world=blank(Settings(mode=Mode.OBSERVE, idle_after=10.0)))
    hours.start()
    hours.see(reading(Status.IDLE))
    for _ in range(5):
        hours.see_same(after=20.0)

    [would] = hours.account().would
    assert would.what.startswith("IDL001 send ")


def test_what_the_agent_said_by_its_tools_is_told() -> None:
    """Its progress, and its questions with a person's answer."""
    hours = Hours()
    hours.start()
    hours.tell(OrderGiven(order=Order.TELL, by="agent", text="3 of 7"))
    hours.tell(OrderGiven(order=Order.ASK, by="agent", text="Which port?"))
    hours.tell(OrderGiven(order=Order.REPLY, by="person", text="80"))

    found = hours.account()
    assert found.progress == (Mishap(at=UTC + 2, what="3 of 7"),)
    [answered] = found.replies
    assert (answered.question, answered.answer, answered.rule) == ("Which port?", "80", "a person")


@pytest.mark.parametrize("order", [Order.STOP, None])
def test_who_was_ended_needs_nobody(order: Order | None) -> None:
    """A crash does; a person's stop does not."""
    hours = Hours()
    hours.start()
    if order is not None:
        hours.tell(OrderGiven(order=order, by="person"))
    hours.tell(RunExited(run=1, code=1))

    found = hours.account()
    assert found.status == ("gone" if order is None else "ended")
    assert bool(found.needs) is (order is None)
    assert times(found)[-1][0] == ("down" if order is None else "ended")


def test_a_refresh_is_told_with_what_became_of_it() -> None:
    """From the decision to the note that arrived; this one is under way."""
    hours = Hours(world=blank(Settings(context_max=70.0)))
    hours.start()
    hours.see(reading(Status.IDLE, used=80.0))
    [action] = [a for a in admitted(hours.see_same(after=5.0)) if isinstance(a, Refresh)]
    hours.finish(action)

    [refreshed] = hours.account().refreshes
    assert refreshed.ending == "under way"
    assert "80%" in refreshed.why
    assert [level.used for level in hours.account().context] == [80.0]


def test_money_is_what_sessions_grew_by_in_those_hours() -> None:
    """A CLI tells the sum of a session: one that is resumed goes on from it, or from nothing."""

    def paid(hours: Hours, cost: float, session: str, run: int = 1) -> None:
        source = Source.STATUSLINE
        hours.tell(SignalRead(run=run, source=source, session=session, cost=cost), after=10.0)

    hours = Hours()
    hours.start()
    assert hours.account().cost is None
    paid(hours, 1.0, "a")
    paid(hours, 1.5, "a")
    paid(hours, 0.25, "b")
    paid(hours, 0.1, "b")  # it began anew
    paid(hours, 0.3, "b")

    assert hours.account().cost == 2.05
    assert hours.account(since=15.0).cost == 1.05
    assert hours.world.view.run.cost == 0.3
    later = Hours(world=hours.world, at=hours.at)
    later.entries = hours.entries[-1:]
    paid(later, 0.4, "b")
    assert later.account(since=hours.at + 5.0).cost == 0.1
