"""One agent's logs: what was judged and why, every key, what the agent printed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from koboshi.core.settings import Settings
from koboshi.daemon.scribe.papers import Paper
from koboshi.daemon.scribe.pen import Entry, Pen
from koboshi.daemon.scribe.scribe import Scribe, papers
from koboshi.scripted.acts import load_script
from tests.daemon.lives import Life

NIGHT = """
[[act]]
do = "work"
seconds = 2.0
say = "Read the plan; 12 tests fail."

[[act]]
do = "ask"
command = "npm test"

[[act]]
do = "ask"
command = "rm -rf /"
"""


class Slate:
    """A pen that writes nowhere."""

    def __init__(self) -> None:
        self.rows: dict[str, list[str]] = {}

    def put(self, paper: Paper, entry: Entry, secrets: tuple[str, ...] = ()) -> None:
        """Remember the rows."""
        assert secrets == ("hunter22",)
        self.rows.setdefault(paper.base, []).extend(entry.rows[entry.lead :])

    def do(self, path: Path, job: Callable[[], None]) -> None:
        """Done at once."""
        assert path.name == "sessions.jsonl"
        job()


def scribe(slate: Slate, settings: Settings, tmp_path: Path) -> Scribe:
    """One that writes on the slate."""
    monitor, output = papers("sim", "scripted", settings, state=tmp_path, cwd=str(tmp_path))
    secrets, pen = ("hunter22",), cast("Pen", slate)
    return Scribe(pen, tmp_path, monitor=monitor, output=output, secrets=secrets)


def night(tmp_path: Path, settings: Settings) -> tuple[Life, dict[str, list[str]]]:
    """A short night, and what was written about it."""
    life, slate = Life(load_script(NIGHT)), Slate()
    writes = scribe(slate, settings, tmp_path)
    life.on_heard = writes.heard
    writes.attend(life.rise())
    life.live(60.0)
    writes.leave()
    return life, slate.rows


def test_judgements_keys_and_output_are_told(tmp_path: Path) -> None:
    """Each key that the terminal got is in the log, in order; refusals have their reason."""
    life, rows = night(tmp_path, Settings())

    monitor = "\n".join(rows["monitor_sim"])
    assert "run 1 started (first)" in monitor
    assert "PRM001 " in monitor
    assert "answer question 1 of run 1 with 'once' – admitted" in monitor
    assert "PRM002 " in monitor
    keys = [row for row in rows["monitor_sim"] if row.startswith("typed: ")]
    assert life.sent == ["continue", "Enter", "1"]
    assert keys == ["typed: text 'continue'", "typed: key Enter", "typed: key 1"]
    said = rows["scripted_sim"]
    assert sum("Read the plan; 12 tests fail." in row for row in said) == 1


def test_the_runs_are_kept_in_a_file(tmp_path: Path) -> None:
    """While it runs and when it is over; what was known before stays."""
    old = {"run": 0, "origin": "first", "sessions": ["s0"], "started": 1.0, "ended": 2.0}
    file = tmp_path / "sessions.jsonl"
    file.write_text(f"{json.dumps(old)}\nnonsense\n[]\n")
    life, _ = night(tmp_path, Settings())

    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["run"] for row in rows] == [0, 1]
    assert [rows[0]["session"], rows[1]["session"]] == ["s0", life.world.view.run.session]
    assert rows[1]["ended"] is None


def test_a_log_can_be_switched_off(tmp_path: Path) -> None:
    """Each by itself."""
    assert list(night(tmp_path, Settings(monitor_log="off"))[1]) == ["scripted_sim"]
    assert list(night(tmp_path, Settings(pane_log="OFF"))[1]) == ["monitor_sim"]


@pytest.mark.parametrize(
    ("settings", "monitor", "output"),
    [
        (Settings(), "state/logs/monitor_a.log", "state/logs/claude_a_20261115.log"),
        (
            Settings(log_dir="mine"),
            "work/mine/monitor_a.log",
            "work/mine/claude_a_20261115.log",
        ),
        (
            Settings(log_dir="/var/x", monitor_log="m.txt", pane_log="/p"),
            "work/m.txt",
            "/p",
        ),
        (Settings(pane_log="~/p.log"), "state/logs/monitor_a.log", "home/p.log"),
    ],
)
def test_where_they_are(
    settings: Settings,
    monitor: str,
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the state folder, or where the person says, as a shell in the agent's folder reads it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = papers("a", "claude", settings, state=tmp_path / "state", cwd=str(tmp_path / "work"))

    paths = [paper.path("20261115") for paper in found if paper is not None]
    assert paths == [tmp_path / monitor, tmp_path / output]


def test_the_files_are_there_after_a_second(tmp_path: Path) -> None:
    """With the pen of the daemon."""

    async def play() -> None:
        pen = Pen(every=0.0)
        monitor, output = papers("a", "claude", Settings(), state=tmp_path, cwd="/")
        assert monitor is not None
        assert output is not None
        pen.put(monitor, Entry(0.0, ("hello",)))
        await pen.settled()
        assert monitor.path("").read_text() == "1970-01-01T00:00:00Z hello\n"
        await pen.close()

    asyncio.run(play())
