"""The roster: what must be known to start an agent again."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.core.actions import Mode
from koboshi.errors import InputError, UnknownAgent
from koboshi.store.roster import Entry, Roster, printable

ENTRY = Entry(agent="api", agent_type="claude", argv=("claude", "--x y"), cwd="/src", mode="auto")


def test_what_was_kept_is_read_back(tmp_path: Path) -> None:
    """An entry and its environment; both for the owner's eyes only."""
    roster = Roster(tmp_path)
    roster.keep(ENTRY, {"KEY": "秘密"})

    assert roster.entry("api") == ENTRY
    assert roster.entries() == (ENTRY,)
    assert roster.environment("api") == {"KEY": "秘密"}
    assert ENTRY.level() is Mode.AUTO
    files = sorted((tmp_path / "agents" / "api").iterdir())
    assert [(f.name, oct(f.stat().st_mode & 0o777)) for f in files] == [
        ("entry.json", "0o600"),
        ("environment.json", "0o600"),
    ]
    assert "秘密" not in (tmp_path / "agents" / "api" / "entry.json").read_text()


def test_an_entry_kept_again_keeps_its_environment(tmp_path: Path) -> None:
    """Released and taken up again."""
    roster = Roster(tmp_path)
    roster.keep(ENTRY, {"A": "1"})
    roster.keep(ENTRY)

    assert roster.environment("api") == {"A": "1"}


def test_a_dropped_agent_is_unknown_and_its_journal_stays(tmp_path: Path) -> None:
    """The story can still be told."""
    roster = Roster(tmp_path)
    roster.keep(ENTRY)
    journal = tmp_path / "agents" / "api" / "journal"
    journal.mkdir()
    roster.drop("api")

    with pytest.raises(UnknownAgent, match="not 'api'"):
        roster.entry("api")
    assert journal.is_dir()
    assert roster.environment("api") is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"agent": "api"}',
        '{"agent":"a","agent_type":"x","argv":[],"cwd":"/","host":"moon"}',
    ],
)
def test_a_damaged_entry_is_named_and_passed_over(tmp_path: Path, content: str) -> None:
    """The others are not lost with it."""
    roster = Roster(tmp_path)
    roster.keep(ENTRY)
    (tmp_path / "agents" / "bad").mkdir()
    (tmp_path / "agents" / "bad" / "entry.json").write_text(content)

    assert roster.entries() == (ENTRY,)
    [trouble] = roster.troubles()
    assert "bad/entry.json" in trouble
    with pytest.raises(InputError):
        roster.entry("bad")


def test_a_name_does_not_climb(tmp_path: Path) -> None:
    """It becomes a folder."""
    with pytest.raises(InputError, match="expected an agent name"):
        Roster(tmp_path).entry("../../etc")


def test_a_variable_that_is_not_text_is_left_out() -> None:
    """JSON cannot say it."""
    assert printable({"A": "1", "B": "\udcff"}) == {"A": "1"}
