"""One file: what it sets, and all that is wrong in it, at once."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from koboshi.config.lines import Lines
from koboshi.config.load import MOST_BYTES, MOST_TOLD, Sheet, parse, read
from koboshi.config.model import Values
from koboshi.core.actions import Mode
from koboshi.core.settings import Settings

TIME = "a time such as '45s', '10m', '1h30m' or a number of seconds"
KNOWN = "a key that is known ('koboshi config' lists them)"
KEYS = st.sampled_from(["mode", "allow", "idle_after", "on_error", "agents", "types", "x", "a.b"])
VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        st.floats(),
        st.sampled_from(["10m", "keep", "auto", ""]),
        st.text(max_size=5),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    return str(value)


def _usable(sheet: Sheet) -> None:
    """Whatever it was: a model, and mistakes that can be told."""
    for layer in sheet.layers("api", "claude"):
        assert set(layer.values) == set(layer.places)
    for mistake in sheet.mistakes:
        assert mistake.expected
        assert "\n" not in str(mistake)


def test_what_is_right_counts() -> None:
    """For all, for a type, for an agent."""
    sheet = parse(
        'idle_after = "10m"\nallow = ["npm test"]\n[types.claude]\nrun_max = 60\n'
        '[agents.api]\nmode = "auto"\non_error = {"429" = "retry", "5XX" = "skip"}\n',
        "f",
    )

    for_all, for_type, own = sheet.layers("api", "claude")
    assert sheet.mistakes == ()
    assert for_all.values == {"idle_after": 600.0, "allow": ("npm test",)}
    assert for_type.values == {"run_max": 60.0}
    assert own.values == {"mode": Mode.AUTO, "on_error": {"429": "retry", "5xx": "skip"}}
    assert own.places["mode"] == "f:6 [agents.api]"
    assert [dict(layer.values) for layer in sheet.layers("web", "codex")][1:] == [{}, {}]


def test_all_mistakes_are_told_at_once_with_their_lines() -> None:
    """File, line, key, what was expected, what came; and what is right counts all the same."""
    text = """\
idle_after = "soon"
idle_aftr = 5
run_max = 60
on_error = {"429" = "panic", "200" = "retry"}

[agents.api]
mode = "always"
context_max = 0.7

[agents]
web = 3

[types.cluade]
nudges_max = -1
tries_max = 0
"""
    sheet = parse(text, "f")

    assert [str(mistake) for mistake in sheet.mistakes] == [
        f"f:1: idle_after: expected {TIME}, not 'soon'",
        f"f:2: idle_aftr: expected {KNOWN}, not 'idle_aftr'; did you mean 'idle_after'?",
        "f:4: on_error.429: expected one of skip, retry, reset, safe-restart, not 'panic'",
        "f:4: on_error.200: expected an HTTP code such as '429', or '4xx', '5xx', not '200'",
        "f:7: agents.api.mode: expected 'observe', 'keep' or 'auto', not 'always'",
        "f:8: agents.api.context_max: expected a percentage from 1 to 100, or 0, not 0.7",
        "f:11: agents.web: expected a table, not 3",
        "f:13: types.cluade: expected one of "
        + str(sheet.mistakes[7]).partition("one of ")[2].partition(", not")[0]
        + ", not 'cluade'; did you mean 'claude'?",
        "f:14: types.cluade.nudges_max: expected a whole number from 0 on, not -1",
        "f:15: types.cluade.tries_max: expected a whole number from 1 on, not 0",
    ]
    for_all, _, own = sheet.layers("api", "claude")
    assert for_all.values == {"run_max": 60.0, "on_error": {}}
    assert own.closed == {"mode", "context_max"}


@pytest.mark.parametrize("key", ["idle_after", "context_max", "nudges_max", "mode", "allow"])
@pytest.mark.parametrize("value", ["true", "[[1]]", "{a = 1}", "1979-05-27", "-1", "inf", "nan"])
def test_what_is_of_another_kind_is_a_mistake(key: str, value: str) -> None:
    """True is not 1."""
    sheet = parse(f"{key} = {value}", "f")

    assert [mistake.key for mistake in sheet.mistakes] == [key]


def test_a_text_that_is_no_toml_is_one_mistake_with_its_line() -> None:
    """And nothing of it counts."""
    sheet = parse('idle_after = 5\nmode = "auto\n', "f")

    [mistake] = sheet.mistakes
    assert str(mistake).startswith("f:2: expected TOML, not ")
    assert sheet.broken
    assert not any(layer.values for layer in sheet.layers("api", "claude"))


@given(st.text())
@example("a = " + "[" * 5000)
@example("idle_after = 0x" + "f" * 9000)
@example("idle_after = " + "9" * 9000)
@example("intensity = 1e400")
@example("nudges_max = nan")
@example("mode = 2020-13-45")
@example('"\\n\\u001b[2J" = 1')
@example('[agents."a\\nb"]\nx = 1')
@example("[[agents]]\n[[types.claude]]")
@example('continue_text = "a\\nb"\nallow = ["\\u001b"]')
@example("[agents.api]\nagents = {}")
def test_any_text_gives_values_or_mistakes(text: str) -> None:
    """Never an error of Python."""
    sheet = parse(text, "f")
    _usable(sheet)
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        assert sheet.broken


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_any_tables_give_values_or_mistakes(tables: dict[str, object]) -> None:
    """Also those whose keys are the right ones."""
    text = "\n".join(f"{_toml(key)} = {_toml(value)}" for key, value in tables.items())
    _usable(parse(text, "f"))


def test_thousands_of_mistakes_are_not_all_told() -> None:
    """A stranger's file takes neither long nor much of the screen."""
    sheet = parse("\n".join(f"idle_afte{n} = 1" for n in range(3000)), "f")

    assert len(sheet.mistakes) == MOST_TOLD + 1
    assert "2950 more" in str(sheet.mistakes[-1])


def test_a_file_that_cannot_be_read_is_a_mistake(tmp_path: Path) -> None:
    """A pipe, a folder, too much, no text; a missing one is none."""
    path = tmp_path / "koboshi.toml"
    assert read(path) is None
    assert read(path / "below") is None
    os.mkfifo(path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(b"#" * (MOST_BYTES + 1))
    (tmp_path / "latin").write_bytes(b'continue_text = "\xff"')
    for name in ("koboshi.toml", "folder", "large", "latin"):
        sheet = read(tmp_path / name)
        assert sheet is not None
        assert sheet.broken
        [mistake] = sheet.mistakes
        assert str(mistake).startswith(f"{tmp_path / name}: expected ")


def test_a_file_of_windows_is_read(tmp_path: Path) -> None:
    """A byte order mark, and two characters at the end of a line."""
    path = tmp_path / "koboshi.toml"
    path.write_bytes(b"\xef\xbb\xbfidle_after = 5\r\nrun_max = 6\r\n")
    sheet = read(path)

    assert sheet is not None
    assert next(sheet.layers("", "")).values == {"idle_after": 5.0, "run_max": 6.0}


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("a",), 1),
        (("t", "x.y"), 7),
        (("t", "b", "c"), 8),
        (("t", "b", "c", "deeper"), 8),
        (("u", "k"), 10),
        (("nowhere",), None),
        (("not", "a"), None),
    ],
)
def test_a_key_is_found_in_its_line(key: tuple[str, ...], line: int | None) -> None:
    """Rows of a long text are no keys."""
    text = 'a = """\nnot = 1\n[not]\na = 2\n"""\n[t]\n"x.y" = 1\nb . c = {deeper = 1}\n[u]\nk = 2\n'
    assert Lines(text).of(key) == line


def test_a_default_of_the_model_is_the_default_of_the_core() -> None:
    """Every field of the one is in the other."""
    values = {**Values().model_dump(), "on_error": tuple(Values().on_error.items())}
    assert Settings(**values) == Settings()
    assert [n for n, f in Values.model_fields.items() if not f.description] == []


def test_fatal_text_is_checked_when_it_is_read() -> None:
    """Every pattern that cannot be used at once, with file, line, key and a caret."""
    text = 'mode = "keep"\nfatal_text = ["fine", "a(b", "x[z"]\n'
    (mistake,) = parse(text, "k.toml").mistakes

    assert str(mistake) == (
        "k.toml:2: fatal_text: expected patterns that RE2 can read, "
        "not 'a(b' (missing ): a(b); 'x[z' (missing ]: [z)\n"
        "  a(b\n  ^\n  x[z\n   ^"
    )
    assert parse('fatal_text = ["segfault"]', "k.toml").model.fatal_text == ("segfault",)


@pytest.mark.parametrize("value", ["3", "[1]", '[""]', f"{['x'] * 201}"])
def test_fatal_text_is_a_list_of_patterns(value: str) -> None:
    """And of not too many."""
    found = parse(f"fatal_text = {value}", "k.toml")

    assert str(found.mistakes[0]).startswith("k.toml:1: fatal_text: expected a")
    assert found.model.fatal_text == ()
