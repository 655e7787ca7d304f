"""step: the whole decision."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import FrameType

from koboshi.core.actions import Mode, Send
from koboshi.core.engine import Decision, World, happen, step
from koboshi.core.events import (
    Ending,
    Event,
    HookRead,
    Order,
    OrderGiven,
    PersonTyped,
    RunExited,
    ScreenSame,
    Stance,
    Ticked,
)
from koboshi.core.gate import Verdict, Word
from koboshi.core.readings import Limit, Status
from koboshi.core.rules import Finding
from koboshi.core.settings import Settings
from koboshi.core.view import Refreshing, Stage
from koboshi.rules.questions import HOOK_WAIT
from tests.core.worlds import UTC, Driver, admitted, asking, blank, reading, words


def idle_for(seconds: float, settings: Settings | None = None) -> Driver:
    """Run 1, at its prompt for that long."""
    driver = Driver(blank(settings))
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.at += seconds
    return driver


def test_an_event_that_changes_nothing_gives_back_the_very_same_world() -> None:
    """Such a tick need not be remembered, and its number is not spent."""
    driver = idle_for(10.0)
    before = driver.world

    driver.tell(Ticked())
    driver.tell(ScreenSame(run=1, digest="x", seen_at=0.5))
    driver.tell(RunExited(run=9, code=1))

    assert driver.world is before


def test_the_next_event_of_a_world_has_the_next_number_and_its_context() -> None:
    """Events are numbered without gaps."""
    driver = idle_for(10.0)

    event = happen(driver.world, PersonTyped(), driver.now)

    assert event == Event(
        seq=driver.world.seq + 1, now=driver.now, body=PersonTyped(), context=driver.view.context
    )
    assert event.id == f"e{driver.world.seq + 1}"


def test_a_decision_says_what_was_found_and_why_it_may_be_done() -> None:
    """Ten minutes at an empty box."""
    driver = idle_for(599.0)

    decisions = driver.tell(Ticked())

    assert decisions == (
        Decision(
            finding=Finding(
                code="IDL001",
                name="idle-too-long",
                severity=decisions[0].finding.severity,
                message="idle for 600 s or more",
                evidence=(),
            ),
            action=Send(run=1, text="continue", about="idle0.0.0"),
            verdict=Verdict(word=Word.ADMITTED),
            cause=3,
            now=driver.now,
        ),
    )


def test_a_refusal_is_told_once_and_again_when_its_word_changes() -> None:
    """Not at every look."""
    driver = idle_for(700.0)
    said = [words(driver.tell(PersonTyped()))]
    said.append(words(driver.tell(PersonTyped())))
    said.append(words(driver.tell(Ticked())))
    said.append(words(driver.tell(Ticked(), after=30.0)))

    assert said == [
        [("1.idle0.0.0", Word.PERSON)], [], [], [("1.idle0.0.0", Word.ADMITTED)],
    ]  # fmt: skip


def test_what_a_mode_does_not_do_is_shown_as_would_have() -> None:
    """Law 12."""
    driver = idle_for(700.0, Settings(mode=Mode.OBSERVE))

    assert words(driver.tell(Ticked())) == [("1.idle0.0.0", Word.WOULD)]


def test_a_duplicate_is_not_told() -> None:
    """The rule goes on finding it while its action is under way."""
    driver = idle_for(700.0)
    first = driver.tell(Ticked())

    assert (len(first), driver.tell(Ticked()), driver.tell(PersonTyped())) == (1, (), ())


def test_a_refusal_today_is_asked_again_tomorrow() -> None:
    """Rules look at the state, not at the moment (law 1): a cooldown only delays."""
    driver = idle_for(700.0)
    [send] = admitted(driver.tell(Ticked()))
    driver.finish(send)
    soon = driver.tell(Ticked(), after=5.0)
    later = driver.tell(Ticked(), after=60.0)

    assert words(soon) == []  # still noted as cooling, from the step of the outcome
    assert words(later) == [("1.idle0.0.1", Word.ADMITTED)]


def test_a_question_is_answered_by_policy_after_a_second_look() -> None:
    """Once seen is not confirmed (law 11)."""
    driver = Driver(blank(Settings(mode=Mode.AUTO, allow=("npm test",))))
    driver.start()
    first = driver.see(asking())
    second = driver.see_same()
    judged = driver.judge(Stance.ALLOW)

    assert words(first) == []
    assert words(second) == [("1.question1.judge", Word.ADMITTED)]
    assert words(judged) == [("1.question1", Word.ADMITTED)]


def test_a_limit_that_holds_after_the_message_is_tried_again() -> None:
    """The message made it work for a moment, then the same limit showed again: not the end."""
    driver = Driver(blank())
    driver.start()
    limited = reading(Status.LIMITED, limit=Limit(kind="session", resets_at=UTC + 60.0))
    driver.see(limited)
    [send] = admitted(driver.tell(Ticked(), after=120.0))
    driver.see(reading(Status.WORKING))
    driver.finish(send)
    driver.see(limited)

    decided = driver.tell(Ticked(), after=120.0)

    assert [a.key for a in admitted(decided)] == ["1.limit1.0.1"]


def test_a_late_hook_of_the_run_before_does_not_rename_the_session() -> None:
    """A crash would otherwise resume the old session and lose the new one's work."""
    driver = Driver(blank())
    driver.start(1, session="old")
    driver.tell(RunExited(run=1, code=0, meant=True))
    driver.start(2, session="new")

    driver.tell(HookRead(word="SessionEnd", session="old"))

    assert driver.view.run.session == "new"


def test_an_action_that_was_skipped_comes_back() -> None:
    """The key is given back and the state still asks for it."""
    driver = idle_for(700.0)
    [send] = admitted(driver.tell(Ticked()))
    driver.finish(send, Ending.SKIPPED)

    assert admitted(driver.tell(Ticked(), after=3.0)) == [send]


def calls_of(world: World, driver: Driver) -> int:
    """How many functions one step calls."""
    count = 0

    def see(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        step(world, happen(world, PersonTyped(), driver.now))
    finally:
        sys.setprofile(None)
    return count


def test_the_cost_of_a_step_does_not_depend_on_other_agents() -> None:
    """One world per agent: among a thousand others a step does the same work as alone."""
    driver = idle_for(10.0)
    alone = calls_of(driver.world, driver)
    view, context = driver.view, driver.view.context
    others = [
        replace(driver.world, view=replace(view, context=replace(context, agent=f"a{n}")))
        for n in range(1000)
    ]
    for world in others:
        step(world, happen(world, PersonTyped(), driver.now))

    assert calls_of(others[500], driver) == alone


def test_a_standing_matter_is_told_once_however_much_happens() -> None:
    """Work that could not be saved, then a long night of messages."""
    driver = Driver(blank(Settings(run_max=0.0)))
    driver.start()
    driver.world = replace(
        driver.world, view=replace(driver.view, tally=replace(driver.view.tally, unsaved=1))
    )
    for _ in range(200):
        driver.see(reading(Status.WORKING))
        driver.see(reading(Status.IDLE))
        for action in admitted(driver.tell(Ticked(), after=700.0)):
            driver.finish(action)
        for action in driver.world.ledger.in_flight():
            driver.finish(action)

    told = [a.key for a in admitted(driver.decided) if "unsaved" in a.key]
    assert told == ["1.unsaved0.escalate"]


def test_a_step_leaves_the_world_it_was_given_alone() -> None:
    """Worlds are values."""
    driver = idle_for(700.0)
    before = driver.world
    view, ledger = before.view, before.ledger

    driver.tell(Ticked())

    assert (before.view, before.ledger, before.seq) == (view, ledger, 2)
    assert driver.world.seq == 3


def test_a_first_start_that_failed_can_be_asked_for_again() -> None:
    """A typo in the folder must not use up the agent's name."""
    driver = Driver(blank())
    [first] = admitted(driver.tell(OrderGiven(order=Order.START)))
    driver.finish(first, Ending.FAILED)

    [second] = admitted(driver.tell(OrderGiven(order=Order.START)))

    assert second.key != first.key


def test_acknowledge_frees_a_refresh_that_is_stuck() -> None:
    """Every other rule waits for it; the person has it now."""
    driver = Driver(blank())
    driver.start()
    stuck = Refreshing(nth=1, why="old", stage=Stage.LOADING, note="n", tries=3)
    driver.world = replace(driver.world, view=replace(driver.view, refresh=stuck))

    driver.tell(OrderGiven(order=Order.ACKNOWLEDGE))

    assert driver.view.refresh is None


def test_an_old_hook_does_not_confirm_a_question() -> None:
    """A hook is an edge (law 8): one from minutes ago asked something else."""
    driver = Driver(blank(Settings(mode=Mode.AUTO, allow=("npm test",))))
    driver.start()
    driver.tell(HookRead(word="PermissionRequest", status=Status.ASKING, session="s1"))

    decided = driver.see(asking(), after=300.0)

    assert admitted(decided) == []
    assert [a.kind for a in admitted(driver.see_same(after=HOOK_WAIT))] == ["judge"]


def test_the_same_words_over_a_background_line_are_the_same_question() -> None:
    """Told once, answered once."""
    driver = Driver(blank(Settings(mode=Mode.KEEP)))
    driver.start()
    driver.see(asking())
    driver.see_same()
    told = admitted(driver.judge(Stance.ASK))

    again = admitted(driver.see(asking(lines=("> go", "● a background task has ended"))))

    assert [a.kind for a in told] == ["escalate"]
    assert again == []
    assert driver.view.question is not None
    assert driver.view.question.nth == 1
