"""New lines, and what is heard in them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.hearing import _ERROR, LONGEST, Ear, Listener, is_error, normalised, objection
from koboshi.core.events import Heard
from koboshi.core.rules import ERRORS

PATTERNS = ("429", r"(?i)fatal error", "x+y")


def test_each_pattern_is_counted_with_its_last_line() -> None:
    """One line can say several things."""
    heard = Ear(PATTERNS).hear(["429 once", "nothing", "Fatal Error 429"])

    assert set(heard) == {
        Heard(what="429", text="Fatal Error 429", times=2),
        Heard(what="(?i)fatal error", text="Fatal Error 429", times=1),
    }


def test_who_listens_for_nothing_hears_nothing() -> None:
    """Not even errors."""
    assert Ear(()).hear(["Error: x"]) == ()


def test_errors_are_told_apart_by_their_words() -> None:
    """Numbers, paths and quoted words aside."""
    lines = [
        "TypeError: cannot read 'a' of undefined (line 12)",
        "TypeError: cannot read 'b' of undefined (line 144)",
        "Error: ENOENT /home/me/x.py",
    ]

    heard = Ear((ERRORS,)).hear(lines)

    assert sorted(h.times for h in heard) == [1, 2]


@pytest.mark.parametrize(
    "line",
    ["0 failed, 12 passed", "the error handling is fine", "I will fix the exception", "no errors"],
)
def test_to_speak_of_errors_is_no_error(line: str) -> None:
    """As people and agents do all day."""
    assert Ear((ERRORS,)).hear([line]) == ()


_NAMES = ["TypeError", "MyException", "exception", "Error", "error", "fatal", "panic", "API "]
_CODES = ["ECONNRESET", "ENOENT", "EACCES", "EPERM", "ETIMEDOUT", "EADDRINUSE", "EHOSTX", "ENETX"]
_WORDS = st.sampled_from([*_NAMES, *_CODES, "EPIPELINE", "[E1]", "(x)", ": ", " ", "\n", "x", "E"])


@given(st.lists(_WORDS | st.text(max_size=3), max_size=8).map("".join))
def test_an_error_is_one_whichever_way_it_is_asked(text: str) -> None:
    """The quick question may only spare the slow one."""
    assert is_error(text) == (_ERROR.search(text) is not None)


def test_a_pattern_takes_linear_time() -> None:
    """Whatever line an agent prints: what takes others minutes takes no time here."""
    begun = time.thread_time()
    Ear(("(a+)+$",)).hear(["a" * 2000 + "b"])

    assert time.thread_time() - begun < 1.0


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("(a", "missing )"), ("(?=a)", "invalid perl operator"), ("a" * (LONGEST + 1), "longer")],
)
def test_a_pattern_that_cannot_be_used_says_why(pattern: str, said: str) -> None:
    """In the words of its grammar."""
    assert said in objection(pattern)


@given(st.lists(st.text(max_size=60), max_size=20))
def test_no_line_is_too_strange(lines: list[str]) -> None:
    """Lone surrogates, control characters, anything."""
    heard = Ear((*PATTERNS, ERRORS)).hear([*lines, "429"])

    assert "429" in {each.what for each in heard}
    assert all(normalised(line) == normalised(normalised(line)) for line in lines[:3])


_ANCHORED = ("^a", "b$", "^c$", r"\Ad", r"e\z", "(?i)^F", "a|b", "x", ERRORS)


@given(st.lists(st.text("abcdefFx ", max_size=6) | st.just("Error: a"), max_size=12))
def test_many_lines_say_what_each_of_them_says(lines: list[str]) -> None:
    """A batch is an economy: anchors are those of a line."""
    ear = Ear(_ANCHORED)
    alone = [each.what for line in lines for each in ear.hear((line,))]
    together = [each.what for each in ear.hear(lines) for _ in range(each.times)]

    assert sorted(alone) == sorted(together)


# -- look by look ---------------------------------------------------------------------------------


def looks(*shown: tuple[str, ...], known: tuple[str, ...] = ()) -> list[list[str]]:
    """The rows that are new in each of these looks."""
    listener = Listener()
    return [[rows[n] for n in listener.fresh(1, rows, 80, known)] for rows in shown]


def test_only_what_is_below_is_new() -> None:
    """Also where the upper rows have scrolled away."""
    assert looks(("a", "b"), ("a", "b", "c"), ("b", "c", "d")) == [["a", "b"], ["c"], ["d"]]


def test_the_same_line_again_is_another_one() -> None:
    """Printed twice is twice."""
    assert looks(("a", "e"), ("a", "e", "e")) == [["a", "e"], ["e"]]


def test_a_row_that_grows_is_one_row() -> None:
    """Half a line was written at the first look; it is heard once."""
    assert looks(("a", "Fatal err"), ("a", "Fatal error: x")) == [["a", "Fatal err"], []]


def test_what_is_drawn_again_is_not_new() -> None:
    """A spinner above moved."""
    assert looks(("* 1s", "e"), ("* 2s", "e")) == [["* 1s", "e"], ["* 2s"]]


def test_another_width_makes_no_line_new() -> None:
    """All rows are broken elsewhere."""
    listener = Listener()
    listener.fresh(1, ("Fatal error", "in x"), 80, ())

    assert listener.fresh(1, ("Fatal", "error in x"), 40, ()) == ()


def test_one_who_begins_goes_on_below_what_is_known() -> None:
    """A supervisor that took over does not hear the old lines again."""
    assert looks(("old", "Fatal error", "last", "new"), known=("Fatal error", "last")) == [["new"]]


def test_one_who_knows_nothing_that_is_there_hears_all() -> None:
    """Everything was printed meanwhile."""
    assert looks(("x", "y"), known=("a", "b")) == [["x", "y"]]
