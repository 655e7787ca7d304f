"""Provisioning leaves nothing half done and gives a reason for what it cannot bring."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from scripts import provision
from scripts.provision import Unavailable


@pytest.fixture(autouse=True)
def _own_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provision, "NOTES", tmp_path)
    monkeypatch.setattr(provision, "STATE", tmp_path / "state.json")


def test_a_new_folder_appears_whole(tmp_path: Path) -> None:
    """Until the block ends, nobody finds it under its name."""
    final = tmp_path / "cache" / "thing"
    with provision.new_folder(final) as draft:
        (draft / "file").write_text("x")
        assert not final.exists()

    assert [path.name for path in final.parent.rglob("*")] == ["thing", "file"]


def test_a_new_folder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """The next run starts from the beginning."""
    final = tmp_path / "cache" / "thing"
    with pytest.raises(FileNotFoundError), provision.new_folder(final) as draft:
        (draft / "no such folder" / "file").touch()

    assert list(final.parent.iterdir()) == []


def test_of_two_that_make_the_same_folder_the_first_stays(tmp_path: Path) -> None:
    """Two checkouts may provision at the same time."""
    final = tmp_path / "thing"
    with provision.new_folder(final) as draft:
        (draft / "mine").touch()
        final.mkdir()
        (final / "theirs").touch()

    assert [path.name for path in tmp_path.iterdir()] == ["thing"]
    assert [path.name for path in final.iterdir()] == ["theirs"]


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    """A timeout does not leave an npm behind."""
    pids = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {pids}; wait"
    for seconds in (1, 5, 30):  # a shell may be slow to start what is to be ended with it
        with pytest.raises(Unavailable, match=f"took longer than {seconds} s"):
            provision.run(["sh", "-c", script], log=tmp_path / "log", seconds=seconds, cwd=tmp_path)
        if pids.exists() and pids.read_text():
            break

    assert ends(int(pids.read_text()))


def ends(pid: int) -> bool:
    """Whether a process is gone, or a zombie that waits for init, within half a minute."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        state = provision.ask(["ps", "-o", "stat=", "-p", str(pid)])
        if not state or state.startswith("Z"):
            return True
        time.sleep(0.02)
    return False


def test_what_cannot_be_had_is_recorded_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lane is skipped with these words."""

    def get() -> Path:
        provision.run([sys.executable, "-c", "exit('no route')"], log=provision.log_of("thing"))
        return tmp_path

    provision.remember({"other": {"path": "/there"}})
    provision.remember({"thing": provision.may("thing", get)})

    reason = f"{Path(sys.executable).name} ended with status 1"
    expected = {"other": {"path": "/there"}, "thing": {"reason": reason}}
    assert json.loads(provision.STATE.read_text()) == expected
    assert "    | no route" in capsys.readouterr().out


@pytest.mark.parametrize("targets", [[], ["tmux", "bogus"]])
def test_an_unknown_target_is_refused_before_anything_is_done(targets: list[str]) -> None:
    """The message lists what there is."""
    with pytest.raises(SystemExit, match=r"expected one or more of: runtime dev pins tmux"):
        provision.main(targets)
