"""Which looks are worth an event."""

from __future__ import annotations

from dataclasses import replace

from koboshi.core.events import ScreenRead, ScreenSame
from koboshi.core.readings import Reading, Status
from koboshi.core.view import Question, View
from koboshi.daemon.coalesce import GROWING, MOVING, STILL, Coalescer
from tests.core.worlds import CONTEXT, asking, permission, reading

VIEW = View(context=CONTEXT)


def look(shown: Reading, at: float, digest: str = "a", run: int = 1) -> ScreenRead:
    """A look."""
    return ScreenRead(run=run, reading=shown, digest=digest, seen_at=at)


IDLE = reading(Status.IDLE)


def test_the_first_look_and_every_change_are_told() -> None:
    """As they are."""
    coalescer = Coalescer()
    looks = [look(IDLE, 0.0), look(reading(Status.WORKING), 0.1), look(IDLE, 0.2)]

    assert [coalescer.sift(each, VIEW) for each in looks] == looks


def test_an_unchanged_screen_is_told_now_and_then() -> None:
    """That it is still so, every few seconds."""
    coalescer = Coalescer()
    coalescer.sift(look(IDLE, 0.0), VIEW)
    told = [coalescer.sift(look(IDLE, at), VIEW) for at in (1.0, STILL - 0.1, STILL, STILL + 1)]

    assert told == [None, None, ScreenSame(run=1, digest="a", seen_at=STILL), None]


def test_a_moving_spinner_is_told_every_second() -> None:
    """Only the digest changes."""
    coalescer = Coalescer()
    coalescer.sift(look(IDLE, 0.0), VIEW)
    told = [coalescer.sift(look(IDLE, at, f"{at}"), VIEW) for at in (0.5, MOVING, MOVING + 0.5)]

    assert told == [None, ScreenSame(run=1, digest="1.0", seen_at=MOVING), None]


def test_lines_are_told_together_and_with_whatever_else_changes() -> None:
    """None is lost: the screen shows the last ones in any case."""
    coalescer = Coalescer()
    coalescer.sift(look(IDLE, 0.0), VIEW)
    more, most = (look(replace(IDLE, lines=(n,)), 1.0, n) for n in ("1", "2"))
    late, other = replace(most, seen_at=GROWING), look(reading(Status.WORKING), GROWING + 0.1)
    told = [coalescer.sift(each, VIEW) for each in (more, most, late, late, other)]

    assert told == [None, None, late, None, other]


def test_what_was_held_back_is_owed() -> None:
    """Whoever looks only when something stirs must look once more."""
    coalescer = Coalescer()
    owed = [coalescer.owing]
    for at, digest in ((0.0, "a"), (0.5, "a"), (0.6, "b"), (0.6 + MOVING, "b")):
        coalescer.sift(look(IDLE, at, digest), VIEW)
        owed.append(coalescer.owing)

    assert owed == [True, False, False, True, False]


def test_a_question_seen_once_is_confirmed_at_once() -> None:
    """Its second look must not be swallowed."""
    once = replace(VIEW, question=Question(prompt=permission(), nth=1, since=0.0))
    coalescer = Coalescer()
    coalescer.sift(look(asking(), 0.0), VIEW)

    told = coalescer.sift(look(asking(), 0.2), once)

    assert told == ScreenSame(run=1, digest="a", seen_at=0.2)


def test_evidence_may_quote_a_running_clock() -> None:
    """It does not make a screen another one."""
    coalescer = Coalescer()
    coalescer.sift(look(replace(IDLE, evidence=("3s",)), 0.0), VIEW)

    assert coalescer.sift(look(replace(IDLE, evidence=("4s",)), 0.2), VIEW) is None


def test_another_run_is_told_anew() -> None:
    """Even when it shows the same."""
    coalescer = Coalescer()
    coalescer.sift(look(IDLE, 0.0), VIEW)
    other = look(IDLE, 0.2, run=2)

    assert coalescer.sift(other, VIEW) == other
