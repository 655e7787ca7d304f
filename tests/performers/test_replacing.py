"""A program of the owner's in koboshi's place: what it did is seen, not believed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from koboshi.core.actions import Action, Send, Start
from koboshi.core.events import Ending, Origin, Outcome, RunStarted
from koboshi.performers.hands import done, failed
from tests.performers.benches import Bench

RESUME = Start(run=2, origin=Origin.RESUMED, session="s1")
SEND = Send(run=1, text="go on", about="x")


def replaced(bench: Bench, does: Callable[[], Outcome]) -> list[Action]:
    """Let that happen in the place of everything; what it was called for."""
    asked: list[Action] = []

    async def instead(action: Action) -> Outcome:
        asked.append(action)
        bench.hands.touch(action.key)
        return does()

    bench.hands.replaced, bench.hands.instead = lambda _: True, instead
    return asked


def gone(*, own: bool) -> Bench:
    """An agent that has crashed."""
    bench = Bench(own=own)
    bench.agent.end(9)
    return bench


def runs(bench: Bench) -> list[int]:
    """The runs that were told of."""
    return [body.run for body in bench.told if isinstance(body, RunStarted)]


def test_an_agent_that_the_program_started_in_its_pane_is_the_next_run() -> None:
    """No key of ours."""
    bench = gone(own=False)

    def does() -> Outcome:
        bench.agent.start(("scripted", "--resume", "s1"))
        return done("hook ended with 0")

    asked = replaced(bench, does)

    assert bench.perform(RESUME) == done("hook ended with 0")
    assert (asked, bench.sent, runs(bench)) == ([RESUME], [], [2])
    assert bench.hands.place is not None
    assert bench.hands.place.run == 2


def test_a_program_that_says_so_and_started_nothing_has_failed() -> None:
    """A start that failed counts against the budget, so it cannot be one for ever."""
    bench = gone(own=False)
    replaced(bench, lambda: done("hook ended with 0"))
    outcome = bench.perform(RESUME)

    assert outcome == failed("hook ended with 0; the agent is not up in its pane after 30 s")
    assert (bench.sent, runs(bench)) == ([], [])


@pytest.mark.parametrize("own", [True, False])
def test_a_program_that_failed_is_a_start_that_failed(own: bool) -> None:  # noqa: FBT001
    """It is not done after all."""
    bench = gone(own=own)
    replaced(bench, lambda: failed("hook ended with 3: no"))

    assert bench.perform(RESUME) == failed("hook ended with 3: no")
    assert (bench.sent, runs(bench), len(bench.host.starts)) == ([], [], 1)


def test_in_a_terminal_of_koboshis_own_the_program_says_whether() -> None:
    """Nobody else can start a run there that is seen."""
    bench = gone(own=True)
    asked = replaced(bench, lambda: done("hook ended with 0"))

    assert bench.perform(RESUME).ending is Ending.DONE
    assert (asked, runs(bench), len(bench.host.starts)) == ([RESUME], [2], 2)


@pytest.mark.parametrize("own", [True, False])
def test_no_program_runs_for_an_agent_that_lives(own: bool) -> None:  # noqa: FBT001
    """Void, or done by a person who was quicker."""
    bench = Bench(own=own)
    asked = replaced(bench, lambda: done("never"))
    outcome = bench.perform(RESUME)

    assert asked == []
    assert outcome.ending is (Ending.SKIPPED if own else Ending.DONE)


def test_a_message_to_a_run_that_is_over_goes_to_no_program() -> None:
    """It was decided about that run."""
    bench = gone(own=True)
    bench.start(2)
    asked = replaced(bench, lambda: done("never"))

    assert bench.perform(SEND).ending is Ending.SKIPPED
    assert asked == []


def test_a_message_that_a_program_may_have_brought_is_not_brought_again() -> None:
    """Nothing of it is on the screen."""
    bench = Bench()
    replaced(bench, lambda: done("never"))

    assert bench.settle(SEND) == failed("in doubt: the program may have run")
    assert bench.settle(SEND, touched=False).ending is Ending.SKIPPED
