"""The scripted agent without a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from koboshi.adapters.headless import result
from koboshi.scripted.headless import main

SCRIPT = """\
[[work]]
match = "step 1"
says = "All done!"
[[work]]
match = "step 1"
says = "Now it is."
write = { "a/b.txt" = "x" }
"""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Its command line, but for the prompt."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.toml").write_text(SCRIPT, encoding="utf-8")
    return ["--headless", "--script", "work.toml", "--state", "state"]


def test_it_plays_one_after_the_other(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The last one again and again; what it prints is judged like another CLI's."""
    said = []
    for _ in range(3):
        assert main([*words, "do step 1 now"]) == 0
        said.append(result(capsys.readouterr().out, "scripted").summary)

    assert said == ["All done!", "Now it is.", "Now it is."]
    assert (tmp_path / "a" / "b.txt").read_text() == "x"


def test_what_it_does_not_know_is_an_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """And no traceback."""
    assert main([*words, "something else"]) == 1
    assert json.loads(capsys.readouterr().out)["is_error"] is True
    assert main([*words[:2], "nowhere.toml", *words[3:], "x"]) == 2
