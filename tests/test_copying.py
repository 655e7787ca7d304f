"""Copies of values."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.copying import evolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A value."""

    name: str
    lines: tuple[str, ...] = ()
    made: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class More(Base):
    """One with a field of its own."""

    age: float = 0.0


@given(st.text(), st.lists(st.text()), st.floats(allow_nan=False), st.booleans())
def test_a_copy_is_what_replace_makes(name: str, lines: list[str], age: float, both: bool) -> None:  # noqa: FBT001
    """Of the same class, with the same values but for those that were changed."""
    old = More(name="old", lines=("a",), made={"b": 1}, age=3.0)
    changes = {"name": name, "lines": tuple(lines)} if both else {"age": age}

    new = evolve(old, **changes)

    assert new == replace(old, **changes)
    assert type(new) is More
    assert new.made is old.made
    assert old == More(name="old", lines=("a",), made={"b": 1}, age=3.0)


def test_a_copy_is_frozen_too() -> None:
    """It is a value like the first."""
    with pytest.raises(FrozenInstanceError):
        evolve(Base(name="a"), name="b").name = "c"  # type: ignore[misc]


def test_a_field_that_is_none_is_refused() -> None:
    """A wrong name would change nothing, and nobody would know."""
    with pytest.raises(AttributeError):
        evolve(Base(name="a"), nam="b")
