"""An answer that came between two looks is an answer."""

from __future__ import annotations

import pytest

from koboshi.core.actions import Send
from koboshi.core.events import Ending, Outcome, SignalRead, Source
from koboshi.core.readings import Status
from koboshi.core.view import Clue, evolve
from koboshi.errors import PlaceGone
from koboshi.performers import reactions
from koboshi.scripted.behaviour import Done, Work
from tests.core.worlds import Driver, reading
from tests.performers.benches import Bench

BEFORE = ("hello", "> continue", "done")
SEND = Send(run=1, text="continue", about="idle1.0.0")


@pytest.mark.parametrize(
    ("after", "counts"),
    [
        (("hello", "> continue", "done", "> continue", "done again"), True),
        (("> continue", "done", "> continue", "42"), True),  # scrolled
        (BEFORE, False),
        ((*BEFORE, "> continue"), False),
        ((*BEFORE, "> continue", "", "  "), False),
        ((*BEFORE, "> continue", "Unknown command: /continue"), False),
        (("something", "else"), False),  # rebuilt: nothing tells
    ],
)
def test_what_counts_as_an_answer(after: tuple[str, ...], *, counts: bool) -> None:
    """New lines that are not our own words."""
    assert reactions.answered(BEFORE, after, "continue") is counts


def statuses(bench: Bench) -> list[Status | None]:
    """What was told of turns."""
    return [body.status for body in bench.told if isinstance(body, SignalRead)]


def test_a_quick_answer_is_told_as_a_turn() -> None:
    """Begun and ended: the screen shows the same before and after."""
    bench = Bench((Work(seconds=0.05, say="step"), Done()))

    assert bench.perform(SEND).ending is Ending.DONE
    assert statuses(bench) == [Status.WORKING, Status.IDLE]


def test_who_tells_of_turns_is_not_looked_at_for_them() -> None:
    """A hook has told, or will."""
    bench = Bench((Work(seconds=0.05, say="step"), Done()))
    clue = Clue(source=Source.HOOK, status=Status.IDLE, at=0.0)
    bench.view = evolve(bench.view, clues=(clue,))

    assert bench.perform(SEND).ending is Ending.DONE
    assert statuses(bench) == []


def test_a_terminal_that_goes_away_takes_nothing_back() -> None:
    """The message was submitted; what failed is only our look at what came of it."""
    bench = Bench()
    sent = Outcome(ending=Ending.DONE)

    async def gone() -> None:
        raise PlaceGone("gone")

    bench.host.look = lambda _place: gone()  # type: ignore[method-assign, assignment, return-value]

    assert bench.run(reactions.looked_for(bench.hands, sent, SEND, ())) is sent


def test_quick_answers_do_not_add_up_to_an_agent_that_does_not_react() -> None:
    """Six of them, each over before the next look, and nobody is told that it is deaf."""
    driver = Driver()
    driver.start()
    driver.see(reading(Status.IDLE))
    for nth in range(6):
        for status in (Status.WORKING, Status.IDLE):
            driver.tell(SignalRead(run=1, source=Source.SCREEN, status=status))
        driver.finish(Send(run=1, text="continue", about=f"idle{nth}.0.0"))
        driver.see_same()

    assert driver.view.status is Status.IDLE
    assert driver.view.tally.nudges == 1
    assert driver.view.tally.turns == 6
