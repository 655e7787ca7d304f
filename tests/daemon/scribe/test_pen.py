"""The pen: in the file soon, never in the loop's way, trouble told once."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from koboshi.daemon.scribe.papers import Paper
from koboshi.daemon.scribe.pen import Entry, Pen

UTC = 1_794_700_800.0


def paper(folder: Path) -> Paper:
    """A log in that folder."""
    return Paper(agent="a", folder=folder, base="log")


def written(scene: Callable[[Pen], Awaitable[None]], **limits: float) -> None:
    """Play that with a pen, and close it."""

    async def play() -> None:
        pen = Pen(**limits)  # type: ignore[arg-type]
        await scene(pen)
        await pen.close()

    asyncio.run(play())


def test_hostile_rows_are_lines_of_text(tmp_path: Path) -> None:
    """A row is a line with its time; whatever a terminal would obey is not in it."""
    rows = ("plain", "bell \x07 and \x1b[31mred\x1b[0m", "two\r\x0blines\u2028here", "日本語")

    async def scene(pen: Pen) -> None:
        pen.put(paper(tmp_path), Entry(UTC, rows))

    written(scene)
    said = (tmp_path / "log.log").read_text(encoding="utf-8")
    assert said.count("\n") == len(rows)
    assert all(row.startswith("2026-11-15T00:00:00Z ") for row in said.splitlines())
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f\u2028]", said) is None
    assert said.splitlines()[1].endswith("bell � and red")
    assert "日本語" in said


def test_secrets_are_masked_also_over_two_rows(tmp_path: Path) -> None:
    """Keys by their shape, and the agent's own by their value; the first row was told before."""
    key = "sk-ant-api03-" + "Zk9" * 12
    rows = (f"key: {key[:20]}", key[20:], "my hunter22 word")

    async def scene(pen: Pen) -> None:
        pen.put(paper(tmp_path), Entry(UTC, rows, lead=1, cols=25), ("hunter22",))

    written(scene)
    said = (tmp_path / "log.log").read_text()
    assert "Zk9" not in said
    assert "hunter22" not in said
    assert said.count("\n") == 2


def test_one_log_with_a_key_is_masked_among_many(tmp_path: Path) -> None:
    """They are looked through together; each agent's own secrets are its own."""
    key = "sk-ant-api03-" + "Zk9" * 12
    logs = [Paper(agent=f"a{n}", folder=tmp_path, base=f"log{n}") for n in range(120)]

    async def scene(pen: Pen) -> None:
        for n, log in enumerate(logs):
            pen.put(log, Entry(UTC, ("a word", f"key {key}" if n == 70 else "no key", "hunter22")))
        await pen.settled()
        for n, log in enumerate(logs):
            pen.put(log, Entry(UTC, ("my hunter22 word",)), ("hunter22",) if n == 3 else ())

    written(scene)
    said = [(tmp_path / f"log{n}.log").read_text() for n in range(120)]
    assert all(each.count("\n") == 4 for each in said)
    assert [n for n, each in enumerate(said) if "no key" not in each] == [70]
    assert not any("Zk9" in each for each in said)
    assert [n for n, each in enumerate(said) if "my hunter22" not in each] == [3]


def test_a_log_that_cannot_be_written_is_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The others go on; when it can be written again, it says how much is missing."""
    broken, fine = paper(tmp_path / "broken"), paper(tmp_path / "fine")
    broken.folder.write_text("not a folder")

    async def scene(pen: Pen) -> None:
        for n in range(4):
            pen.put(broken, Entry(UTC, (f"lost {n}",)))
            pen.put(fine, Entry(UTC, (f"fine {n}",)))
            await pen.settled()
        broken.folder.unlink()
        pen.put(broken, Entry(UTC, ("here",)))

    with caplog.at_level(logging.INFO):
        written(scene)
    assert [record.getMessage() for record in caplog.records] == ["not written", "written again"]
    assert vars(caplog.records[0])["agent"] == "a"
    assert (fine.folder / "log.log").read_text().count("fine") == 4
    said = (broken.folder / "log.log").read_text().splitlines()
    assert [row.partition(" ")[2] for row in said] == ["(lines were lost here: 4)", "here"]


def test_a_disk_that_hangs_holds_up_nobody(tmp_path: Path) -> None:
    """Lines are kept up to a limit, the rest is counted, and leaving takes no longer than said."""
    hangs, here = threading.Event(), threading.Event()

    def hang() -> None:
        here.set()
        hangs.wait()

    async def scene(pen: Pen) -> None:
        pen.do(tmp_path / "disk", hang)
        pen.flush()
        await asyncio.to_thread(here.wait)
        for n in range(50):
            pen.put(paper(tmp_path), Entry(UTC, (f"row {n}",)))
        pen.flush()  # returns at once
        hangs.set()

    written(scene, most=10)
    said = (tmp_path / "log.log").read_text()
    assert "(lines were lost here: 40)" in said
    assert said.count("row") == 10


def test_of_jobs_of_one_name_the_last_is_done(tmp_path: Path) -> None:
    """What is written as a whole needs no earlier version of itself."""
    done = list[int]()

    async def scene(pen: Pen) -> None:
        for n in range(5):
            pen.do(tmp_path / "file", lambda n=n: done.append(n))  # type: ignore[misc]

    written(scene)
    assert done == [4]
    assert list(tmp_path.iterdir()) == []
