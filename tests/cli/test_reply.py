"""`koboshi reply`: a person's words, and only a person's."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.store.roster import Entry, Roster
from tests.cli.journals import run


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder with one agent, and no daemon."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path))
    Roster(tmp_path).keep(Entry(agent="a1", agent_type="claude", argv=("x",), cwd="/"))
    return tmp_path


def test_an_agent_answers_nobody(one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not itself, not another one; no daemon is asked."""
    monkeypatch.setenv("KOBOSHI_RUN_NUMBER", "3")
    ran = run("reply", "a1", "yes")

    assert ran.code == 2
    assert "that is a person's" in ran.err
    assert not (one / "run").exists()


@pytest.mark.parametrize(
    ("words", "said"), [(("a1",), "expected an answer"), (("b", "x"), "agents: a1")]
)
def test_mistakes_are_sentences_and_start_no_daemon(
    one: Path, words: tuple[str, ...], said: str
) -> None:
    """With what was expected."""
    ran = run("reply", *words)

    assert ran.code == 2
    assert said in ran.err
    assert not (one / "run").exists()


def test_where_nobody_is_nobody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no daemon is started to find that out."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "none"))

    assert run("reply").out == "nobody asks you anything\n"
    assert run("reply", "--json").json == []
    assert not (tmp_path / "none").exists()
