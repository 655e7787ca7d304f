"""Packages that bring plug-ins, as a person would have installed them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.plugins.manager import installed

NIGHT = '''"""A plug-in with one rule."""
from koboshi.core.actions import Notify
from koboshi.core.events import Severity
from koboshi.plugins import Proposal, rule


@rule("NGT001", "night-fell", Severity.P1, listens=("^starting",))
def night_fell(view, now):
    """It is night."""
    if not view.echoes and not view.run.number:
        return None
    note = Notify(about=f"{view.run.number}.night", text="night", severity=Severity.P1)
    return Proposal(message="it is night", actions=(note,))
'''


class Packages:
    """What is installed besides."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def install(self, name: str, code: str) -> None:
        """A package of that name whose module is such a plug-in."""
        (self._folder / f"{name}_plugin.py").write_text(code)
        meta = self._folder / f"{name}_plugin-1.0.dist-info"
        meta.mkdir()
        (meta / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}-plugin\nVersion: 1.0\n"
        )
        (meta / "entry_points.txt").write_text(f"[koboshi]\n{name} = {name}_plugin\n")
        installed.cache_clear()

    def night(self) -> None:
        """One that works."""
        self.install("night", NIGHT)

    def broken(self) -> None:
        """One that does not even load."""
        self.install("moon", "import no_moon\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    """A folder of packages, in front of all others."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    installed.cache_clear()
    yield Packages(folder)
    installed.cache_clear()
