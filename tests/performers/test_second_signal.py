"""Two signals before any text: typed into a dialog it would approve it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.core.actions import Send
from koboshi.core.events import Ending, Outcome, Source
from koboshi.core.readings import Prompt, PromptKind, Reading, Status
from koboshi.core.view import Clue
from koboshi.hosts.base import Place
from koboshi.observations import ScreenSeen
from koboshi.performers.typing import ready
from tests.performers.benches import ASK, Bench

SEND = Send(run=1, text="go on", about="idle0.0.0")


def clue(source: Source, status: Status, age: float, bench: Bench) -> Clue:
    """What that source said so many seconds ago."""
    return Clue(source=source, status=status, at=bench.runtime.now().at - age)


@pytest.mark.parametrize(
    ("source", "age"), [(Source.REGISTRY, 1.0), (Source.REGISTRY, 900.0), (Source.HOOK, 2.0)]
)
def test_another_signal_that_knows_of_a_question_keeps_the_text_back(
    source: Source, age: float
) -> None:
    """The screen alone is not believed; a level holds, an edge for some time."""
    bench = Bench()
    bench.view = replace(bench.view, clues=(clue(source, Status.ASKING, age, bench),))

    result = bench.perform(SEND)

    assert result == Outcome(
        ending=Ending.SKIPPED, why="the screen shows a prompt, another signal an open question"
    )
    assert bench.sent == []


def test_an_old_hook_does_not_hold_for_ever() -> None:
    """A refused question fires no hook at its end."""
    bench = Bench()
    bench.view = replace(bench.view, clues=(clue(Source.HOOK, Status.ASKING, 60.0, bench),))

    assert bench.perform(SEND).ending is Ending.DONE


def test_a_registry_that_agrees_saves_the_second_look() -> None:
    """The agent says by itself that it waits for its user."""
    bench = Bench()
    bench.view = replace(bench.view, clues=(clue(Source.REGISTRY, Status.IDLE, 1.0, bench),))
    begun = bench.runtime.now().at

    assert bench.perform(SEND).ending is Ending.DONE
    told = bench.runtime.now().at - begun
    alone = Bench()
    begun = alone.runtime.now().at
    assert alone.perform(SEND).ending is Ending.DONE
    assert alone.runtime.now().at - begun >= told + 0.25


def test_where_nobody_else_tells_a_dialog_between_two_looks_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cursor moved, or the prompt is not there any more."""
    bench = Bench()
    look, count = bench.host.look, 0

    async def moving(place: Place) -> ScreenSeen:
        nonlocal count
        count += 1
        seen = await look(place)
        return replace(seen, cursor=(count, 3))

    monkeypatch.setattr(bench.host, "look", moving)
    result = bench.perform(SEND)

    assert result.why == "not at an empty prompt, at the second look"
    assert bench.sent == []


def test_a_dialog_that_opens_after_the_first_look_is_seen_by_the_second() -> None:
    """Its cursor may stand where the prompt's was."""
    bench = Bench(ASK)
    bench.host.tricks[2] = bench.ask

    result = bench.perform(SEND)

    assert result.why == "not at an empty prompt, at the second look"
    assert (bench.sent, bench.dialog is None) == ([], False)


def test_a_dialog_that_opens_once_the_text_was_seen_gets_no_enter() -> None:
    """Enter would approve it: it is looked again right before, not only until the text shows."""
    bench = Bench(ASK)

    def dialog_in_place_of_the_box() -> None:
        bench.agent.key("C-u")
        bench.ask()

    bench.host.tricks[4] = dialog_in_place_of_the_box

    result = bench.perform(SEND)

    assert result.why == "the box changed before Enter; not submitted"
    assert (bench.sent, bench.dialog is None) == (["'go on'"], False)


@pytest.mark.parametrize("status", [Status.LIMITED, Status.FAILED, Status.IDLE])
def test_a_menu_over_an_agent_at_rest_is_a_dialog_too(status: Status) -> None:
    """The menu of a limit: Enter would buy something."""
    menu = Prompt(kind=PromptKind.QUESTION, question="What do you want to do?")

    assert ready(Reading(status=status), None)
    assert not ready(Reading(status=status, prompt=menu), None)


@pytest.mark.parametrize("ago", [1.0, 10.0])
def test_a_person_who_has_just_typed_there_is_not_typed_over(
    ago: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it was decided before they did."""
    bench = Bench()
    look = bench.host.look

    async def typed(place: Place) -> ScreenSeen:
        seen = await look(place)
        return replace(seen, typed_at=(seen.utc or 0.0) - ago)

    monkeypatch.setattr(bench.host, "look", typed)
    result = bench.perform(SEND)

    long_ago = ago > 5.0
    assert (result.ending is Ending.DONE) is long_ago
    assert bool(bench.sent) is long_ago


@pytest.mark.parametrize(
    ("told", "ready_now"), [(Status.IDLE, True), (Status.WORKING, False), (None, False)]
)
def test_a_box_whose_turn_may_run_is_typed_into_by_the_word_of_another_signal(
    told: Status | None, *, ready_now: bool
) -> None:
    """And not over a half-typed line."""
    unended = Reading(status=Status.UNKNOWN, unended=True)

    assert ready(unended, told) is ready_now
    assert not ready(replace(unended, draft="h"), told)
