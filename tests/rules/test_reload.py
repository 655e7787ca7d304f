"""A restart that was asked for: end, start, tell; each once, nothing lost."""

from __future__ import annotations

import pytest

from koboshi.core.actions import Escalate, Mode, Send, Start, Stop
from koboshi.core.events import Ending, Order, OrderGiven, Origin, RunExited, Ticked
from koboshi.core.readings import Reading, Status
from koboshi.core.settings import Settings
from tests.core.worlds import Driver, admitted, asking, blank, reading


def up(**settings: object) -> Driver:
    """Run 1, in a turn."""
    driver = Driver(blank(Settings(**settings)))  # type: ignore[arg-type]
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.see(reading(Status.WORKING))
    return driver


def asked(text: str = "new tools", note: str = "at step 3", *, fresh: bool = False) -> OrderGiven:
    """What the agent asks for."""
    return OrderGiven(order=Order.RELOAD, by="agent", text=text, note=note, fresh=fresh)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "shown", [reading(Status.WORKING), reading(Status.IDLE), reading(Status.UNKNOWN), asking()]
)
def test_the_run_that_asked_is_ended_whatever_it_shows(mode: Mode, shown: Reading) -> None:
    """It waits in its own turn; no prompt will come."""
    driver = up(mode=mode)
    driver.see(shown)

    [stop] = [a for a in admitted(driver.tell(asked())) if isinstance(a, Stop)]

    assert stop == Stop(run=1, about="reload1.0", ordered=True, asked=True)


def ended(driver: Driver, code: int = 143, *, fresh: bool = False) -> list[Start]:
    """The run that asked has ended; what is started."""
    stop = next(a for a in admitted(driver.tell(asked(fresh=fresh))) if isinstance(a, Stop))
    driver.tell(RunExited(run=driver.view.run.number, code=code, meant=code == 0), after=0.1)
    before = len(driver.decided)
    driver.finish(stop)
    return [a for a in admitted(driver.decided[before:]) if isinstance(a, Start)]


@pytest.mark.parametrize("code", [129, 143, 0])
@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("mode", list(Mode))
def test_the_next_run_starts_at_once(code: int, mode: Mode, *, fresh: bool) -> None:
    """Whatever the exit code: it is no crash and no exit for good."""
    driver = up(mode=mode)
    [start] = ended(driver, code, fresh=fresh)

    assert start.run == 2
    assert start.origin is (Origin.FRESH if fresh else Origin.RESUMED)
    assert (start.session == "s1") is not fresh
    assert driver.view.tally.crashes == 0


def started(driver: Driver, start: Start) -> list[Send]:
    """The next run is up and at its prompt; what it is told."""
    driver.start(start.run, start.origin, start.session)
    driver.finish(start)
    sent = admitted(driver.see(reading(Status.IDLE)))
    return [a for a in sent if isinstance(a, Send)]


def test_the_new_run_is_told_once() -> None:
    """Reason, context and the number of the run; and then it is forgotten."""
    driver = up()
    [start] = ended(driver)
    [told] = started(driver, start)

    assert "run #2, restarted once" in told.text
    assert "new tools" in told.text
    assert "at step 3" in told.text
    driver.finish(told)
    assert driver.view.reload is None
    driver.at += 3600.0
    assert not [a for a in admitted(driver.see_same()) if a.key.startswith("2.reload")]


def test_what_was_not_submitted_is_told_again_and_then_a_person_is_asked() -> None:
    """A failed send is known not to have gone in; three of them are enough."""
    driver = up()
    [start] = ended(driver)
    told = started(driver, start)
    keys = []
    for _ in range(3):
        keys.append(told[-1].key)
        before = len(driver.decided)
        driver.finish(told[-1], Ending.FAILED, "not submitted")
        told += [a for a in admitted(driver.decided[before:]) if isinstance(a, Send)]

    assert keys == ["2.reload1.0", "2.reload1.1", "2.reload1.2"]
    assert len(told) == 3
    assert any(isinstance(d.action, Escalate) for d in driver.decided)
    assert driver.view.reload is not None


def test_a_start_that_failed_loses_nothing() -> None:
    """It is started again after a wait, and told then."""
    driver = up()
    [start] = ended(driver)
    before = len(driver.decided)
    driver.finish(start, Ending.FAILED, "no such file")
    driver.tell(Ticked(), after=60.0)
    again = [a for a in admitted(driver.decided[before:]) if isinstance(a, Start)]

    assert [a.nth for a in again] == [1]
    [told] = started(driver, again[0])
    assert "new tools" in told.text


def test_a_new_run_that_crashes_before_it_was_told_is_followed_by_one_that_is() -> None:
    """That crash counts as one."""
    driver = up()
    [start] = ended(driver)
    driver.start(2, start.origin, start.session)
    driver.finish(start)
    driver.tell(RunExited(run=2, code=1))
    assert driver.view.tally.crashes == 1
    [again] = [a for a in admitted(driver.tell(Ticked(), after=60.0)) if isinstance(a, Start)]
    [told] = started(driver, again)

    assert "run #3, restarted 2 times" in told.text


def test_asking_again_adds_to_what_is_told() -> None:
    """The second reason does not swallow the first, and nothing is ended twice."""
    driver = up()
    [stop] = admitted(driver.tell(asked("one", "first")))
    assert admitted(driver.tell(asked("two", "second"))) == []
    driver.tell(RunExited(run=1, code=143))
    before = len(driver.decided)
    driver.finish(stop)
    [start] = admitted(driver.decided[before:])
    assert isinstance(start, Start)
    [told] = started(driver, start)

    assert "one; two" in told.text
    assert "first\n\nsecond" in told.text


def test_a_stop_ends_it() -> None:
    """Who says stop means it, also in the middle of a restart."""
    driver = up()
    [start] = ended(driver)
    driver.finish(start, Ending.SKIPPED)
    driver.tell(OrderGiven(order=Order.STOP))
    driver.at += 3600.0

    assert driver.view.reload is None
    assert [a for a in admitted(driver.tell(Ticked())) if isinstance(a, Start)] == []


def test_crashes_before_it_are_forgiven_and_the_budget_is_not() -> None:
    """An agent that restarts itself for ever is held by the one budget, and stays up."""
    driver = up(intensity=2)
    for run in (1, 2):
        [start] = ended(driver)
        [told] = started(driver, start)
        driver.finish(told)
        assert driver.view.run.number == run + 1
    decided = admitted(driver.tell(asked()))

    assert not [a for a in decided if isinstance(a, Stop)]
    assert [a for a in decided if isinstance(a, Escalate)]
    assert driver.view.run.exit is None
    later = admitted(driver.tell(Ticked(), after=3700.0))
    assert [a.key for a in later if isinstance(a, Stop)] == ["3.reload3.0.stop"]


def test_messages_of_a_person_wait_until_the_new_run_was_told() -> None:
    """They come after it, and are not lost."""
    driver = up()
    [start] = ended(driver)
    driver.tell(OrderGiven(order=Order.SEND, text="and the docs"))
    [told] = started(driver, start)
    before = len(driver.decided)
    driver.finish(told)
    driver.see(reading(Status.IDLE), after=60.0)

    later = admitted(driver.decided[before:])
    assert [a.text for a in later if isinstance(a, Send)] == ["and the docs"]
