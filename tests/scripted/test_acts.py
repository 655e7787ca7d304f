"""Script files."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.scripted.acts import Ask, Crash, Done, Print, ScriptError, Work, load_script

EXPECTED = (
    Work(seconds=3.0, say="読む", context=5.0),
    Ask(command="rm x", kind="question", options=("a", "b")),
    Crash(signal=9),
    Print(lines=("❯ 1. Yes",)),
    Done(),
)

TOML = """
[[act]]
do = "work"
seconds = 3
say = "読む"

[[act]]
do = "ask"
command = "rm x"
kind = "question"
options = ["a", "b"]

[[act]]
do = "crash"
signal = 9

[[act]]
do = "print"
lines = ["❯ 1. Yes"]

[[act]]
do = "done"
"""


def test_toml_and_json_give_the_same_acts() -> None:
    """Both forms of JSON too."""
    acts = tomllib.loads(TOML)["act"]

    assert load_script(TOML) == EXPECTED
    assert load_script(json.dumps(acts)) == EXPECTED
    assert load_script(json.dumps({"act": acts})) == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected at least one act"),
        (
            "[[act]]\ndo = 'dance'",
            r"act 1 \(line 1\), key 'do': expected one of work, .*not 'dance'",
        ),
        (
            "[[act]]\ndo='done'\n\n[[act]]\ndo='work'",
            r"act 2 \(line 4\): 'work' needs the key 'seconds'",
        ),
        ("[[act]]\ndo='work'\nsecnds=3", r"act 1 \(line 1\): unknown key 'secnds' for 'work'"),
        (
            "[[act]]\ndo='work'\nseconds='3'",
            r"key 'seconds': expected a number, not negative, not '3'",
        ),
        ("[[act]]\ndo='work'\nseconds=-1", "key 'seconds': expected a number, not negative"),
        ("[[act]]\ndo='work'\nseconds=true", "key 'seconds': expected a number"),
        ("[[act]]\ndo='ask'\ncommand='x'\nkind='odd'", "key 'kind': expected one of permission"),
        ("[[act]]\ndo='print'\nlines='x'", "key 'lines': expected a list of strings"),
        ("[[act]]\ndo=\n", "not TOML: .*line 2"),
        ("acts = 3", "expected only the key 'act', not 'acts'"),
        ("act = 3", "key 'act': expected a list"),
        ("act = [3]", "act 1: expected a table, not int"),
        ('[\n{"do": }]', "line 2: not JSON"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, message: str) -> None:
    """Line or act, key, what was expected, what came."""
    with pytest.raises(ScriptError, match=message):
        load_script(text)


@given(text=st.text() | st.text(alphabet='[]{}",:act\n="do'))
def test_any_other_text_is_a_script_error(text: str) -> None:
    """Nothing else is ever raised."""
    with pytest.raises(ScriptError):
        load_script(text)
