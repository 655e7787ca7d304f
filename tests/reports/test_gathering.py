"""From a state folder to a report: torn and damaged journals, git, transcripts, notes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from koboshi.reports.commits import commits
from koboshi.reports.gathering import gather
from koboshi.reports.steps import plan
from koboshi.store.roster import Entry, Roster
from tests.cli.journals import lay_down

PLAN = Path(__file__).parents[1] / "cases" / "plans" / "M1.md"
#: When simulated nights begin.
NIGHT = 1_800_000_000.0


def test_all_agents_are_told_of_and_nothing_is_written(tmp_path: Path) -> None:
    """Those with a journal; the folder is read, and left as it is."""
    for name in ("a", "b"):
        lay_down(tmp_path, name)
    before = sorted((p, p.stat().st_mtime_ns) for p in tmp_path.rglob("*"))
    report = gather(tmp_path, (), since=NIGHT, until=NIGHT + 3600)

    assert [each.agent for each in report.agents] == ["a", "b"]
    assert all(each.restarts and each.replies and each.stretches for each in report.agents)
    assert all(each.troubles == () for each in report.agents)
    assert sorted((p, p.stat().st_mtime_ns) for p in tmp_path.rglob("*")) == before
    assert [a.agent for a in gather(tmp_path, ("b",), since=NIGHT, until=NIGHT + 9).agents] == ["b"]


def test_a_torn_tail_costs_only_the_torn_line(tmp_path: Path) -> None:
    """The supervisor died while it wrote; all before that counts."""
    folder = lay_down(tmp_path)
    whole = gather(tmp_path, (), since=NIGHT, until=NIGHT + 3600).agents[0]
    last = max(folder.iterdir())
    last.write_bytes(last.read_bytes().rstrip(b"\n") + b'\n{"k":"seen","at":12')
    torn = gather(tmp_path, (), since=NIGHT, until=NIGHT + 3600).agents[0]

    assert torn == whole


def test_a_damaged_segment_is_told_of_and_the_rest_is_read(tmp_path: Path) -> None:
    """Each segment begins with all that was known."""
    folder = lay_down(tmp_path)
    first, *others = sorted(folder.iterdir())
    rows = first.read_bytes().split(b"\n")
    first.write_bytes(b"\n".join([*rows[:5], b"\x00garbage", *rows[6:]]))
    found = gather(tmp_path, (), since=NIGHT, until=NIGHT + 3600).agents[0]

    [trouble] = found.troubles
    assert f"{first.name}, line 6" in trouble
    assert others
    assert found.restarts


def test_segments_from_before_the_hours_are_not_read(tmp_path: Path) -> None:
    """But for the last of them, which says how things were when the hours began."""
    folder = lay_down(tmp_path)
    names = sorted(folder.iterdir())
    assert len(names) > 2
    begun = [json.loads(p.read_bytes().split(b"\n")[0])["utc"] for p in names]
    whole = gather(tmp_path, (), since=begun[2] + 1, until=NIGHT + 3600).agents[0]
    names[0].write_bytes(b"damaged\n")
    names[1].write_bytes(b"damaged\n")
    [found] = gather(tmp_path, (), since=begun[2] + 1, until=NIGHT + 3600).agents

    assert found == whole
    assert found.stretches[0].start == begun[2] + 1
    assert len(gather(tmp_path, (), since=NIGHT, until=NIGHT + 3600).agents[0].troubles) == 2


def test_an_agent_that_nobody_looks_after_any_more_needs_somebody(tmp_path: Path) -> None:
    """If it is on the list and was not released."""
    lay_down(tmp_path, "a")
    entry = Entry(agent="a", agent_type="scripted", argv=("x",), cwd=str(tmp_path))
    Roster(tmp_path).keep(entry)
    [found] = gather(tmp_path, (), since=NIGHT, until=NIGHT + 9 * 3600).agents
    assert "nobody has looked after it since" in found.needs[0]

    Roster(tmp_path).keep(Entry(agent="a", agent_type="x", argv=(), cwd="", watched=False))
    [found] = gather(tmp_path, (), since=NIGHT, until=NIGHT + 9 * 3600).agents
    assert found.needs == ()


def git(folder: Path, *words: str, at: int = 0) -> None:
    """A call of git, at that second."""
    date = f"@{at} +0000"
    env = {**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, env=env, timeout=60)


def sign(folder: Path) -> None:
    """Put something that looks like a signature on the last commit: showing it runs a program."""

    def ask(*words: str, feed: bytes = b"") -> bytes:
        argv = ["git", "-C", str(folder), *words]
        return subprocess.run(argv, check=True, input=feed, capture_output=True, timeout=60).stdout

    head, _, message = ask("cat-file", "commit", "HEAD").partition(b"\n\n")
    mark = b"-----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = head + b"\ngpgsig " + mark + b"\n\n" + message
    name = ask("hash-object", "-t", "commit", "-w", "--stdin", feed=signed).decode().strip()
    ask("update-ref", "HEAD", name)


def test_commits_of_those_hours_are_listed_and_nothing_of_the_repository_runs(
    tmp_path: Path,
) -> None:
    """Whatever its own settings say."""
    git(tmp_path, "init", "-q")
    for at, subject in ((1, "too old"), (5, "日本語 <b>"), (6, "lexer")):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", subject, at=int(NIGHT) + at)
    sign(tmp_path)
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o700)
    for key in ("gpg.program", "core.fsmonitor", "core.pager", "log.showSignature"):
        git(tmp_path, "config", key, "true" if key.startswith("log") else str(trap))

    found = commits(str(tmp_path), NIGHT + 4, NIGHT + 8)
    assert [(c.at - NIGHT, c.subject) for c in found] == [(5, "日本語 <b>"), (6, "lexer")]
    assert not (tmp_path / "sprung").exists()


def test_the_plan_of_the_folder_is_told(tmp_path: Path) -> None:
    """Status, and each step with what came of it; a folder, a pipe or another text is none."""
    assert plan(str(tmp_path)) == ()
    (tmp_path / "M1.md").write_text(PLAN.read_text())
    head, first, *_ = plan(str(tmp_path))

    assert head.startswith("RUNNING: ")
    assert first.startswith("1 done: SIGTERM")
    assert "a690fb3" in first
    (tmp_path / "M1.md").write_text("# Notes\n")
    assert plan(str(tmp_path)) == ()
    (tmp_path / "M1.md").unlink()
    os.mkfifo(tmp_path / "M1.md")
    assert plan(str(tmp_path)) == plan("") == ()


@pytest.mark.parametrize("folder", ["", "/nonexistent/folder"])
def test_where_there_is_no_repository_nothing_was_committed(folder: str, tmp_path: Path) -> None:
    """And no error."""
    assert commits(folder, 0.0, 9e9) == ()
    assert commits(str(tmp_path), 0.0, 9e9) == ()
