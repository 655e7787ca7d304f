"""A screen is text and styles; no escape sequence gets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.web.screens import CHARS, rows_of

PARTS = st.sampled_from(
    [
        "\x1b[31m",
        "\x1b[0m",
        "\x1b[1;38;5;208m",
        "\x1b[48:2::1:2:3m",
        "\x1b]0;x\x07",
        "\x1b]8;;http://x",
        "\x1b",
        "\x9b31m",
        "\n",
        "\x07",
        "a b",
        "日本",
        "<b>",
        "\u202e",
        "\x1b[2J",
        "\x1b(0",
        "\x1b[;;m",
    ]
)


@given(st.lists(st.one_of(PARTS, st.text(max_size=5)), max_size=30))
def test_nothing_that_a_terminal_would_obey_is_left(parts: list[str]) -> None:
    """Whatever an agent prints."""
    for row in rows_of("".join(parts)):
        for text, style in row:
            assert text
            assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in text)
            assert "\u202e" not in text
            assert set(style) <= set("bdiurshw fg#0123456789abcdef")


@pytest.mark.parametrize(
    ("ansi", "rows"),
    [
        ("plain", [[("plain", "")]]),
        ("a\x1b[31mb\x1b[0mc", [[("a", ""), ("b", "f1"), ("c", "")]]),
        ("\x1b[1;4;91;104mx", [[("x", "bu f9 g12")]]),
        ("\x1b[38;5;208mx\x1b[39my", [[("x", "f208"), ("y", "")]]),
        ("\x1b[38;2;1;2;300mx", [[("x", "f#0102ff")]]),
        ("\x1b[7mx\x1b[27my", [[("x", "r"), ("y", "")]]),
        ("a日b", [[("a", ""), ("日", "w"), ("b", "")]]),
        ("\x1b[32ma\nb\x1b[m", [[("a", "f2")], [("b", "f2")]]),  # goes on into the next row
        ("x   \n\n", [[("x   ", "")]]),
        ("\x1b[44m  ", [[("  ", "g4")]]),
        ("\x1b]0;title\x07t", [[("t", "")]]),
        ("\x1b]8;;http://x\x1b\\t", [[("t", "")]]),
        ("é\u0301", [[("é\u0301", "")]]),
    ],
)
def test_styles(ansi: str, rows: list[list[tuple[str, str]]]) -> None:
    """What tmux captures, as it is told."""
    assert rows_of(ansi) == rows


def test_a_row_has_an_end() -> None:
    """Whatever the terminal says of its width."""
    [[(text, _)]] = rows_of("x" * 5000)

    assert len(text) == CHARS
