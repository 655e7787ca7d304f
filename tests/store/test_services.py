"""Units that bring koboshi back after a reboot."""

from __future__ import annotations

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from koboshi.errors import InputError
from koboshi.store.services import remove, service, write

COMMAND = ("/opt/my env/python", "-m", "koboshi")
AROUND = {"PATH": "/a b:/usr/bin", "KOBOSHI_STATE": "/tmp/50%"}


def test_units_for_systemd_are_written_and_taken_away(tmp_path: Path) -> None:
    """Agents are not ended with the unit; what it is called with is quoted."""
    found = service("systemd", tmp_path, COMMAND, AROUND)
    write(found.units)
    write(found.units)
    folder = tmp_path / ".config" / "systemd" / "user"
    daemon = (folder / "koboshi.service").read_text()

    assert sorted(path.name for path in folder.iterdir()) == [
        "koboshi-plans.service",
        "koboshi-plans.timer",
        "koboshi.service",
    ]
    assert 'ExecStart="/opt/my env/python" "-m" "koboshi" "daemon" "run"\n' in daemon
    assert 'Environment="KOBOSHI_STATE=/tmp/50%%"\n' in daemon
    assert "KillMode=process\n" in daemon
    assert "Restart=always\n" in daemon
    assert '"loop" "resume" "--all"' in (folder / "koboshi-plans.service").read_text()
    assert len(remove(found.units)) == 3
    assert list(folder.iterdir()) == []


def test_systemd_reads_its_units(tmp_path: Path) -> None:
    """As far as it is here to be asked."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not there")
    found = service("systemd", tmp_path, ("/bin/sh",), AROUND)
    write(found.units)
    ran = subprocess.run(
        [analyze, "verify", "--user", *(str(unit.path) for unit in found.units)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "koboshi" not in ran.stderr


def test_agents_of_launchd_are_read_by_plistlib(tmp_path: Path) -> None:
    """With every sign in its place."""
    found = service("launchd", tmp_path, ("/a & b/python",), {"X": "<1>"})
    write(found.units)
    folder = tmp_path / "Library" / "LaunchAgents"
    daemon = plistlib.loads((folder / "koboshi.daemon.plist").read_bytes())
    plans = plistlib.loads((folder / "koboshi.plans.plist").read_bytes())

    assert daemon["ProgramArguments"] == ["/a & b/python", "daemon", "run"]
    assert daemon["EnvironmentVariables"] == {"X": "<1>"}
    assert (daemon["KeepAlive"], daemon["AbandonProcessGroup"]) == (True, True)
    assert plans["ProgramArguments"][1:] == ["loop", "resume", "--all"]
    assert plans["StartInterval"] == 60


def test_lines_for_cron_are_printed() -> None:
    """A percent sign is escaped, a blank is quoted."""
    found = service("cron", Path("/home/x"), COMMAND, AROUND)

    assert found.units == ()
    assert found.hints[1] == (
        "@reboot env 'PATH=/a b:/usr/bin' KOBOSHI_STATE=/tmp/50\\% '/opt/my env/python'"
        " -m koboshi daemon start"
    )


def test_somebody_elses_file_is_left_alone(tmp_path: Path) -> None:
    """Neither written over nor removed, and nothing else is written."""
    found = service("systemd", tmp_path, COMMAND, AROUND)
    theirs = found.units[2].path
    theirs.parent.mkdir(parents=True)
    theirs.write_text("[Timer]\n")

    for act in (write, remove):
        with pytest.raises(InputError, match="is there and is not ours"):
            act(found.units)
    assert list(theirs.parent.iterdir()) == [theirs]
