"""What an agent says becomes a fact: once, at once, and counted when it does not stop."""

from __future__ import annotations

from koboshi.adapters.generic import GenericAdapter
from koboshi.adapters.registry import adapter
from koboshi.core.engine import World, happen, step
from koboshi.core.events import Context, Heard, LinesHeard, Moment, Origin, RunStarted, ScreenRead
from koboshi.core.readings import Reading, Status
from koboshi.core.view import View, evolve
from koboshi.daemon.hearing import Hearing
from koboshi.rules import BUILTIN
from koboshi.rules.texts import FATAL

WORD = FATAL[2]


def world(origin: Origin = Origin.FIRST, lines: tuple[str, ...] = ()) -> World:
    """A run, and the last lines that are known of it."""
    blank = World(view=View(context=Context(agent="a", lines=lines)), rules=BUILTIN)
    now = Moment(at=0.0, utc=0.0)
    return step(blank, happen(blank, RunStarted(run=1, origin=origin), now))[0]


def times(told: LinesHeard | None) -> int:
    """How often the word was told of."""
    return sum(each.times for each in told.heard if each.what == WORD) if told else 0


def test_the_first_time_is_told_at_once() -> None:
    """With the line."""
    told = Hearing(GenericAdapter()).look(("ok", "Fatal error: x"), 80, world(), 1.0)

    assert told is not None
    assert Heard(what=WORD, text="Fatal error: x") in told.heard


def test_what_is_still_there_is_not_told_again() -> None:
    """Once per occurrence."""
    hearing, known = Hearing(GenericAdapter()), world()
    rows = ("ok", "Fatal error: x")
    told = [hearing.look((*rows, *more), 80, known, 5.0 * n) for n, more in enumerate(((), ("a",)))]

    assert [times(each) for each in told] == [1, 0]


def test_a_storm_is_told_once_a_second_with_a_count() -> None:
    """Not a line is lost."""
    hearing, known = Hearing(GenericAdapter()), world()
    told = [times(hearing.lines(("Fatal error",) * 10, known, at / 10)) for at in range(30)]
    told.append(times(hearing.due(known, 9.0)))

    assert sum(told) == 300
    assert next(count for count in told if count) == 10
    assert len([count for count in told if count]) == 4


def test_a_session_that_goes_on_tells_its_past_to_nobody() -> None:
    """A resumed CLI prints it again; what it says after its first turn counts."""
    hearing, known = Hearing(GenericAdapter()), world(Origin.RESUMED)
    at_first = hearing.look(("Fatal error: old",), 80, known, 1.0)
    view = known.view
    worked = evolve(known, view=evolve(view, tally=evolve(view.tally, turns=1)))
    later = hearing.look(("Fatal error: old", "Fatal error: new"), 80, worked, 3.0)

    assert (times(at_first), times(later)) == (0, 1)


def test_a_new_supervisor_goes_on_from_the_last_lines() -> None:
    """What its predecessor heard is known."""
    known = world(lines=("Fatal error: x", "after it"))
    told = Hearing(GenericAdapter()).look(("Fatal error: x", "after it", "more"), 80, known, 1.0)

    assert times(told) == 0


def test_what_a_tool_prints_is_not_said() -> None:
    """Law 11."""
    hearing = Hearing(adapter("claude"))
    rows = ("● Bash(cat x)", "  ⎿  Fatal error: in a file", "● All is well.")

    assert times(hearing.look(rows, 80, world(), 1.0)) == 0


def test_other_rules_listen_for_other_things() -> None:
    """From the moment on at which they hold."""
    hearing, known = Hearing(GenericAdapter()), world()
    before = hearing.look(("x",), 80, evolve(known, rules=()), 1.0)
    after = hearing.look(("x", "Fatal error"), 80, known, 2.0)

    assert (before, times(after)) == (None, 1)


def test_the_fact_is_part_of_the_journal_and_of_the_view() -> None:
    """As any other; a screen that shows it is not needed for that."""
    known = world()
    body = ScreenRead(run=1, reading=Reading(status=Status.IDLE), digest="d", seen_at=1.0)
    told = Hearing(GenericAdapter()).look(("Fatal error",), 80, known, 1.0)
    assert told is not None
    for each in (told, body):
        event = happen(known, each, Moment(at=1.0, utc=1.0))
        known, _ = step(known, event)

    assert WORD in {echo.what for echo in known.view.echoes}


def test_what_the_settings_add_is_listened_for() -> None:
    """Also when it was added a moment ago."""
    hearing, plain = Hearing(GenericAdapter()), world()
    assert hearing.lines(["a segfault"], plain, 1.0) is None
    settings = evolve(plain.view.settings, fatal_text=("segfault",))
    more = evolve(plain, view=evolve(plain.view, settings=settings))
    told = hearing.lines(["a segfault"], more, 2.0)

    assert told is not None
    assert [(each.what, each.text) for each in told.heard] == [("segfault", "a segfault")]
