"""`koboshi notify`: what a channel says, in a line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.journals import run
from tests.notices.servers import Webhook, dead_port


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file."""
    monkeypatch.setenv("KOBOSHI_CONFIG", str(tmp_path))
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path / "koboshi.toml"


def test_each_channel_is_tried_and_told(own: Path) -> None:
    """One that works, one that does not: exit code 1."""
    with Webhook().open() as hook:
        own.write_text(
            f'[notify.channels.good]\nurl = "json://127.0.0.1:{hook.port}/"\n'
            f'[notify.channels.dead]\nurl = "json://127.0.0.1:{dead_port()}/"\n'
        )
        ran = run("notify", "test")
        (got,) = hook.wait(1)

    assert ran.code == 1
    assert ran.lines_of()[0] == "✔ good: sent"
    assert ran.lines_of()[1].startswith("✘ dead: ")
    assert got["message"] == "This channel works."


def test_one_channel_alone_can_be_tried(own: Path) -> None:
    """By its name; a name that is none is told with those that are."""
    with Webhook().open() as hook:
        own.write_text(
            f'[notify.channels.good]\nurl = "json://127.0.0.1:{hook.port}/"\n'
            f'[notify.channels.dead]\nurl = "json://127.0.0.1:{dead_port()}/"\n'
        )
        ran, other = run("notify", "test", "good"), run("notify", "test", "phone")

    assert (ran.code, ran.lines_of()) == (0, ["✔ good: sent"])
    assert other.code == 2
    assert "there: good, dead" in other.err


def test_no_channel_is_an_error_that_says_how_to_make_one(own: Path) -> None:
    """And a mistake is told as everywhere."""
    assert "[notify.channels.phone]" in run("notify", "test").err
    own.write_text('[notify.channels.phone]\nurl = "slack://hunter2secret/b/c"\n')
    ran = run("notify", "test")

    assert ran.code == 2
    assert "koboshi.toml:2: notify.channels.phone.url: expected" in ran.err
    assert "hunter2" not in ran.err
