"""Rules are read again when a file changes; a bad edit keeps the good ones."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

import pytest

from koboshi.core.rules import Rule
from koboshi.daemon.logs import Line
from koboshi.daemon.rulekeeping import LOOK, RuleKeeper, kept
from koboshi.rules import BUILTIN
from koboshi.store.switches import switch

GOOD = "[[rule]]\ncode = 'OWN001'\nname = 'of-mine'\nwhen = 'age > 1'\n"


def write(folder: Path, text: str) -> None:
    """The file, with a stamp of its own."""
    file = folder / "koboshi.toml"
    stamp = file.stat().st_mtime_ns + 1_000_000 if file.exists() else 1_000_000
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(stamp, stamp))


def added(keeper: RuleKeeper) -> list[str]:
    """Codes of the rules that are not built in."""
    return [rule.code for rule in keeper.rules if rule not in BUILTIN]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The owner's folder."""
    folder = tmp_path / "config"
    folder.mkdir()
    return folder


def test_a_change_is_seen(config: Path, tmp_path: Path) -> None:
    """Once; an unchanged file is not read again."""
    keeper = RuleKeeper(config, str(tmp_path))
    first = keeper.look(), added(keeper)
    write(config, GOOD)
    second = keeper.look(), added(keeper)

    assert (first, second) == ((True, []), (True, ["OWN001"]))
    assert not keeper.look()


def test_a_bad_edit_keeps_the_good_rules_and_says_where(
    config: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """File, line, key and caret."""
    write(config, GOOD)
    keeper = RuleKeeper(config, str(tmp_path))
    keeper.look()
    write(config, GOOD.replace("age", "agee"))
    with caplog.at_level(logging.WARNING):
        changed = keeper.look()

    assert (changed, added(keeper)) == (False, ["OWN001"])
    reason = str(caplog.records[-1].__dict__["reason"])
    assert reason.startswith(f"{config}/koboshi.toml:4: rule.0.when: expected a name")
    assert reason.endswith("  agee > 1\n  ^")
    written = Line().format(caplog.records[-1]).split("\n")
    assert "did you mean 'age'?" in written[0]
    assert written[1:] == ["    agee > 1", "    ^"]


def test_a_file_that_is_no_toml_keeps_the_good_rules(config: Path, tmp_path: Path) -> None:
    """Half a file, as an editor leaves it."""
    write(config, GOOD)
    keeper = RuleKeeper(config, str(tmp_path))
    keeper.look()
    write(config, GOOD[:-5])

    assert not keeper.look()
    assert added(keeper) == ["OWN001"]


def test_rules_that_are_taken_out_are_gone(config: Path, tmp_path: Path) -> None:
    """Also with the whole file."""
    write(config, GOOD)
    keeper = RuleKeeper(config, str(tmp_path))
    keeper.look()
    (config / "koboshi.toml").unlink()

    assert keeper.look()
    assert added(keeper) == []


def test_files_are_looked_at_now_and_then(config: Path, tmp_path: Path) -> None:
    """Not at every look at the agent."""
    keeper = RuleKeeper(config, str(tmp_path))
    keeper.look()
    asked = [keeper.due(0.0)]
    write(config, GOOD)
    asked += [keeper.due(LOOK / 2), keeper.due(LOOK)]

    assert asked == [False, False, True]


def test_the_supervisor_gets_the_new_rules(config: Path, tmp_path: Path) -> None:
    """Without being started anew."""
    obeyed: list[tuple[Rule, ...]] = []

    class Listening:
        obey = staticmethod(obeyed.append)

    async def story() -> None:
        keeper = await kept(config, str(tmp_path))
        await keeper.renew(Listening())  # type: ignore[arg-type]
        write(config, GOOD)
        await keeper.renew(Listening())  # type: ignore[arg-type]

    asyncio.run(story())

    [rules] = obeyed
    assert rules[-1].code == "OWN001"


def test_a_person_s_word_goes_over_the_files(config: Path, tmp_path: Path) -> None:
    """Until it is taken back; the file stays as it is."""
    write(config, GOOD)
    keeper = RuleKeeper(config, str(tmp_path), tmp_path / "state")
    keeper.look()

    def observing() -> list[str]:
        return [rule.code for rule in keeper.rules if rule.observes]

    assert observing() == []
    switch(tmp_path / "state", "OWN001", "observe", 1.0)
    switch(tmp_path / "state", "RUN001", "observe", 2.0)
    assert keeper.due(LOOK * 2)
    assert keeper.look()
    assert observing() == ["RUN001", "OWN001"]
    switch(tmp_path / "state", "OWN001", "default", 3.0)
    assert keeper.look()
    assert observing() == ["RUN001"]
    assert (config / "koboshi.toml").read_text() == GOOD


def test_switches_that_cannot_be_read_keep_the_good_ones(
    config: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And that is told."""
    switch(tmp_path, "RUN001", "observe", 1.0)
    keeper = RuleKeeper(config, str(tmp_path), tmp_path)
    keeper.look()
    (tmp_path / "rules.json").write_text("{")
    with caplog.at_level(logging.WARNING):
        keeper.look()

    assert [rule.code for rule in keeper.rules if rule.observes] == ["RUN001"]
    assert "the last good ones hold" in caplog.text
