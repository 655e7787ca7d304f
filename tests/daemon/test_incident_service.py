"""Incidents over a real daemon: found, listed as the command does, taken away in pieces."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koboshi.daemon.control.client import Refused, call
from tests.daemon.trials import Trial, trial

pytestmark = pytest.mark.tmux

CRASH = (
    '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "the key is sk-ant-api03-0123456789abcdef"\n\n'
    '[[act]]\ndo = "crash"\ncode = 3\n'
)


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi with one agent that crashed."""
    with trial(tmp_path) as made:
        argv = made.script(CRASH)
        made.say("run", "-d", "--name", "a", "--as", "scripted", "--", *argv)
        made.until_status("a", "idle")
        made.say("send", "a", "go")
        made.until("a", lambda _: bool(ask(made, "bundles", name="a")))
        yield made


def ask(koboshi: Trial, verb: str, **args: Any) -> Any:  # noqa: ANN401
    """One verb."""
    return call(koboshi.state, verb, patience=40.0, **args)


def test_what_was_found_is_what_the_command_prints(koboshi: Trial) -> None:
    """With the file that was made of it; every time anew, as far as it is written."""
    koboshi.until("a", lambda _: any(each["bundle"] for each in ask(koboshi, "incidents")))
    koboshi.say("pause", "a")
    koboshi.say("stop", "a")
    told = ask(koboshi, "incidents")

    assert told == json.loads(koboshi.say("incidents", "--json"))
    assert {"RUN001", "TXT005"} <= {each["code"] for each in told}
    assert all(each["acknowledged"] for each in told)  # who stops it has seen to it
    [bundle] = ask(koboshi, "bundles", name="a")
    assert bundle["name"] in {each["bundle"] for each in told}
    piece = ask(koboshi, "piece", name="a", kind="bundle", file=bundle["name"])
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(piece["content"]))) as archive:
        assert "incident.json" in {Path(name).name for name in archive.getnames()}
    severe = ask(koboshi, "incidents", name="a", severity="P0", count=1)
    assert [each["severity"] for each in severe] == ["P0"]


def test_what_cannot_be_had_is_refused_in_words(koboshi: Trial) -> None:
    """Names, numbers and kinds that are none."""
    for verb, args in (
        ("incidents", {"name": "nobody"}),
        ("incidents", {"severity": "P9"}),
        ("incidents", {"seconds": -1.0}),
        ("bundles", {"name": "../a"}),
        ("prompts", {"name": "nobody"}),
        ("piece", {"name": "a", "kind": "environment", "file": "environment.json"}),
        ("piece", {"name": "a", "kind": "bundle", "file": "../environment.json"}),
        ("piece", {"name": "a", "kind": "bundle", "file": "../../../x"}),
    ):
        with pytest.raises(Refused):
            ask(koboshi, verb, **args)
    assert ask(koboshi, "prompts", name="a") == []
