"""A refresh whose turn boundary does not come: waited for, then forced, and said so."""

from __future__ import annotations

import pytest

from koboshi.core.actions import Checkpoint, Refresh
from koboshi.core.events import Ending, PersonTyped, Ticked
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from tests.core.worlds import Driver, admitted, asking, blank, reading


def in_a_turn(*, used: float | None = 80.0, **settings: object) -> Driver:
    """A turn that does not end."""
    given: dict[str, object] = {"refresh_wait": 600.0, "run_max": 0.0, **settings}
    driver = Driver(blank(Settings(**given)))  # type: ignore[arg-type]
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.see(reading(Status.WORKING))
    driver.see(reading(Status.WORKING, used=used), after=1000.0)
    return driver


def forced(driver: Driver) -> list[Refresh]:
    """What was forced so far."""
    return [a for a in admitted(driver.decided) if isinstance(a, Refresh) and a.forced]


def test_it_waits_from_when_it_was_due_and_says_that_it_was_forced() -> None:
    """Not from when the turn began: there was nothing to wait for then."""
    driver = in_a_turn()
    driver.see(reading(Status.WORKING, used=90.0), after=599.0)
    assert forced(driver) == []
    driver.tell(Ticked(), after=1.0)

    [refresh] = forced(driver)

    assert refresh.why == "context 90% used; forced: no turn boundary for 600 s"
    driver.finish(refresh)
    assert driver.view.refresh is not None
    assert "forced" in driver.view.refresh.why
    [save] = admitted(driver.see(reading(Status.IDLE)))
    assert isinstance(save, Checkpoint)


def test_an_old_run_is_forced_as_well() -> None:
    """Its time box was over long ago."""
    driver = in_a_turn(used=None, run_max=500.0)
    driver.tell(Ticked(), after=100.0)

    [refresh] = forced(driver)

    assert refresh.why.startswith("run is older than 500 s; forced")


def test_a_turn_that_began_later_gets_its_whole_time() -> None:
    """Something else held the refresh up before: it is this turn that is waited for."""
    driver = in_a_turn(refresh_gap=1e6)
    driver.see(reading(Status.IDLE, used=80.0), after=500.0)
    driver.see(reading(Status.WORKING, used=80.0))
    driver.tell(Ticked(), after=500.0)

    assert forced(driver) == []


@pytest.mark.parametrize("wait", [0.0, 1e6])
def test_nobody_asked_for_it(wait: float) -> None:
    """It is off unless somebody sets it."""
    driver = in_a_turn(refresh_wait=wait)
    driver.tell(Ticked(), after=10_000.0)

    assert forced(driver) == []


def test_neither_a_question_nor_a_person_is_interrupted() -> None:
    """Escape would be an answer, or take a line away."""
    driver = in_a_turn()
    driver.see(asking(), after=590.0)
    driver.see(asking(), after=100.0)
    assert forced(driver) == []

    typing = in_a_turn()
    typing.tell(PersonTyped(), after=595.0)
    typing.tell(Ticked(), after=10.0)
    assert forced(typing) == []


def test_one_that_failed_is_tried_again_after_the_gap() -> None:
    """And under a key of its own."""
    driver = in_a_turn()
    driver.tell(Ticked(), after=600.0)
    [first] = forced(driver)
    driver.finish(first, Ending.FAILED, "the turn goes on")
    driver.tell(Ticked(), after=10.0)
    assert forced(driver) == [first]
    driver.tell(Ticked(), after=200.0)

    assert [a.nth for a in forced(driver)] == [1, 2]
