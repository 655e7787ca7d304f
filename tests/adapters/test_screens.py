"""Screens as files, and what holds for every text."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.registry import adapter, names
from koboshi.cli.inspect import contract
from koboshi.core.readings import Status
from koboshi.observations import ScreenSeen
from tests.adapters.looks import CASES, FOUND, look_of
from tests.adapters.nights import SPOOFS


@pytest.mark.parametrize("case", FOUND, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_screen_reads_as_expected(case: Path) -> None:
    """`screen.txt`, looked at as `seen.json` says, gives `expected.json`."""
    expected = json.loads((case / "expected.json").read_text("utf-8"))

    assert expected == contract(adapter(case.parent.name).read(look_of(case)))


def test_every_status_has_a_case() -> None:
    """The folder names begin with the status they show."""
    shown = {path.name.split("-")[0] for path in FOUND if path.parent.name == "scripted"}

    assert {status.value for status in Status} == shown


anything = st.one_of(
    st.text(),
    st.lists(st.sampled_from(SPOOFS)).map("\n".join),
    st.lists(st.sampled_from([p.joinpath("screen.txt").read_text("utf-8") for p in FOUND]))
    .map("".join)
    .flatmap(lambda text: st.integers(0, max(len(text), 1)).map(lambda at: text[at:] + text[:at])),
)


@given(
    text=anything,
    name=st.sampled_from(names()),
    utc=st.none() | st.floats(),
    command=st.sampled_from(("", "bash", "python3")),
)
def test_read_never_raises(text: str, name: str, utc: float | None, command: str) -> None:
    """Any text, at any moment, gives a reading; the same one twice."""
    seen = ScreenSeen(text=text, utc=utc, command=command)

    assert adapter(name).read(seen) == adapter(name).read(seen)


@pytest.mark.parametrize("command", ["bash", "-zsh", "/bin/sh", " fish "])
def test_a_shell_in_the_foreground_is_gone_whatever_the_screen_says(command: str) -> None:
    """A killed agent's frame stays on the screen with its spinner."""
    text = (CASES / "scripted" / "working" / "screen.txt").read_text("utf-8")

    reading = adapter("scripted").read(ScreenSeen(text=text, command=command))

    assert (reading.status, reading.reason) == (Status.GONE, "shell_prompt")


def test_the_evidence_for_gone_is_the_row_the_shell_waits_in() -> None:
    """The cursor tells where the shell drew its prompt over the dead frame."""
    text = (CASES / "scripted" / "gone-stale-spinner" / "screen.txt").read_text("utf-8")
    row = next(n for n, line in enumerate(text.split("\n")) if line.startswith("bash-5.2#"))

    for cursor in ((10, row), None):
        reading = adapter("scripted").read(ScreenSeen(text=text, command="bash", cursor=cursor))

        assert reading.evidence[0].startswith("bash-5.2#")


def test_a_shell_prompt_in_the_transcript_of_a_live_agent_is_not_gone() -> None:
    """An agent may print what a shell would."""
    text = (CASES / "scripted" / "idle-fresh" / "screen.txt").read_text("utf-8")

    reading = adapter("scripted").read(ScreenSeen(text="root@host:~#\n" + text))

    assert reading.status is Status.IDLE


def test_a_very_long_line_takes_no_time() -> None:
    """Patterns are linear: a megabyte of what they look for is read in well under a second."""
    for piece in (
        "✻ ",
        " · Retrying in 1s",
        "❯ 1. ",
        "a@b: ",
        "─",
        "  ⎿ You've hit your x limit · ",
        "claude --a --a ",
        "■ status ",
        " 1% used",
    ):
        text = (
            piece * (1_000_000 // len(piece))
            + "\n"
            + "─" * 80
            + "\n❯\n"
            + "─" * 80
            + "\n  ? for shortcuts"
        )
        start = time.perf_counter()
        for name in names():
            adapter(name).read(ScreenSeen(text=text))
            adapter(name).read(ScreenSeen(text=piece * 100_000, ansi=piece * 1_000))

        assert time.perf_counter() - start < 4
