"""What was heard is part of the view: counted, bounded, and of this run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.engine import happen
from koboshi.core.events import Heard, LinesHeard
from koboshi.core.fold import fold
from koboshi.core.view import ECHOES, THINGS, Echo
from tests.core.worlds import Driver, moment


def heard(driver: Driver, *things: tuple[str, int], run: int = 1) -> None:
    """Each of these, so many times."""
    said = tuple(Heard(what=what, text=f"line {what}", times=n) for what, n in things)
    driver.tell(LinesHeard(run=run, heard=said))


def started() -> Driver:
    """A run."""
    driver = Driver()
    driver.start()
    return driver


def test_times_and_lines_are_kept() -> None:
    """The latest last."""
    driver = started()
    heard(driver, ("a", 1), ("b", 2))
    heard(driver, ("a", 1))

    assert driver.view.echoes == (
        Echo(what="b", total=2, times=(2.0, 2.0), text="line b", nth=1),
        Echo(what="a", total=2, times=(2.0, 3.0), text="line a", nth=2),
    )


def test_a_run_that_is_over_says_nothing() -> None:
    """An old story changes nothing."""
    driver = started()
    heard(driver, ("a", 1), run=0)

    assert driver.view.echoes == ()


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 5000)), max_size=60))
def test_memory_is_bounded(things: list[tuple[int, int]]) -> None:
    """Whatever is heard, however often; the number of times in all is not lost."""
    driver = started()
    world, total = driver.world, 0
    view = world.view
    for what, times in things:
        many = (Heard(what=f"{what + n}", text="t", times=times) for n in range(30))
        view = fold(view, happen(world, LinesHeard(run=1, heard=tuple(many)), moment(5.0)))
        total += 30 * times

    assert len(view.echoes) <= THINGS
    assert all(len(echo.times) <= ECHOES for echo in view.echoes)
    assert len(view.echoes) == THINGS or sum(echo.total for echo in view.echoes) == total
