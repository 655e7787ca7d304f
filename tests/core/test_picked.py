"""Words that name options: one, or several with commas between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.readings import picked

LABELS = ("Auth", "Search", "Logs", "Logs, all of them")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("auth", ("Auth",)),
        ("Logs, Auth", ("Auth", "Logs")),
        ("logs , auth", ("Auth", "Logs")),
        ("Logs, all of them, Auth", ("Auth", "Logs, all of them")),
        ("Auth, Auth", ()),
        ("Auth and Logs", ()),
        ("Auth, something", ()),
        ("Authority", ()),
        ("", ()),
        (",", ()),
    ],
)
def test_labels_are_named_whole(text: str, found: tuple[str, ...]) -> None:
    """In the order in which they are offered; other words name none of them."""
    assert picked(text, LABELS) == found


def test_a_label_that_is_there_twice_names_neither() -> None:
    """Nobody can tell which one is meant."""
    assert picked("a", ("a", "A", "b")) == ()


@given(st.text(), st.lists(st.text(), max_size=6))
def test_what_is_picked_was_offered(text: str, labels: list[str]) -> None:
    """Whatever both are, it ends."""
    assert set(picked(text, tuple(labels))) <= set(labels)


@given(st.lists(st.text("ab ,", min_size=1), min_size=1, unique=True, max_size=4))
def test_each_of_them_can_be_named(labels: list[str]) -> None:
    """Alone, to the letter."""
    plain = [label.strip() for label in labels]
    for label in plain:
        if label and plain.count(label) == 1:
            assert picked(label, tuple(plain)) == (label,)
