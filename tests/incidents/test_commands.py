"""Programs of the owner's: real ones, with all that can go wrong with them."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from koboshi.incidents.commands import KEPT, Ran, argv_of, ran
from tests.hosts.waiting import runs, until


def run(*argv: str, facts: bytes = b"{}", timeout: float = 10.0, cwd: Path = Path("/")) -> Ran:
    """Run it, in the words of a test."""
    work = ran(
        argv, facts, timeout=timeout, cwd=cwd, env=os.environ, mask=lambda t: t.replace("hush", "x")
    )
    return asyncio.run(work)


def python(code: str) -> tuple[str, ...]:
    """A program."""
    return (sys.executable, "-c", code)


def test_it_gets_the_facts_and_its_words_are_kept() -> None:
    """JSON on standard input; secrets in what it prints are masked."""
    code = "import json,sys; print('got', json.load(sys.stdin)['reason'], 'hush')"
    came = run(*python(code), facts=json.dumps({"reason": "$(touch /tmp/x); `id`"}).encode())

    assert came == Ran(code=0, said="got $(touch /tmp/x); `id` x")
    assert str(came) == "ended with 0: got $(touch /tmp/x); `id` x"


def test_a_bad_end_can_be_seen() -> None:
    """With its code, and with what it printed to either stream."""
    came = run(*python("import sys; print('no', file=sys.stderr); sys.exit(3)"))

    assert (came.code, came.fine) == (3, False)
    assert str(came) == "ended with 3: no"


def test_one_that_does_not_read_is_fine() -> None:
    """A megabyte of facts, and nobody takes it."""
    assert run(*python("pass"), facts=b"x" * (1 << 20)).fine


def test_what_is_over_its_time_is_killed_with_all_it_started(tmp_path: Path) -> None:
    """Its children, too."""
    pid = tmp_path / "pid"
    code = f"sleep 60 & echo $! > {shlex.quote(str(pid))}; echo begun; wait"
    began = time.monotonic()
    came = run("/bin/sh", "-c", code, timeout=4.0)

    assert time.monotonic() - began < 30
    assert came == Ran(code=None, said="killed after 4 s: begun")
    asyncio.run(until(lambda: not runs(int(pid.read_text()))))


def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    """No such program, or a folder."""
    assert "could not be started" in str(run(str(tmp_path / "missing")))
    assert "could not be started" in str(run(str(tmp_path)))


def test_only_the_end_of_its_words_is_kept() -> None:
    """A journal is no place for a build log."""
    came = run(*python("print('x' * 200_000, 'end')"))

    assert len(came.said) == KEPT
    assert came.said.endswith(" end")


@pytest.mark.parametrize(
    ("argv", "shell", "started"),
    [
        (("a b", "$HOME"), "", ("a b", "$HOME")),
        (("~/x",), "", ("HOME/x",)),
        ((), "echo $HOME | cat", ("/bin/sh", "-c", "echo $HOME | cat")),
    ],
)
def test_a_shell_only_where_one_was_asked_for(
    argv: tuple[str, ...], shell: str, started: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words stay words."""
    monkeypatch.setenv("HOME", "HOME")
    assert argv_of(argv, shell) == started
