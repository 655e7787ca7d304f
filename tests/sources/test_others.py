"""Who else has a session open, and what an earlier run left: real processes, told apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from koboshi.hosts.recorder import born
from koboshi.sources.others import left_by, users_of

#: Of this process alone: others may run the same tests at the same time.
SESSION = str(uuid.uuid4())


@contextmanager
def process(*words: str, **env: str) -> Iterator[int]:
    """A process with these words and that environment, and nothing else."""
    program = [sys.executable, "-S", "-c", "print(flush=True); import time; time.sleep(60)"]
    with subprocess.Popen([*program, *words], env=env, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()  # it runs: its words and its environment are its own
        try:
            yield running.pid
        finally:
            running.kill()


@pytest.mark.parametrize(
    "words",
    [("--resume", SESSION), (f"--session-id={SESSION}",)],
    ids=["two words", "one word"],
)
def test_who_was_started_with_a_session_has_it_open(words: tuple[str, ...]) -> None:
    """In whichever way it is named."""
    with process(*words) as pid:
        [found] = users_of(SESSION, {})

    assert found.startswith(f"{pid} ")
    assert users_of(SESSION, {}) == ()


@pytest.mark.parametrize(
    "word", [f"{SESSION}.jsonl", SESSION[:-1], f"/x/{SESSION}/y"], ids=["file", "cut", "path"]
)
def test_who_only_reads_about_it_has_not(word: str) -> None:
    """A file that has its name is another word."""
    with process(word):
        assert users_of(SESSION, {}) == ()


def test_who_says_so_of_itself_has_it_open(tmp_path: Path) -> None:
    """A session may change while the process runs; a file that was left behind tells nothing."""
    folder = tmp_path / ".claude" / "sessions"
    folder.mkdir(parents=True)
    with process() as pid:
        record = {"pid": pid, "procStart": str(born(pid)), "sessionId": SESSION}
        (folder / f"{pid}.json").write_text(json.dumps(record))
        (folder / "odd.json").write_text("{")
        assert users_of(SESSION, {"HOME": str(tmp_path)}) == (f"{pid} claude",)
        assert users_of("another", {"HOME": str(tmp_path)}) == ()
        (folder / f"{pid}.json").write_text(json.dumps({**record, "procStart": "1"}))
        assert users_of(SESSION, {"HOME": str(tmp_path)}) == ()  # it was of an earlier process

    assert users_of(SESSION, {"HOME": str(tmp_path)}) == ()


def test_what_earlier_runs_left_is_found_by_whose_it_is(tmp_path: Path) -> None:
    """Of that agent, in that state folder, of a run before this one."""
    of_run = {"KOBOSHI_AGENT": "a1", "KOBOSHI_STATE": str(tmp_path), "KOBOSHI_RUN_NUMBER": "3"}
    with (
        process(**of_run) as mine,
        process(**{**of_run, "KOBOSHI_AGENT": "a2"}),
        process(**{**of_run, "KOBOSHI_STATE": "/other"}),
        process(**{**of_run, "KOBOSHI_RUN_NUMBER": "4"}),
        process(**{**of_run, "KOBOSHI_RUN_NUMBER": "x"}),
        process("-m", "koboshi.daemon.service", **of_run),
    ):
        [found] = left_by("a1", tmp_path, 4)

    assert found.startswith(f"{mine} ")


def test_koboshi_itself_is_never_among_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when an agent was the one to start it."""
    for name, value in (("AGENT", "a1"), ("STATE", str(tmp_path)), ("RUN_NUMBER", "1")):
        monkeypatch.setenv(f"KOBOSHI_{name}", value)

    assert not [each for each in left_by("a1", tmp_path, 9) if each.startswith(f"{os.getpid()} ")]
