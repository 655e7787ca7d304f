"""The doctor names what is wrong, with its cure, and calls nothing ill that is well."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.cli.main import main
from koboshi.daemon.checkup import Check, Grade, examine
from koboshi.incidents.waiting import FOLDER, Parcel, Waiting
from tests.plugins.packages import Packages, packages

__all__ = ["packages"]


class Patient:
    """A machine as the doctor sees it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.config, self.state = folder / "home", folder / "config", folder / "state"
        self.bin = folder / "bin"
        for each in (self.home, self.config, self.bin):
            each.mkdir()
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("KOBOSHI_STATE", str(self.state))
        monkeypatch.setenv("KOBOSHI_CONFIG", str(self.config))
        monkeypatch.setenv("HOME", str(self.home))
        self.program("tmux", "tmux 3.4")

    def program(self, name: str, said: str) -> None:
        """A program that says that, whatever it is asked."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\necho '{said}'\n")
        path.chmod(0o755)

    def checks(self, about: str, grade: Grade | None = None) -> list[Check]:
        """What is said about one thing."""
        found = examine(self.state, self.config, self.home)
        return [c for c in found if c.about == about and grade in (None, c.grade)]

    def only(self, about: str) -> Check:
        """The one thing that is said about it."""
        [check] = self.checks(about)
        return check


@pytest.fixture
def patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Patient:
    """A machine with tmux and nothing else."""
    return Patient(tmp_path, monkeypatch)


def test_a_machine_with_tmux_alone_is_well(patient: Patient) -> None:
    """What is not installed is good to know, not wrong."""
    found = list(examine(patient.state, patient.config, patient.home))

    assert [c for c in found if c.grade is Grade.WRONG] == []
    assert patient.only("tmux").said.startswith("tmux 3.4")
    assert patient.only("claude").said == "is not installed"
    assert not patient.state.exists()


def test_no_tmux_and_an_old_tmux_are_wrong(patient: Patient) -> None:
    """With what to do."""
    patient.program("tmux", "tmux 2.9a")
    assert patient.only("tmux").said == "tmux 2.9a is too old"
    (patient.bin / "tmux").unlink()
    missing = patient.only("tmux")

    assert (missing.grade, missing.said) == (Grade.WRONG, "was not found")
    assert "--host pty" in missing.fix


def test_a_cli_is_told_with_its_version_and_its_signals(patient: Patient) -> None:
    """A version nobody tested is noted."""
    patient.program("claude", "2.1.325 (Claude Code)")
    patient.program("codex", "codex-cli 99.0.0")

    version, signals = patient.checks("claude")
    assert version.said.startswith("2.1.325 (")
    assert signals.said.startswith("signals: process, screen, title, registry, hooks")
    [strange] = patient.checks("codex", Grade.NOTE)
    assert "99.0.0" in strange.said
    assert "outside what was tested" in strange.said


def test_a_state_folder_that_others_can_enter_is_wrong(patient: Patient) -> None:
    """Journals tell what an agent was shown."""
    patient.state.mkdir(mode=0o755)
    patient.state.chmod(0o755)

    assert patient.only("state").fix == f"chmod 700 {patient.state}"
    patient.state.chmod(0o700)
    assert patient.only("state").grade is Grade.FINE


def test_a_broken_manifest_and_a_damaged_entry_are_named(patient: Patient) -> None:
    """With the file."""
    (patient.config / "adapters").mkdir()
    (patient.config / "adapters" / "claude.toml").write_text("versions = 3\n")
    entry = patient.state / "agents" / "a" / "entry.json"
    entry.parent.mkdir(parents=True)
    patient.state.chmod(0o700)
    entry.write_text("{")

    [broken] = patient.checks("claude", Grade.WRONG)
    assert "claude.toml" in broken.said
    assert str(entry) in patient.only("agents").said


def test_channels_and_mistakes_in_the_owners_file_are_told(patient: Patient) -> None:
    """None is good to know; one that cannot be used is wrong, and its address is not shown."""
    assert patient.only("notify").grade is Grade.NOTE
    file = patient.config / "koboshi.toml"
    file.write_text('[notify.channels.a]\nurl = "json://127.0.0.1/"\n')
    assert patient.only("notify") == Check(about="notify", grade=Grade.FINE, said="channels: a")
    file.write_text('[notify.channels.a]\nurl = "slack://hunter2secret/b/c"\n')
    [check] = patient.checks("config", Grade.WRONG)
    assert "notify.channels.a.url" in check.said
    assert "hunter2" not in check.said
    rule = "[[rule]]\ncode = 'OWN001'\nname = 'x'\nwhen = 'agee > 1'\nactions = ['notify']\n"
    file.write_text(rule)
    [check] = patient.checks("config", Grade.WRONG)
    assert check.said.endswith("did you mean 'age'?")


def test_bundles_that_wait_for_their_storage_are_told(patient: Patient) -> None:
    """None is nothing to tell; one that was not tried is good to know; one that failed is wrong."""
    waiting = Waiting(patient.state / FOLDER)
    assert patient.checks("uploads") == []
    first = Parcel(path="/b/1.tar.gz", agent="api", key="k", since=time.time() - 600, due=0.0)
    waiting.put(first)
    assert patient.only("uploads").grade is Grade.NOTE
    own = Waiting(patient.state / "agents" / "mine" / FOLDER)
    own.put(replace(first, path="/b/2.tar.gz", since=time.time()))
    waiting.failed(first, "the server says 403", time.time())

    check = patient.only("uploads")
    assert check.grade is Grade.WRONG
    assert check.said.startswith("2 bundle(s) wait for their storage, the oldest for 10 min")
    assert "the server says 403" in check.said
    assert "incidents.upload" in check.fix


def test_settings_that_are_in_the_way_are_told_with_a_cure(patient: Patient) -> None:
    """And a file that cannot be read."""
    (patient.home / ".claude").mkdir()
    (patient.home / ".claude" / "settings.json").write_text("{")

    told = [c for c in patient.checks("claude") if "settings.json" in c.said]

    assert [(c.grade, bool(c.fix)) for c in told] == [(Grade.NOTE, True)]


def test_the_command_says_it_in_words_and_in_json(
    patient: Patient, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Exit code 1 when something is wrong."""
    assert main(["doctor"]) == 0
    words = capfdbinary.readouterr().out.decode()
    os.remove(patient.bin / "tmux")  # noqa: PTH107
    assert main(["doctor", "--json"]) == 1
    facts = json.loads(capfdbinary.readouterr().out)

    assert "✔ tmux       tmux 3.4" in words
    [tmux] = [each for each in facts if each["about"] == "tmux"]
    assert (tmux["grade"], set(tmux)) == ("wrong", {"about", "grade", "said", "fix"})


def test_plug_ins_are_told_of(patient: Patient, packages: Packages) -> None:
    """What is loaded with its rules, what is broken and why; none is nothing to tell of."""
    assert patient.checks("plug-ins") == []
    packages.night()
    packages.broken()
    loaded, broken = patient.checks("plug-ins")

    assert (loaded.grade, loaded.said) == (Grade.FINE, "night (NGT001)")
    assert broken.grade is Grade.WRONG
    assert broken.said == (
        "plug-in 'moon' is skipped: ModuleNotFoundError: No module named 'no_moon'"
    )
    assert "uninstall" in broken.fix
