"""The files by which an agent asks for its restart: fresh ones count, once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.events import RunExited
from koboshi.core.settings import Settings
from koboshi.observations import ProcessGone
from koboshi.scripted.behaviour import Done, EndTurn, Script, Work
from koboshi.sources import reborn
from tests.daemon.lives import Life

SCRIPT: Script = (EndTurn(), Work(seconds=600.0, say="y"), Done())


def leave(place: Path, at: float, reason: str = "new\ntools\x1b[0m", context: str = "at 3") -> None:
    """An agent writes its files."""
    place.mkdir(parents=True, exist_ok=True)
    for name, text in ((reborn.REASON, reason), (reborn.CONTEXT, context)):
        (place / name).write_text(text)
        os.utime(place / name, (at, at))


def test_a_fresh_reason_is_read_and_then_gone(tmp_path: Path) -> None:
    """As one line without control characters, with its context."""
    leave(tmp_path, 1000.0)
    words = reborn.last_words(tmp_path, 999.0)

    assert words is not None
    assert (words.reason, words.context) == ("new tools[0m", "at 3")
    words.taken()
    assert list(tmp_path.iterdir()) == []
    assert reborn.last_words(tmp_path, 999.0) is None
    words.taken()


def test_what_was_there_before_the_run_does_not_count(tmp_path: Path) -> None:
    """Nor does an old context beside a fresh reason."""
    leave(tmp_path, 1000.0)
    assert reborn.last_words(tmp_path, 1010.0) is None
    os.utime(tmp_path / reborn.REASON, (1011.0, 1011.0))
    words = reborn.last_words(tmp_path, 1010.0)

    assert words is not None
    assert words.context == ""


def test_the_variable_names_the_folder() -> None:
    """Relative to where the agent works."""
    assert reborn.folder("/p", {}) == Path("/p/.claude/self-reborn")
    named = {"CLAUDE_SELF_REBORN_STATE_DIR": "x/y"}
    assert reborn.folder("/p", named) == Path("/p/x/y")


@given(st.text(max_size=8), st.text(max_size=8))
def test_no_text_of_the_variables_breaks_the_settings(crashes: str, backoff: str) -> None:
    """They are numbers in a range, or they are passed by."""
    names = ("CLAUDE_SELF_REBORN_MAX_CRASHES", "CLAUDE_SELF_REBORN_BACKOFF")
    settings = reborn.tuned(Settings(), dict(zip(names, (crashes, backoff), strict=True)))

    assert 1 <= settings.intensity <= reborn.MOST_CRASHES
    assert 0 <= settings.backoff_base <= settings.backoff_max


def test_the_variables_are_read() -> None:
    """Restarts before a person is asked, and the wait before the first one."""
    env = {"CLAUDE_SELF_REBORN_MAX_CRASHES": "9", "CLAUDE_SELF_REBORN_BACKOFF": "0.5"}
    settings = reborn.tuned(Settings(), env)

    assert (settings.intensity, settings.backoff_base) == (9, 0.5)


@pytest.mark.parametrize(
    ("code", "signal", "lies", "asked"),
    [
        (129, None, True, True),
        (None, 1, True, True),
        (129, None, False, False),
        (1, None, True, False),
    ],
)
def test_hung_up_with_a_reason_is_a_restart(
    tmp_path: Path, code: int | None, signal: int | None, *, lies: bool, asked: bool
) -> None:
    """Without one it is a closed terminal: a crash like any other."""
    life = Life(SCRIPT)
    supervisor = life.rise()
    life.live(5.0)
    supervisor.last_words = lambda since: reborn.last_words(tmp_path, since)
    if lies:
        leave(tmp_path, life.runtime.now().utc)
    supervisor.observe(ProcessGone(run=1, code=code, signal=signal))

    view = life.world.view
    assert (view.reload is not None) is asked
    assert view.tally.crashes == (0 if asked else 1)
    assert (tmp_path / reborn.REASON).exists() is (lies and not asked)
    assert isinstance(life.heard[-1].body, RunExited)
    life.fall()


def test_files_that_a_killed_supervisor_left_are_not_taken_again(tmp_path: Path) -> None:
    """The order was written, the files were not removed, the same exit is seen once more."""
    life = Life(SCRIPT)
    supervisor = life.rise()
    life.live(5.0)
    supervisor.last_words = lambda since: reborn.last_words(tmp_path, since)
    leave(tmp_path, life.runtime.now().utc, "new tools")
    supervisor.take = lambda _: False  # type: ignore[method-assign, assignment]
    supervisor.observe(ProcessGone(run=1, code=129))
    assert (tmp_path / reborn.REASON).exists()
    del supervisor.take
    supervisor.observe(ProcessGone(run=1, code=129))
    leave(tmp_path, life.runtime.now().utc, "new tools")  # as if they were still there
    supervisor.observe(ProcessGone(run=1, code=129))
    reload = life.world.view.reload
    life.fall()

    assert reload is not None
    assert reload.reason == "new tools"
