"""Equipment on its way to a run: written for nobody else, and never in the way of a start."""

from __future__ import annotations

import json
import logging
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.adapters.equipment import Equipment
from koboshi.adapters.registry import adapter
from koboshi.core.actions import Start
from koboshi.core.events import Ending, Origin
from koboshi.hosts.base import Launch, Place
from koboshi.performers import Gear, Program
from koboshi.performers.equipping import equipped, lay_out
from tests.performers.benches import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Claude Code's adapter, and a folder for its runs."""
    made = Bench()
    made.hands.adapter = adapter("claude")
    made.hands.program = Program(
        argv=("claude",), cwd=str(tmp_path), env={"X": "1"}, gear=Gear(folder=tmp_path / "gear")
    )
    return made


def test_files_are_private_and_old_ones_go(bench: Bench, tmp_path: Path) -> None:
    """They tell where a socket is; the run before may still need its own."""
    for run in (1, 2, 3):
        made = equipped(("claude",), run, bench.hands)
        assert lay_out(run, made, bench.hands)
    [path] = map(Path, made.files)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(path.read_text(encoding="utf-8"))["statusLine"]["type"] == "command"
    assert sorted(p.name for p in (tmp_path / "gear").iterdir()) == ["run-2", "run-3"]


def test_the_users_files_are_read_and_not_written(bench: Bench, tmp_path: Path) -> None:
    """A status line of his project is called by ours."""
    own = tmp_path / ".claude" / "settings.json"
    own.parent.mkdir()
    text = '{"statusLine": {"type": "command", "command": "mine"}}'
    own.write_text(text, encoding="utf-8")
    [made] = equipped(("claude",), 1, bench.hands).files.values()

    assert json.loads(made)["statusLine"]["command"].endswith(" statusline mine")
    assert own.read_text(encoding="utf-8") == text


def test_a_run_starts_with_its_equipment_or_without(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that cannot be made is told of, and the run is known by its screen alone."""
    launches: list[Launch] = []
    caplog.set_level(logging.WARNING)  # also where a simulation has turned logging off

    async def start(launch: Launch) -> Place:
        launches.append(launch)
        return Place(id="%9", agent="a", run=launch.run, pid=9)

    async def find(_agent: str) -> tuple[Place, ...]:
        return ()

    monkeypatch.setattr(bench.host, "start", start)
    monkeypatch.setattr(bench.host, "find", find)
    first = bench.perform(Start(run=2, origin=Origin.FRESH, session="s2"))
    bench.hands.place = None
    (tmp_path / "file").touch()
    bench.hands.program = replace(bench.hands.program, gear=Gear(folder=tmp_path / "file"))
    second = bench.perform(Start(run=3, origin=Origin.RESUMED, session="s2"))

    assert [first.ending, second.ending] == [Ending.DONE, Ending.DONE]
    assert launches[0].argv[:4] == ("claude", "--session-id", "s2", "--settings")
    assert launches[0].env["KOBOSHI_RUN_NUMBER"] == "2"
    assert launches[1].argv == ("claude", "--resume", "s2")
    assert [launch.base for launch in launches] == [{"X": "1"}, {"X": "1"}]
    said = launches[1].env
    assert (said["KOBOSHI_AGENT"], said["KOBOSHI_RUN_NUMBER"]) == ("a", "3")
    assert said["KOBOSHI_STATE"] == str(tmp_path.parent)
    assert ("KOBOSHI_HOOK_SHIM" in launches[0].env, "KOBOSHI_HOOK_SHIM" in said) == (False, True)
    [told] = [record for record in caplog.records if "not equipped" in record.message]
    assert (told.agent, told.run) == ("a", 3)  # type: ignore[attr-defined]


def test_without_gear_nothing_is_added(bench: Bench) -> None:
    """Simulations and plain programs."""
    bench.hands.program = Program(argv=("x",), cwd="w")

    assert equipped(("x",), 1, bench.hands) == Equipment(argv=("x",))
