"""Plan files on disk: whole at every moment, and a person's edit is never lost."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from random import Random

import pytest

from koboshi.errors import FileUnreadable, KoboshiError, PlanDamaged
from koboshi.plans import PlanStatus, StepState, parse, render, set_actions, set_state
from koboshi.store import planfile, swapping
from koboshi.store.planfile import SETTLED, PlanFile, PlanWatch
from tests.plans.texts import M1

ROOT = Path(__file__).resolve().parents[2]
PLANNER = Path(__file__).parent / "programs" / "planner.py"


@pytest.fixture
def file(tmp_path: Path) -> PlanFile:
    """The documented plan, in a project of its own."""
    (tmp_path / "project").mkdir()
    path = tmp_path / "project" / "M1.md"
    path.write_bytes(M1.encode())
    return PlanFile(path, tmp_path / "locks")


def test_a_change_is_saved_and_nothing_else_is_left(file: PlanFile) -> None:
    """One file before, one after, with its mode."""
    file.path.chmod(0o640)
    plan = file.sound()

    saved = file.save(plan, set_state(plan, 2, StepState.DONE))

    assert saved.clashes == ()
    assert file.path.read_text() == M1.replace("[RUNNING]", "[DONE]")
    assert list(file.path.parent.iterdir()) == [file.path]
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o640


def test_an_edit_since_we_read_is_kept(file: PlanFile) -> None:
    """Both changes are in the file."""
    plan = file.sound()
    file.path.write_text(M1.replace("GOAL: ", "GOAL: 必ず"))

    file.save(plan, set_state(plan, 2, StepState.DONE))

    assert file.path.read_text() == M1.replace("GOAL: ", "GOAL: 必ず").replace(
        "[RUNNING]", "[DONE]"
    )


@pytest.mark.parametrize("swaps", [True, False])
def test_an_edit_in_the_very_moment_of_writing_is_kept(
    file: PlanFile, monkeypatch: pytest.MonkeyPatch, *, swaps: bool
) -> None:
    """Saved by an editor between our last look and our rename."""
    plan = file.sound()
    edits = [M1.replace("GOAL: ", "GOAL: 必ず"), M1.replace("GOAL: ", "GOAL: 絶対")]
    real = swapping.swap

    def late(made: Path, path: Path) -> bool:
        if edits:
            path.write_text(edits.pop(0))
        return real(made, path) if swaps else False

    monkeypatch.setattr(planfile, "swap", late)
    file.save(plan, set_state(plan, 2, StepState.DONE))

    assert edits == []
    assert file.path.read_text() == M1.replace("GOAL: ", "GOAL: 絶対").replace(
        "[RUNNING]", "[DONE]"
    )
    assert list(file.path.parent.iterdir()) == [file.path]


def test_a_conflict_waits_for_its_person(file: PlanFile) -> None:
    """Their words stand, both are shown."""
    plan = file.sound()
    file.path.write_text(M1.replace("LAST_ACTION: Step 2", "LAST_ACTION: I stopped step 2"))

    saved = file.save(plan, set_actions(plan, last="verified"))

    assert [clash.path for clash in saved.clashes] == [("LAST_ACTION",)]
    assert file.sound().status is PlanStatus.WAITING
    assert "LAST_ACTION: I stopped step 2" in file.path.read_text()
    assert "koboshi has 'verified', the file has 'I stopped step 2" in file.path.read_text()


def test_a_damaged_file_is_reported_and_left_alone(file: PlanFile) -> None:
    """Each fault with its line."""
    plan = file.sound()
    broken = M1.replace("[RUNNING]", "[RUN]").replace("STATUS: RUNNING", "STATUS: ???").encode()
    file.path.write_bytes(broken + b"\xff\n")

    with pytest.raises(PlanDamaged) as error:
        file.save(plan, set_state(plan, 2, StepState.DONE))

    assert [fault.partition(":")[0] for fault in error.value.faults] == [
        "line 1",
        "line 10",
        "line 30",
    ]
    assert file.path.read_bytes() == broken + b"\xff\n"
    assert render(file.read()).encode("utf-8", "surrogateescape") == broken + b"\xff\n"


def test_what_is_no_plan_file_is_an_error(tmp_path: Path) -> None:
    """Not there, a folder, a pipe, far too large."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"#" * (planfile.LARGEST + 1))
    for name in ("absent", ".", "pipe", "large"):
        with pytest.raises(FileUnreadable, match="expected a plan"):
            PlanFile(tmp_path / name, tmp_path / "locks").read()


def test_a_new_file_replaces_nothing(tmp_path: Path, file: PlanFile) -> None:
    """Neither one that is there."""
    new = PlanFile(tmp_path / "project" / "new.md", tmp_path / "locks")
    new.create(parse("STATUS: IDLE\n"))

    assert new.path.read_text() == "STATUS: IDLE\n"
    with pytest.raises(KoboshiError, match="is there already"):
        file.create(parse("STATUS: IDLE\n"))
    assert file.path.read_text() == M1
    assert {each.name for each in file.path.parent.iterdir()} == {"M1.md", "new.md"}


def test_a_link_to_a_plan_stays_one(tmp_path: Path, file: PlanFile) -> None:
    """What it points to is written."""
    (tmp_path / "link.md").symlink_to(file.path)
    linked = PlanFile(tmp_path / "link.md", tmp_path / "locks")

    linked.save(linked.sound(), set_state(linked.sound(), 2, StepState.DONE))

    assert (tmp_path / "link.md").is_symlink()
    assert "[DONE] Fix" in file.path.read_text()


def test_an_edit_is_told_once_when_the_file_is_still(file: PlanFile) -> None:
    """Our own writes are not told."""
    watch = PlanWatch(file)
    told = [watch.edited(0.0)]
    plan = file.sound()
    file.save(plan, set_state(plan, 2, StepState.DONE))
    watch.wrote()
    told += [watch.edited(1.0)]
    file.path.write_text(M1[:100])
    told += [watch.edited(2.0), watch.edited(2.0 + SETTLED / 2)]
    file.path.write_text(M1)
    told += [watch.edited(2.0 + SETTLED), watch.edited(2.0 + 2 * SETTLED), watch.edited(9.0)]

    assert told == [False, False, False, False, False, True, False]


def test_two_writers_wait_for_each_other(file: PlanFile) -> None:
    """Every save of both is there."""

    def add(key: str) -> None:
        for count in range(1, 21):
            plan = file.sound()
            last = {"last": f"{count}"} if key == "last" else {"following": f"{count}"}
            file.save(plan, set_actions(plan, **last))

    threads = [threading.Thread(target=add, args=(key,)) for key in ("last", "following")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (file.sound().last_action, file.sound().next_action) == ("20", "20")
    assert file.sound().status is PlanStatus.RUNNING


def killed(file: PlanFile, locks: Path, kills: int, seed: int) -> int:
    """Kill that many writers at random moments while the file is read all the time; reads."""
    draw, reads, said = Random(seed), 0, 0
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for _ in range(kills):
        argv = [sys.executable, str(PLANNER), str(file.path), str(locks)]
        with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            said = int(writer.stdout.readline())
            for _ in range(draw.randrange(1, 120)):
                plan = file.sound()
                reads += 1
                assert plan.current.command == "x" * ((plan.current.pid or 0) % 97)
            writer.kill()
            said = max([said, *(int(row) for row in writer.stdout if row.endswith("\n"))])
        plan = file.sound()
        assert (plan.current.pid or 0) - said in (0, 1)
        assert plan.last_action == f"saved {plan.current.pid}"
    return reads


def test_the_file_is_a_plan_at_every_moment_whoever_is_killed(
    tmp_path: Path, file: PlanFile
) -> None:
    """Nothing that was said to be saved is lost; what killed writers left is swept."""
    file.path.write_text(M1.replace("99356", "0").replace('"docs/edit', '"" # "docs/edit'))

    assert killed(file, tmp_path / "locks", kills=6, seed=1) >= 6
    plan = file.sound()
    file.save(plan, set_actions(plan, last="swept"))
    assert list(file.path.parent.iterdir()) == [file.path]


@pytest.mark.soak
def test_a_hundred_writers_are_killed(tmp_path: Path, file: PlanFile) -> None:
    """The same, at length."""
    file.path.write_text(M1.replace("99356", "0").replace('"docs/edit', '"" # "docs/edit'))

    assert killed(file, tmp_path / "locks", kills=100, seed=2) >= 100
