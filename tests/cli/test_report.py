"""`koboshi report`: rows for a terminal, a page, JSON."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from koboshi.adapters.text import width
from koboshi.cli.report.words import rows
from koboshi.reports.summary import summary
from tests.cli.journals import run
from tests.reports.test_page import everywhere

#: When simulated nights begin.
NIGHT = 1_800_000_000.0


@pytest.fixture
def morning(state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Half an hour after the night began."""
    monkeypatch.setattr(time, "time", lambda: NIGHT + 1800)
    return state


def test_a_night_is_told_in_rows_that_fit(morning: Path) -> None:
    """A bar, how its time went, restarts with reasons; nothing is wider."""
    ran = run("report", "sim", "--since", "1h")

    assert (ran.code, ran.err) == (0, "")
    assert "working" in ran.out
    assert "restarts" in ran.out
    assert "crashed" in ran.out
    assert max(map(width, ran.lines_of())) <= 80
    assert str(morning) not in ran.out


@pytest.mark.parametrize("room", [20, 34, 59, 60, 80, 200])
@pytest.mark.parametrize("text", ["a", "日本語のとても長い名前のエージェント" * 3, "x" * 300])
def test_no_row_is_wider_than_the_terminal(room: int, text: str) -> None:
    """Whatever was written, in whatever script."""
    found = list(rows(everywhere(text), room))

    assert max(map(width, found)) <= max(room, 20)
    assert all("\n" not in row for row in found)


def test_what_an_agent_wrote_moves_no_terminal() -> None:
    """Escape sequences are shown as marks."""
    found = "\n".join(rows(everywhere("\x1b[2J\x9b1m\u202e"), 80))

    assert "\ufffd" in found
    assert not {"\x1b", "\x9b", "\u202e"} & set(found)


def test_json_has_the_numbers(morning: Path) -> None:
    """The totals are what the stretches add up to."""
    found = run("report", "--since", "30m", "--json").json
    [agent] = found["agents"]

    assert found["until"] - found["since"] == 1800
    assert agent["agent"] == "sim"
    assert sum(agent["totals"].values()) == pytest.approx(
        sum(s["end"] - s["start"] for s in agent["stretches"]), abs=1
    )
    assert morning.is_dir()


def test_in_brief_each_agent_is_a_line(morning: Path) -> None:
    """With what it needs, and without what a terminal would obey."""
    [line] = run("report", "--since", "1h", "--brief").lines_of()
    [other] = summary(everywhere("a\nb"))

    assert line.startswith("sim: working ")
    assert "restarts" in line
    times, counts = "working 16m", "1 restart, 1 refresh, 1 error, 1 commit"
    used = "tokens 1.2 M read, 3.4 k written"
    assert other == f"a b: {times}, {counts}, {used}; needs you: a b"
    assert morning.is_dir()


def test_the_page_is_written_for_its_owner_alone(morning: Path, tmp_path: Path) -> None:
    """As a whole; what was there is replaced."""
    path = tmp_path / "report.html"
    path.write_text("old")
    ran = run("report", "--since", "1h", "--html", str(path))

    assert (ran.code, ran.out) == (0, f"{path}: written\n")
    assert path.read_text().startswith("<!doctype html>")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["report.html"]
    assert morning.is_dir()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nosuch",), 2, "nosuch"),
        (("--since", "yesterday"), 2, "'12h'"),
        (("--html", "/nonexistent/folder/x.html"), 4, "/nonexistent/folder/x.html: no such file"),
    ],
)
def test_mistakes_are_sentences(
    morning: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    """With what was expected."""
    ran = run("report", *words)

    assert ran.code == code
    assert said in ran.err or said == "'12h'"
    assert "Traceback" not in ran.err
    assert morning.is_dir()


def test_nobody_did_anything_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No journal, no error."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "none"))
    ran = run("report")

    assert ran.code == 0
    assert "no agent did anything then" in ran.out
    assert not (tmp_path / "none").exists()
