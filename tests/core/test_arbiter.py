"""The arbiter: many clues, one status."""

from __future__ import annotations

import pytest

from koboshi.core.arbiter import resolve
from koboshi.core.events import HookRead, Source, Ticked
from koboshi.core.readings import Reading, Status
from koboshi.core.view import Clue, Run, Sight, View
from tests.core.worlds import CONTEXT, Driver, blank, moment, reading

RUN = Run(number=1, since=100.0)


def clue(source: Source, status: Status, at: float = 110.0) -> Clue:
    """One source's word."""
    said = f"{source}"
    return Clue(source=source, status=status, at=at, since=at, reason=said, evidence=("e",))


SCREEN, PROCESS, HOOK = Source.SCREEN, Source.PROCESS, Source.HOOK

TABLE = {
    "no run": ((), Run(), 500.0, Status.UNKNOWN),
    "just started": ((), RUN, 160.0, Status.STARTING),
    "never seen": ((), RUN, 161.0, Status.UNKNOWN),
    "blank": ((clue(SCREEN, Status.STARTING),), RUN, 160.0, Status.STARTING),
    "stays blank": ((clue(SCREEN, Status.STARTING),), RUN, 161.0, Status.UNKNOWN),
    "screen": ((clue(SCREEN, Status.IDLE),), RUN, 5000.0, Status.IDLE),
    "ended": (
        (clue(SCREEN, Status.WORKING), clue(PROCESS, Status.GONE)), RUN, 120.0, Status.GONE,
    ),
    "hook alone": ((clue(HOOK, Status.WORKING),), RUN, 120.0, Status.STARTING),
    "hook against a question": (
        (clue(SCREEN, Status.ASKING), clue(HOOK, Status.IDLE)), RUN, 500.0, Status.ASKING,
    ),
    "hook agrees": (
        (clue(SCREEN, Status.WORKING), clue(HOOK, Status.WORKING)), RUN, 500.0, Status.WORKING,
    ),
    "turn ended, spinner stands, in grace": (
        (clue(SCREEN, Status.WORKING), clue(HOOK, Status.IDLE)), RUN, 120.0, Status.WORKING,
    ),
    "turn ended, spinner stands": (
        (clue(SCREEN, Status.WORKING), clue(HOOK, Status.IDLE)), RUN, 121.0, Status.UNKNOWN,
    ),
    "a hook from before the spinner moved": (
        (clue(SCREEN, Status.WORKING), clue(HOOK, Status.IDLE, at=104.0)), RUN, 500.0,
        Status.WORKING,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_clues_add_up(name: str) -> None:
    """Process before screen before hook; silence and contradiction are unknown."""
    clues, run, at, status = TABLE[name]
    view = View(context=CONTEXT, run=run, clues=clues, sight=Sight(moved_at=105.0))

    found, reason, _ = resolve(view, moment(at))

    assert found is status
    assert reason


def test_a_contradiction_names_both_sides() -> None:
    """Unknown with reasons, not a guess."""
    clues = (clue(SCREEN, Status.WORKING), clue(HOOK, Status.IDLE))
    view = View(context=CONTEXT, run=RUN, clues=clues)

    assert resolve(view, moment(500.0)) == (
        Status.UNKNOWN,
        "contradiction: the screen says working, the hook said the turn ended",
        ("e", "hook", "e"),
    )


def test_time_alone_can_change_the_status() -> None:
    """A tick is enough: a blank screen is no longer starting."""
    driver = Driver(blank(rules=()))
    driver.start()
    driver.see(Reading(status=Status.STARTING))
    before = driver.view.status

    driver.tell(Ticked(), after=61.0)

    assert (before, driver.view.status) == (Status.STARTING, Status.UNKNOWN)


def test_a_spinner_that_moves_on_heals_the_contradiction() -> None:
    """The hook was late or about another turn."""
    driver = Driver(blank(rules=()))
    driver.start()
    driver.see(reading(Status.WORKING))
    driver.tell(HookRead(word="Stop", status=Status.IDLE))
    driver.tell(Ticked(), after=20.0)
    torn = driver.view.status

    driver.see(reading(Status.WORKING))

    assert (torn, driver.view.status) == (Status.UNKNOWN, Status.WORKING)


@pytest.mark.parametrize(
    ("told", "at", "unended", "status"),
    [
        (Status.IDLE, 121.0, True, Status.IDLE),
        (Status.IDLE, 120.0, True, Status.UNKNOWN),  # both may just have changed
        (Status.IDLE, 5000.0, False, Status.UNKNOWN),
        (Status.ASKING, 5000.0, True, Status.UNKNOWN),
        (Status.WORKING, 5000.0, True, Status.WORKING),
    ],
)
def test_the_registry_tells_whether_an_answer_without_an_end_has_ended(
    told: Status, at: float, *, unended: bool, status: Status
) -> None:
    """A resumed screen may end with a failed call, and nothing on it says that no turn runs."""
    clues = (clue(SCREEN, Status.UNKNOWN), clue(Source.REGISTRY, told))
    sight = Sight(moved_at=105.0, unended=unended)

    found, _, _ = resolve(View(context=CONTEXT, run=RUN, clues=clues, sight=sight), moment(at))

    assert found is status
