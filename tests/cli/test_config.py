"""`koboshi config`: what is set, where it comes from, what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from koboshi.config.variables import FIELDS
from tests.cli.journals import run
from tests.cli.test_main import ENVIRONMENT, imported_by


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the user's own file; the current one is the project's."""
    monkeypatch.setenv("KOBOSHI_CONFIG", str(tmp_path / "own"))
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    (tmp_path / "own").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def test_every_value_is_shown_with_its_origin(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an agent would get that is started here."""
    (home / "own" / "koboshi.toml").write_text('idle_after = "5m"\n')
    monkeypatch.setenv("KOBOSHI_RUN_MAX", "1h30m")
    ran = run("config")

    assert (ran.code, ran.err) == (0, "")
    rows = {row.split()[0]: row.split()[1:] for row in ran.lines_of()}
    assert list(rows) == list(FIELDS)
    assert rows["idle_after"] == ["5m", f"{home}/own/koboshi.toml:1"]
    assert rows["run_max"] == ["1h30m", "KOBOSHI_RUN_MAX"]
    assert rows["quiet"] == ["3s", "default"]
    assert rows["save_every"] == ["15m", "default"]


def test_json_says_the_same(home: Path) -> None:
    """One object."""
    (home / "own" / "koboshi.toml").write_text('mode = "auto"\nidle_after = 5\nx = 1\n')
    ran = run("config", "--json")

    facts = {each["key"]: each for each in ran.json["values"]}
    assert (ran.code, ran.err) == (0, "")
    assert facts["idle_after"]["value"] == 5.0
    assert facts["mode"] == {
        "key": "mode",
        "value": "auto",
        "shown": "auto",
        "from": f"{home}/own/koboshi.toml:1",
    }
    [mistake] = ran.json["mistakes"]
    assert (mistake["line"], mistake["key"], mistake["came"]) == (3, "x", "'x'")


def test_a_check_tells_all_mistakes_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both files and the environment; exit 1."""
    (home / "own" / "koboshi.toml").write_text("idle_aftr = 5\n")
    (home / "project" / "koboshi.toml").write_text('\nmode = "auto"\nrun_max = "x"\n')
    monkeypatch.setenv("IDLE_SECS", "soon")
    monkeypatch.setenv("KOBOSHI_RUN_MX", "5")
    ran = run("config", "--check")

    assert (ran.code, ran.out) == (1, "")
    said = ran.err.splitlines()
    assert [line.partition(": expected")[0] for line in said[:3]] == [
        f"koboshi: {home}/own/koboshi.toml:1: idle_aftr",
        "koboshi: environment: IDLE_SECS",
        f"koboshi: {home}/project/koboshi.toml:3: run_max",
    ]
    assert "koboshi.toml:2: mode is ignored: the file of a project may not raise this" in said[3]
    assert said[4].endswith("KOBOSHI_RUN_MX is not known; did you mean 'KOBOSHI_RUN_MAX'?")


def test_a_file_is_checked(home: Path) -> None:
    """Wherever it is; and there must be one."""
    path = home / "draft.toml"
    path.write_text('mode = "keep"\n')
    fine = run("config", "--check", str(path))
    assert (fine.code, fine.out) == (0, "no mistakes\n")

    path.write_text("mode = keep\n")
    wrong = run("config", "--check", str(path), "--json")
    assert (wrong.code, wrong.err) == (1, "")
    assert json.loads(wrong.out)["mistakes"][0]["line"] == 1

    missing = run("config", "--check", "nothing.toml")
    assert (missing.code, missing.err) == (2, "koboshi: nothing.toml: no such file\n")


def test_an_unknown_agent_is_a_sentence(home: Path) -> None:
    """No daemon is started for one."""
    ran = run("config", "nobody")

    assert (ran.code, "expected the name of an agent, not 'nobody'" in ran.err) == (2, True)
    assert not (home / "state").exists()


def test_a_hostile_key_does_not_move_the_terminal(home: Path) -> None:
    """Nor does it look like a line of ours."""
    (home / "project" / "koboshi.toml").write_text('"\\u001b[2J\\nkoboshi: all is well" = 1\n')
    ran = run("config")

    assert "\x1b" not in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["ls"], ["run"], ["watch"]])
def test_pydantic_is_not_loaded_for_others(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a tenth of a second."""
    monkeypatch.setitem(ENVIRONMENT, "KOBOSHI_STATE", str(tmp_path))
    loaded = imported_by(*argv)

    assert "koboshi.cli.main" in loaded
    assert {module for module in loaded if module.partition(".")[0] == "pydantic"} == set()
