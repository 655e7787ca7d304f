"""Both terminal engines give what tmux would give."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.hosts.screens import AvtScreen, GhosttyScreen

Engine = type[GhosttyScreen] | type[AvtScreen]
both = pytest.mark.parametrize("engine", [GhosttyScreen, AvtScreen])

pieces = st.lists(
    st.text(
        st.characters(exclude_categories=("Cs", "Cc", "Mn", "Me", "Cf", "Co", "Cn")), max_size=5
    )
    | st.sampled_from(
        ["\x1b]2;tïtle\a", "\x1b]0;other\x1b\\", "\x1b[?2004h", "\x1b[?1;2004l", "\x1b[?1h", "\r\n"]
    )
    | st.sampled_from(["\x1b[6n", "\x1b[5n", "\x1b[c", "\x1b[31m", "\x1b[2J\x1b[H", "\x1b[3;4H"]),
    max_size=12,
).map(lambda parts: "".join(parts).encode())


@both
def test_a_screen_has_all_its_rows(engine: Engine) -> None:
    """Blank ones above, between and below; no trailing spaces."""
    screen = engine(20, 6)
    screen.feed(b"\x1b[2;1Hab   \x1b[4;3Hcd")

    assert screen.text() == "\nab\n\n  cd\n\n"
    assert screen.ansi().count("\n") == 5
    assert screen.cursor == (4, 3)


@both
def test_history_is_not_part_of_the_screen(engine: Engine) -> None:
    """Only what a person would see."""
    screen = engine(20, 3)
    screen.feed(b"".join(b"%d\r\n" % i for i in range(100)))

    assert screen.text() == "98\n99\n"


@both
def test_colours_and_attributes_are_in_the_ansi_form(engine: Engine) -> None:
    """A dim placeholder is told from typed text by them."""
    screen = engine(40, 1)
    screen.feed(b"\x1b[2mdim\x1b[0m plain \x1b[38;2;1;2;3mrgb\x1b[0m \x1b[44mblue")

    copy = engine(40, 1)
    copy.feed(screen.ansi().encode())
    assert copy.text() == screen.text() == "dim plain rgb blue"
    assert copy.ansi() == screen.ansi()
    assert "2m" in screen.ansi().partition("dim")[0]
    assert "38;2;1;2;3m" in screen.ansi()


@both
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (b"ab\x1b[6n", b"\x1b[1;3R"),
        (b"\x1b[5n", b"\x1b[0n"),
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"\x1b[?u", b""),  # kitty keys: we could not send them
        (b"\x1b[>q", b""),
        (b"\x1b[21t", b""),  # the title could be anything, and would be typed
        (b"\x1b]11;?\a", b""),
        (b"\x05", b""),
        (b"plain", b""),
    ],
)
def test_only_harmless_questions_are_answered(
    engine: Engine, question: bytes, answer: bytes
) -> None:
    """A program may wait for these; every answer is typed into it."""
    assert engine(20, 3).feed(question) == answer


@both
@given(data=pieces, places=st.lists(st.integers(min_value=0), max_size=8))
def test_chunks_may_be_cut_anywhere(engine: Engine, data: bytes, places: list[int]) -> None:
    """Inside a character, a sequence, a title."""
    whole, parts = engine(30, 5), engine(30, 5)
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    answers = whole.feed(data)
    answered = b"".join(parts.feed(data[a:b]) for a, b in pairwise(edges))

    for name in ("title", "cursor"):
        assert getattr(parts, name) == getattr(whole, name)
    assert parts.text() == whole.text()
    assert (parts.mode(1), parts.mode(2004)) == (whole.mode(1), whole.mode(2004))
    assert answered == answers
