"""The run's folder: who the process is, and what is told about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from koboshi.hosts import recorder
from koboshi.hosts.base import Launch
from koboshi.hosts.runs import Ended, RunFolder, slug, with_utf8
from koboshi.hosts.trees import Child

LAUNCH = Launch(agent="a/../b", run=3, argv=("true",), cwd="/")


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    """Even of the same name, and no name leads out of the place for them."""
    first, second = (RunFolder.create(tmp_path / "runs", LAUNCH) for _ in range(2))

    assert first.path != second.path
    assert {first.path.parent, second.path.parent} == {tmp_path / "runs"}
    assert first.path.name.startswith("a____b-3-")
    assert (first.child(), first.ended()) == (None, None)


def test_what_the_recorder_wrote_is_read(tmp_path: Path) -> None:
    """One record for the start, one for the end."""
    folder = RunFolder.create(tmp_path, LAUNCH)
    recorder.write(str(folder.path), "child.json", {"pid": 5, "born": 7, "started": 1.5})
    assert folder.child() == Child(pid=5, born=7, started=1.5)

    record = {"pid": 5, "code": None, "signal": 9, "ended": recorder.utc()}
    recorder.write(str(folder.path), "status.json", record)
    assert folder.ended() == Ended(signal=9)


def test_a_recorder_without_a_host_starts_nothing(tmp_path: Path) -> None:
    """The host died before it could mark the terminal: an agent nobody finds must not run."""
    folder = RunFolder.create(tmp_path, LAUNCH)
    command = folder.command()
    code = "import runpy, sys; sys.argv = sys.argv[1:]; m = runpy.run_path(sys.argv[0]);"
    # A patience of its own: half a minute is too long for a test.
    code += " m['main'].__globals__.update(PATIENCE=0.1, own_terminal=lambda: None);"
    code += " sys.exit(m['main'](sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, *command[-2:]], check=False, timeout=30)

    assert done.returncode == 127
    assert folder.ended() == Ended(error="the host never said what to start")


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"LC_ALL": "C"}, {"LC_CTYPE": "C.UTF-8"}),
        ({}, {"LC_CTYPE": "C.UTF-8"}),
        ({"LANG": "ja_JP.utf8"}, {"LANG": "ja_JP.utf8"}),
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, {"LANG": "de_DE.UTF-8", "LC_CTYPE": "C.UTF-8"}),
        ({"LC_CTYPE": "en_US.UTF-8", "LC_ALL": ""}, {"LC_CTYPE": "en_US.UTF-8", "LC_ALL": ""}),
    ],
)
def test_a_character_set_is_chosen_only_where_there_is_none(
    env: dict[str, str], expected: dict[str, str]
) -> None:
    """A locale that speaks UTF-8 already is left alone."""
    assert with_utf8(env) == expected


def test_a_slug_is_safe_in_paths_and_in_tmux() -> None:
    """Letters of every script, digits, dash and underscore."""
    assert [slug(name) for name in ("a.b:c", "日本 語", "", "x" * 99)] == [
        "a_b_c",
        "日本_語",
        "_",
        "x" * 40,
    ]
