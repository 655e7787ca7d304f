"""The tasks file: what counts as done, and when it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.adapters.tasks import count_tasks
from koboshi.observations import TasksSeen
from koboshi.sources.tasks import TasksFile


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("", (0, 0)),
        ("# Tasks\n\nNothing yet.\n", (0, 0)),
        ("- [x] one\n* [X] two\n1. [x] three\n", (3, 0)),
        ("- [x] one\n  - [ ] two\n", (1, 1)),
        ("progress: 100%\n", (1, 0)),
        ("**Progress:** 99 %\n", (0, 1)),
        ("- [x] one\nprogress: 80%\n", (1, 1)),
        ("```\n- [x] an example\n```\n", (0, 0)),
        ("we made progress: all of it\n- [y] what\n", (0, 0)),
    ],
)
def test_what_is_done_and_what_is_left(text: str, counted: tuple[int, int]) -> None:
    """Boxes and progress lines outside of code."""
    assert count_tasks(text) == counted


def test_an_edit_is_told_once(tmp_path: Path) -> None:
    """Also that the file is missing, and that it came back."""
    path = tmp_path / "TASKS.md"
    file = TasksFile(path)
    told = [list(file.poll()), list(file.poll())]
    path.write_text("- [ ] one\n")
    told += [list(file.poll()), list(file.poll())]
    path.unlink()
    told.append(list(file.poll()))

    first, gone = [TasksSeen(text="- [ ] one\n")], [TasksSeen(text="")]
    assert told == [gone, [], first, [], gone]
