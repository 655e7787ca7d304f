"""After a crash: which session goes on, what a fresh run is told, and which calls were open."""

from __future__ import annotations

import pytest

from koboshi.core.actions import Checkpoint, Load, Notify, Refresh, Send, Start
from koboshi.core.events import Ending, Order, OrderGiven, Origin, RunExited, RunStarted, Ticked
from koboshi.core.gate import Word
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.core.view import Stage
from tests.core.worlds import Driver, admitted, blank, reading, words


def crashed(used: float | None, *, draft: str = "", **settings: object) -> Driver:
    """A run that worked, and was killed with that much of its context in use."""
    driver = Driver(blank(Settings(run_max=0.0, warn_context=0.0, **settings)))  # type: ignore[arg-type]
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.see(reading(Status.WORKING, used=used, draft=draft))
    driver.tell(RunExited(run=1, signal=9))
    return driver


def next_steps(driver: Driver) -> list[object]:
    """What is done once the wait after a crash is over."""
    before = len(driver.decided)
    driver.tell(Ticked(), after=3.0)
    return list(admitted(driver.decided[before:]))


@pytest.mark.parametrize(
    ("used", "most", "left"),
    [(None, 70.0, False), (69.0, 70.0, False), (70.0, 70.0, True), (95.0, 0.0, False)],
)
def test_a_full_session_is_left_behind(used: float | None, most: float, *, left: bool) -> None:
    """At the threshold or past it; resumed it would be as full as before."""
    driver = crashed(used, context_max=most)

    [step] = next_steps(driver)

    assert isinstance(step, Refresh if left else Start)
    if isinstance(step, Refresh):
        assert step.note.startswith("ckpt-")
        assert step.why == "it ended with 70% of its context used"


def test_the_next_run_is_fresh_and_gets_the_note() -> None:
    """Start and load as in every refresh; going back stays possible."""
    driver = crashed(88.0)
    [begin] = next_steps(driver)
    assert isinstance(begin, Refresh)

    before = len(driver.decided)
    driver.finish(begin)
    [start] = admitted(driver.decided[before:])

    assert isinstance(start, Start)
    assert (start.run, start.origin) == (2, Origin.FRESH)
    assert start.session != "s1"
    driver.start(2, Origin.FRESH, start.session)
    driver.finish(start)
    [load] = admitted(driver.see(reading(Status.IDLE)))
    assert load == Load(run=2, name=begin.note, nth=0)
    assert driver.view.refresh is not None
    assert driver.view.refresh.session == "s1"


def test_it_waits_like_every_restart_after_a_crash() -> None:
    """And counts against the one budget."""
    driver = crashed(88.0)

    assert words(driver.tell(Ticked(), after=0.1)) == []
    assert ("1.refresh1", Word.BACKOFF) in [(d.action.key, d.verdict.word) for d in driver.decided]
    spent = crashed(88.0, intensity=0)
    assert not [a for a in next_steps(spent) if isinstance(a, Refresh)]


def test_it_does_not_wait_for_the_gap_between_refreshes() -> None:
    """That one is for agents that are up."""
    driver = Driver(blank(Settings(run_max=0.0)))
    driver.start()
    driver.see(reading(Status.IDLE, used=80.0))
    driver.tell(Ticked(), after=10.0)
    [planned] = [a for a in admitted(driver.decided) if isinstance(a, Refresh)]
    driver.finish(planned)
    driver.tell(RunExited(run=1, signal=9))
    saves = [a for a in admitted(driver.decided) if isinstance(a, Checkpoint)]
    driver.finish(saves[-1], Ending.SKIPPED)

    [again] = [a for a in next_steps(driver) if isinstance(a, Refresh)]

    assert again.note


def test_a_half_typed_line_of_the_dead_run_holds_nothing_up() -> None:
    """Its box is gone, and the line with it."""
    assert isinstance(next_steps(crashed(88.0, draft="git sta"))[0], Refresh)


def test_without_a_note_a_full_session_goes_on_all_the_same() -> None:
    """Full is better than empty."""
    driver = crashed(88.0)
    [begin] = next_steps(driver)
    before = len(driver.decided)
    driver.finish(begin, Ending.FAILED)  # type: ignore[arg-type]

    [start] = admitted(driver.decided[before:])

    assert isinstance(start, Start)
    assert (start.origin, start.session) == (Origin.RESUMED, "s1")


def lost() -> Driver:
    """A run that was to go on with a session and did not find it."""
    driver = Driver(blank())
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.tell(RunExited(run=1, signal=9))
    driver.start(2, Origin.RESUMED, "s1")
    driver.tell(RunExited(run=2, code=1, lost=True))
    return driver


@pytest.mark.parametrize("ending", [Ending.DONE, Ending.FAILED])
def test_a_session_that_is_not_found_is_not_looked_for_again(ending: Ending) -> None:
    """Fresh with the note, or fresh without one; there is nothing to go back to."""
    driver = lost()
    driver.tell(Ticked(), after=10.0)
    [begin] = [a for a in admitted(driver.decided) if isinstance(a, Refresh)]
    before = len(driver.decided)
    driver.finish(begin, ending)

    [start] = admitted(driver.decided[before:])

    assert isinstance(start, Start)
    assert start.origin is Origin.FRESH
    assert start.session != "s1"
    refresh = driver.view.refresh
    assert (refresh is not None) is (ending is Ending.DONE)
    if refresh is not None:
        assert (refresh.stage, refresh.session) == (Stage.STARTING, "")


def test_a_run_that_worked_had_its_session() -> None:
    """What is printed about a missing one is then somebody else's text."""
    driver = Driver(blank())
    driver.start()
    driver.start(2, Origin.RESUMED, "s1")
    driver.see(reading(Status.WORKING))
    driver.tell(RunExited(run=2, code=1, lost=True))

    assert driver.view.run.exit is not None
    assert not driver.view.run.exit.lost


# -- calls that were left open --------------------------------------------------------------------


def back(*calls: str) -> Driver:
    """Run 2 goes on with the session; the run before crashed in the middle of these calls."""
    driver = crashed(None)
    driver.tell(
        RunStarted(run=2, origin=Origin.RESUMED, place="%2", session="s1", open=calls), after=3.0
    )
    return driver


def test_a_call_that_was_open_is_told_once() -> None:
    """It may have run: the model never learns that by itself."""
    driver = back("Bash make deploy")

    [told] = admitted(driver.see(reading(Status.IDLE)))

    assert isinstance(told, Send)
    assert "run #2" in told.text.splitlines()[0]
    assert "Bash make deploy" in told.text
    driver.finish(told)
    driver.see(reading(Status.IDLE), after=60.0)
    assert [a for a in admitted(driver.decided) if isinstance(a, Send)] == [told]


def test_no_open_call_no_word() -> None:
    """Nothing is told where nothing was open."""
    assert admitted(back().see(reading(Status.IDLE))) == []


def test_what_still_runs_is_told_to_the_agent_and_to_a_person() -> None:
    """It may be that very call."""
    driver = crashed(None)
    left = ("4711 make deploy",)
    driver.tell(
        RunStarted(run=2, origin=Origin.RESUMED, session="s1", open=("Bash make",), left=left),
        after=3.0,
    )

    told = [*admitted(driver.see(reading(Status.IDLE))), *admitted(driver.decided)]

    assert any(isinstance(a, Notify) and "4711 make deploy" in a.text for a in told)
    assert any(isinstance(a, Send) and "Still running: 4711 make deploy" in a.text for a in told)


@pytest.mark.parametrize("status", [Status.WORKING, Status.LIMITED, Status.UNKNOWN])
def test_it_is_told_at_the_prompt_only(status: Status) -> None:
    """A text typed elsewhere may be an answer."""
    driver = back("Bash make")

    assert not [a for a in admitted(driver.see(reading(status))) if isinstance(a, Send)]


def test_a_stopped_agent_is_told_nothing() -> None:
    """A person wants no run."""
    driver = back("Bash make")
    driver.tell(OrderGiven(order=Order.STOP, by="person"))

    assert not [a for a in admitted(driver.see(reading(Status.IDLE))) if isinstance(a, Send)]
