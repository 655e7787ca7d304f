"""A state folder with the journal of one agent, `sim`."""

from pathlib import Path

import pytest

from tests.cli.journals import lay_down


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder; 80 columns, UTC."""
    folder = tmp_path / "state"
    lay_down(folder)
    monkeypatch.setenv("KOBOSHI_STATE", str(folder))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def journal(state: Path) -> Path:
    """The folder of its segments."""
    return state / "agents" / "sim" / "journal"
