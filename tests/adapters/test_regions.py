"""A box that is found again is the one that would be found: memory changes no reading."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.clis import CliAdapter
from koboshi.adapters.grammar import regions
from koboshi.adapters.registry import adapter
from koboshi.errors import StylesWanted
from tests.adapters.looks import FOUND, look_of

if TYPE_CHECKING:
    from koboshi.core.readings import Reading
    from koboshi.observations import ScreenSeen


@cache
def looks() -> tuple[tuple[str, ScreenSeen], ...]:
    """Every recorded screen of a CLI, as a look without styles shows it."""
    known = [(case.parent.name, look_of(case)) for case in FOUND]
    plain = [(name, replace(seen, ansi="", plain=True)) for name, seen in known]
    return tuple(each for each in plain if isinstance(adapter(each[0]), CliAdapter))


def read(name: str, seen: ScreenSeen) -> Reading | None:
    """What that look shows; None: it is refused without styles."""
    try:
        return adapter(name).read(seen)
    except StylesWanted:
        return None


def read_anew(name: str, seen: ScreenSeen) -> Reading | None:
    """The same, with nothing remembered."""
    regions._known.clear()  # noqa: SLF001
    return read(name, seen)


def test_all_screens_one_after_the_other_are_read_as_each_alone() -> None:
    """In both orders: what one of them left behind misleads no other."""
    alone = [read_anew(*each) for each in looks()]
    again = [read(*each) for each in looks()]

    assert again == alone
    assert [read(*each) for each in reversed(looks())] == alone[::-1]
    assert regions._known  # noqa: SLF001 - else there was nothing to mislead


@cache
def remembered() -> tuple[tuple[str, ScreenSeen], ...]:
    """Those of which a box is remembered."""
    return tuple(each for each in looks() if read_anew(*each) and regions._known)  # noqa: SLF001


@st.composite
def torn(draw: st.DrawFn) -> tuple[str, ScreenSeen, ScreenSeen]:
    """A recorded screen, and one with other rows above, below or between."""
    name, seen = draw(st.sampled_from(remembered()))
    others = [other.text.split("\n") for whose, other in looks() if whose == name]
    rows = seen.text.split("\n")
    first = draw(st.integers(0, len(rows)))
    above = draw(st.sampled_from(others))[: draw(st.integers(0, 45))]
    rows = [*above, *rows[first:]]
    for _ in range(draw(st.integers(0, 2))):
        at = max(0, len(rows) - 1 - draw(st.integers(0, 8)))
        rows[at : at + draw(st.integers(0, 1))] = [
            draw(st.sampled_from(draw(st.sampled_from(others))))
        ]
    cols = draw(st.sampled_from([seen.cols, 60]))
    return name, seen, replace(seen, text="\n".join(rows), cols=cols)


@given(torn())
def test_a_torn_screen_is_read_as_if_the_whole_one_had_not_been_seen(
    scene: tuple[str, ScreenSeen, ScreenSeen],
) -> None:
    """Scrolled, cut off below, with rows of other screens in it, in another width."""
    name, whole, then = scene
    alone = read_anew(name, then)
    read_anew(name, whole)

    assert read(name, then) == alone
