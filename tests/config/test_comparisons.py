"""What is asked without CEL comes out as CEL would have it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.config.conditions import compiled
from koboshi.config.facts import NAMES, Facts
from koboshi.core.events import Moment
from koboshi.core.view import View
from tests.core.worlds import blank

VIEW, NOW = blank().view, Moment(at=0.0, utc=0.0)
LITERALS = ("0", "1", "-1", "3", "'idle'", '"a\\n\\"b"', "true", "false", "''")
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
COUNT = 'count("log", "x", "5m")'


@st.composite
def terms(draw: st.DrawFn) -> str:
    """One comparison, or something that looks a little like one."""
    name = draw(st.sampled_from([*NAMES, COUNT]))
    return draw(
        st.one_of(
            st.builds(
                lambda op, value: f"{name} {op} {value}",
                st.sampled_from(OPERATORS),
                st.sampled_from(LITERALS),
            ),
            st.sampled_from([name, f"!{name}", f"!!{name}", f"({name})", f"3 > {name}"]),
        )
    )


NUMBERS, TEXTS = st.sampled_from([-1, 0, 1, 3, 1 << 40]), st.sampled_from(["idle", "", 'a\n"b'])


@settings(max_examples=300, deadline=None)
@given(st.lists(terms(), min_size=1, max_size=3), st.sampled_from(["&&", "||"]), st.data())
def test_it_is_what_cel_says(parts: list[str], joint: str, data: st.DataObject) -> None:
    """For whatever is known, of the kind that it always is."""
    condition = compiled(f" {joint} ".join(parts))
    facts = Facts(VIEW, NOW)
    for name in condition.names:
        known = facts[name]
        if isinstance(known, bool):
            facts[name] = data.draw(st.booleans())
        elif isinstance(known, int):
            facts[name] = data.draw(NUMBERS)
        elif isinstance(known, str):
            facts[name] = data.draw(TEXTS)
    by_cel = condition._by_cel(facts)  # noqa: SLF001 - the other way to the same

    assert condition.holds(facts) == by_cel


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ('count("log", "429", "5m") >= 3 && status != "limited"', 2),
        ("exit_code == -1", 1),
        ("alive && !draft && turns > 3", 3),
        ('status == "idle" || age > 3', 0),
        ('(status == "idle")', 0),
        ('lines.exists(l, l.contains("x"))', 0),
        ("age + 1 > 3", 0),
        ("age > 3.5", 0),
        ("age > run_age", 0),
        ('status > "a"', 0),
        ('age == "3"', 0),
        ("true", 0),
        ("turns", 0),
    ],
)
def test_only_what_is_exactly_that_simple_is(text: str, simple: int) -> None:
    """The rest is CEL's."""
    assert len(compiled(text).simple) == simple


def test_every_name_has_one_kind_of_value() -> None:
    """What is known of an agent that was never seen tells it."""
    view: View = VIEW

    assert {type(look(view, NOW)) for _, look in NAMES.values()} == {str, int, bool, tuple}
