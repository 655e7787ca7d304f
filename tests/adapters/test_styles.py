"""SGR sequences as styles."""

from __future__ import annotations

import pytest

from koboshi.adapters.grammar.styles import Style, StyledRows


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ("2", Style(dim=True)),
        ("31", Style(fg="1")),
        ("91", Style(fg="9")),
        ("38;5;246", Style(fg="246")),
        ("38;2;1;2;3", Style(fg="1,2,3")),
        ("48;5;215;38;5;232", Style(fg="232", bg="215")),
        ("7", Style(inverse=True)),
        ("2;22", Style()),
        ("31;0", Style()),
        ("", Style()),
        ("44", Style(bg="4")),
        ("104", Style(bg="12")),
        ("58;5;1;99", Style()),
    ],
)
def test_a_sequence_is_a_style(codes: str, expected: Style) -> None:
    """Colours of all three kinds; what we do not know changes nothing."""
    assert StyledRows(f"\x1b[{codes}mx").styles(0, "x") == {expected}


def test_attributes_last_into_the_next_row() -> None:
    """`capture-pane -e` does not begin a row afresh."""
    rows = StyledRows("\x1b[31mone\ntwo\x1b[0m\nthree")

    assert [rows.styles(n, text) for n, text in enumerate(("one", "two", "three"))] == [
        {Style(fg="1")},
        {Style(fg="1")},
        {Style()},
    ]
    assert rows.styles(0, "one") == {Style(fg="1")}  # asked again, further up
    assert rows.spans(9) == []
    assert rows.styles(0, "nowhere") == set()


def test_grey_is_faint_and_red_is_coloured() -> None:
    """The three classes a reader asks about."""
    assert Style(fg="246").faint
    assert Style(fg="120,121,122").faint
    assert not Style(fg="200,20,20").faint
    assert Style(fg="211").coloured
    assert not Style(fg="15").coloured
    assert not Style().coloured
