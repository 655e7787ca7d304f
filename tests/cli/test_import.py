"""`koboshi import`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.cli.main import main
from koboshi.config.imports import imported
from koboshi.config.load import parse

THEIRS: dict[str, Any] = {
    "enabled": True,
    "silenceThreshold": 30,
    "maxRestarts": 3,
    "cooldownSeconds": 90,
    "rules": {
        "processExit": {"severity": "P0", "actions": ["restart", "notify", "debug_collect"]},
        "fatalError": {
            "enabled": True,
            "severity": "P0",
            "patterns": ["Codex crashed", "Fatal error", "("],
            "actions": ["restart", "notify", "generate_prompt"],
        },
        "silenceTimeout": {"thresholdSeconds": 45, "actions": ["notify", "escalate"]},
        "repeatedError": {"threshold": 4, "actions": ["generate_prompt", "escalate"]},
        "mine": {"patterns": ["x"], "enabled": False, "actions": ["dance"]},
    },
    "hooks": {"restart": "r.sh", "notify": "n.sh", "debug_collect": "d.sh", "other": "o.sh"},
    "logging": {"enabled": True, "directory": ".ai/logs", "retention": 7},
    "notifications": {"voicevox": True, "webhook": "${HOOK_URL}", "macOS": False},
    "extra": 1,
}


@pytest.fixture
def text() -> str:
    """As a koboshi.toml."""
    return imported(json.dumps({"codexHaltMonitor": THEIRS}), "h.json")


def test_values_are_set(text: str) -> None:
    """Thresholds, budget, cooldown, logs."""
    found = tomllib.loads(text)

    assert {k: v for k, v in found.items() if not isinstance(v, dict | list)} == {
        "silence_after": 45,
        "same_error_max": 4,
        "intensity": 3,
        "refresh_gap": 90,
        "backoff_base": 90,
        "backoff_max": 90,
        "log_dir": ".ai/logs",
    }


def test_rules_with_patterns_are_rules(text: str) -> None:
    """A restart needs more than words; what is not enabled is not."""
    rules = tomllib.loads(text)["rule"]

    assert [(r["code"], r["name"], r["actions"], r.get("enabled", True)) for r in rules] == [
        ("IMP001", "fatal-error", ["notify", "generate_prompt"], True),
        ("IMP002", "fatal-error-failed", ["restart"], True),
        ("IMP003", "silence-timeout", ["escalate"], True),
        ("IMP004", "mine", ["notify"], False),
    ]
    assert r"Codex crashed|Fatal error|\\(" in rules[0]["when"]
    assert 'status == "failed"' in rules[1]["when"]


def test_hooks_and_channels_are_there(text: str) -> None:
    """A variable stays a variable."""
    found = tomllib.loads(text)

    assert found["actions"] == {
        "restart": {"run": ["r.sh"], "when": "after"},
        "notify": {"run": ["n.sh"], "when": "instead"},
        "bundle": {"run": ["d.sh"], "when": "instead"},
    }
    assert found["notify"]["channels"]["webhook"] == {"url": "${HOOK_URL}"}
    assert found["notify"]["channels"]["voicevox"]["url"].startswith("voicevox://127.0.0.1")


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        ({"rules": {"repeatedError": {"threshold": 4}}}, "same_error_max = 4"),
        ({"rules": {"repeatedError": {"threshold": "4"}}}, 'threshold = "4": expected a number'),
        ({"rules": {"repeatedError": {"enabled": False}}}, "same_error_max = 0"),
        ({"rules": {"repeatedError": {"severity": "P0"}}}, 'severity = "P0": TXT002 is P1'),
        ({"rules": {"repeatedError": {"actions": ["notify"]}}}, "TXT002 does escalate, too"),
        ({"rules": {"processExit": {"enabled": False}}}, "is started again all the"),
        ({"rules": {"silenceTimeout": {"enabled": False}}}, "silence_after = 0"),
        ({"rules": {"x": {"patterns": ["a"], "threshold": 3}}}, '\\"1m\\") >= 3'),
        ({"rules": {"x": {"patterns": ["a"], "severity": "high"}}}, '"high": expected P0, P1'),
        ({"rules": {"x": {"pattern": "a b"}}}, '"log\\", \\"a b\\"'),
        ({"rules": [{"name": "x", "pattern": 3}]}, "is no text, and left out"),
        ({"rules": {"x": {"patterns": ["("]}}}, "is taken letter by letter"),
        ({"rules": {"x": {"patterns": "a"}}}, 'rules.x.patterns = "a": expected a list'),
        ({"rules": {"x": 3}}, "rules.x.is = 3: not known"),
        ({"rules": "none"}, 'rules = "none": expected a table'),
        ({"maxRestarts": "3"}, 'maxRestarts = "3": expected a number'),
        ({"cooldownSeconds": -1}, "cooldownSeconds = -1: expected a number"),
        ({"silenceThreshold": None}, "silenceThreshold = null: expected a number"),
        ({"enabled": "yes"}, 'enabled = "yes": expected true or false'),
        ({"hooks": {"notify": "n.sh --loud 'a b'"}}, 'run = ["n.sh", "--loud", "a b"]'),
        ({"hooks": {"notify": "n.sh ${WHO} | tee x"}}, 'shell = "n.sh ${WHO} | tee x"'),
        (
            {"hooks": {"notify": {"command": "n.sh", "args": ["x"], "timeout": 5, "env": 1}}},
            'run = ["n.sh", "x"]\nwhen = "instead"\ntimeout = 5 # seconds\n# hooks.notify.env = 1',
        ),
        ({"notifications": {"webhook": {"u": 1}}}, 'webhook = {"u": 1}: no address'),
        ({"logging": {"level": "debug"}}, 'logging.level = "debug": not known'),
    ],
)
def test_every_key_comes_out_as_something(theirs: dict[str, Any], said: str) -> None:
    """A value, a rule, or words about what became of it."""
    text = imported(json.dumps(theirs), "h.json")

    assert said in text
    tomllib.loads(text)


def places(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where tables are."""
    if not isinstance(value, dict):
        return []
    return [at, *(place for key, each in value.items() for place in places(each, (*at, key)))]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(places(THEIRS)), st.from_regex("zz[a-z]{6}", fullmatch=True), st.integers())
def test_a_key_that_nobody_knows_is_told_wherever_it_stands(
    place: tuple[str, ...], key: str, value: int
) -> None:
    """In a rule that is built in, too."""
    theirs = json.loads(json.dumps(THEIRS))
    table = theirs
    for part in place:
        table = table[part]
    table[key] = value

    assert key in imported(json.dumps(theirs), "h.json")


@pytest.mark.parametrize("key", ["extra", "hooks", "logging.retention", "dance", "macOS"])
def test_what_has_no_place_is_told(text: str, key: str) -> None:
    """In a comment; nothing is dropped in silence."""
    assert any(key in row for row in text.splitlines() if row.startswith("#"))


def test_the_result_can_be_used(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no mistakes."""
    monkeypatch.setenv("HOOK_URL", "json://127.0.0.1/x")

    assert [str(each) for each in parse(text, "k.toml").mistakes] == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from([*THEIRS, "other"]), _JSON))
def test_whatever_stands_there_comes_out_as_toml(theirs: dict[str, Any]) -> None:
    """Or says what is expected."""
    tomllib.loads(imported(json.dumps(theirs), "h.json"))

    assert imported("{}", "h.json").startswith("#")


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is there stays."""
    source, target = tmp_path / "h.json", tmp_path / "k.toml"
    source.write_text("{}", encoding="utf-8")
    codes = [main(["import", str(source), "--output", str(target)]) for _ in range(2)]

    assert codes == [0, 2]
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[1]", "{"])
def test_something_else_is_an_error(tmp_path: Path, text: str) -> None:
    """Not a traceback."""
    source = tmp_path / "h.json"
    source.write_text(text, encoding="utf-8")

    assert main(["import", str(source)]) == 2
