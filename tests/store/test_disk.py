"""The real disk: modes, durability, a full disk, and writers that are killed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from koboshi.core.events import PersonTyped
from koboshi.store.history import load
from koboshi.store.shelves import DiskShelf
from tests.store.shelves import BLANK, START, Writer

ROOT = Path(__file__).resolve().parents[2]
MORTAL = Path(__file__).parent / "programs" / "mortal.py"


def run(*argv: str, timeout: float = 100.0) -> subprocess.CompletedProcess[str]:
    """A Python program of ours, to its end."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.run(
        [sys.executable, *argv], env=env, capture_output=True, text=True, timeout=timeout,
        check=False,
    )  # fmt: skip


def test_a_journal_on_disk_is_the_owners_alone(tmp_path: Path) -> None:
    """Folder 0700, files 0600, whatever the umask."""
    before = os.umask(0)
    try:
        shelf = DiskShelf(tmp_path / "journal")
        shelf.create("2026-10-26.0001.jsonl", b"{}\n")
    finally:
        os.umask(before)

    modes = [stat.S_IMODE(file.stat().st_mode) for file in shelf.folder.iterdir()]
    assert stat.S_IMODE(shelf.folder.stat().st_mode) == 0o700
    assert set(modes) == {0o600}


def test_a_shelf_keeps_what_it_is_given(tmp_path: Path) -> None:
    """Create, append, read, list in order, remove."""
    shelf = DiskShelf(tmp_path / "j")
    empty = shelf.names()
    for day in ("27", "26"):
        shelf.create(f"2026-10-{day}.0001.jsonl", b"a\n")
        shelf.append(f"2026-10-{day}.0001.jsonl", b"b\n", sync=True)
    shelf.append("2026-10-27.0001.jsonl", b"c\n", sync=False)
    names = shelf.names()
    shelf.remove(names[0])
    shelf.remove("never there")
    shelf.close()

    assert (empty, names) == ((), ("2026-10-26.0001.jsonl", "2026-10-27.0001.jsonl"))
    assert shelf.names() == names[1:]
    assert shelf.read(names[1]) == b"a\nb\nc\n"


def test_an_unfinished_segment_is_not_one(tmp_path: Path) -> None:
    """What a killed `create` leaves behind is not read."""
    (tmp_path / ".2026-10-26.0001.jsonl.new").write_bytes(b"half")

    assert DiskShelf(tmp_path).names() == ()


def test_a_journal_on_disk_gives_the_world_back(tmp_path: Path) -> None:
    """The real shelf under the real journal."""
    writer = Writer(DiskShelf(tmp_path / "j"))  # type: ignore[arg-type]
    writer.story()

    assert load(DiskShelf(tmp_path / "j"), BLANK, START).world == writer.world


FULL = """
import errno, resource, sys
from pathlib import Path
from koboshi.core.events import PersonTyped
from koboshi.store.shelves import DiskShelf
from tests.store.shelves import Writer

writer = Writer(DiskShelf(Path(sys.argv[1])))
[segment] = writer.shelf.folder.glob("*.jsonl")
most = segment.stat().st_size + 250
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
refused = 0
for _ in range(9):
    size = segment.stat().st_size
    try:
        writer.tell(PersonTyped())
    except OSError as error:
        assert error.errno == errno.EFBIG, error
        assert segment.stat().st_size == size, "half a line was left"
        refused += 1
assert refused, "the file never was too big"
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
writer.tell(PersonTyped())
print(writer.world.seq)
"""


def test_a_disk_that_takes_half_a_line_keeps_none_of_it(tmp_path: Path) -> None:
    """A write that was cut short is taken back, and the journal goes on when there is room."""
    result = run("-c", FULL, str(tmp_path / "j"))

    assert result.returncode == 0, result.stderr
    world = load(DiskShelf(tmp_path / "j"), BLANK, START).world
    assert world.seq == int(result.stdout)


SMALL = """
import errno, os, subprocess, sys
from pathlib import Path
from koboshi.core.events import LinesHeard, Heard, Origin, RunExited, RunStarted
from koboshi.core.readings import Reading, Status
from koboshi.store import shelves
from koboshi.store.history import load
from koboshi.store.shelves import DiskShelf
from tests.store.shelves import BLANK, START, Writer

folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], check=True)
shelves.LOW = 400 << 10
import koboshi.store.journal as journal
journal.LOW, journal.LOOK = shelves.LOW, 0
shelf = DiskShelf(folder / "j")
writer = Writer(shelf)
assert (folder / "j" / ".reserve").stat().st_size == shelves.RESERVE
writer.tell(RunStarted(run=1, origin=Origin.FIRST, session="s1"))
rows = tuple(f"row {n} " + "x" * 60 for n in range(40))

def screen(n):
    shown = Reading(status=Status.WORKING, lines=(str(n), *rows), evidence=("e",) * 3)
    return writer.look(shown, f"d{n}")

sizes = []
for n in range(200):  # an agent prints
    [segment] = folder.glob("j/*.jsonl")
    before = segment.stat().st_size
    writer.tell(screen(n))
    sizes.append(segment.stat().st_size - before)
whole, bare = sizes[2], sizes[-1]
assert bare < whole / 5, sizes
assert writer.journal.low

# Somebody else fills the rest.
filler = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT)
try:
    while True:
        os.write(filler, b"x" * 4096)
except OSError as error:
    assert error.errno == errno.ENOSPC
refused = 0
for n in range(1000, 1010):
    try:
        writer.tell(screen(n))
    except OSError as error:
        assert error.errno == errno.ENOSPC, error
        refused += 1
assert refused, "details were still written"
assert (folder / "j" / ".reserve").exists(), "details used up the reserve"
writer.tell(RunExited(run=1, signal=9))  # durable, with all that is decided about it
assert not (folder / "j" / ".reserve").exists()
left = DiskShelf(folder / "j")
found = load(left, BLANK, START).world
assert found.seq == writer.world.seq, (found.seq, writer.world.seq)
assert found.view.run.exit is not None
assert found.ledger == writer.world.ledger
(folder / "filler").unlink()
writer.tell(screen(2000))
assert load(DiskShelf(folder / "j"), BLANK, START).world.seq == writer.world.seq
print("kept")
"""


def test_a_disk_that_fills_up_loses_details_first_and_no_decision(tmp_path: Path) -> None:
    """On a real small disk: first what agents print goes, then the reserve, for decisions."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here, and so no small disk")
    probe = subprocess.run(
        ["unshare", "-Urm", "mount", "-t", "tmpfs", "none", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if probe.returncode:
        pytest.skip(f"no small disk can be made here: {probe.stderr.strip()}")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    result = subprocess.run(
        ["unshare", "-Urm", sys.executable, "-c", SMALL, str(tmp_path)],
        env=env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (result.returncode, result.stdout) == (0, "kept\n"), result.stderr


def test_a_new_segment_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    """A create that fails leaves no name behind."""
    shelf = DiskShelf(tmp_path)
    (tmp_path / ".x.jsonl.new").mkdir()  # in the way of the temporary file

    with pytest.raises(OSError, match="directory"):
        shelf.create("x.jsonl", b"{}\n")

    assert shelf.names() == ()


def test_writers_killed_at_random_lose_nothing_they_performed(tmp_path: Path) -> None:
    """Thirty kills by SIGKILL: each time the journal loads and knows of every performed action."""
    result = run(str(MORTAL), str(tmp_path / "j"), "30", "1")

    assert result.returncode == 0, result.stdout + result.stderr
    assert int(result.stdout) >= 30


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_hundreds_of_killed_writers_lose_nothing(tmp_path: Path) -> None:
    """The full size of the test above."""
    result = run(str(MORTAL), str(tmp_path / "j"), "500", "2", timeout=3500.0)

    assert result.returncode == 0, result.stdout + result.stderr


def test_an_event_after_a_restart_goes_on_counting(tmp_path: Path) -> None:
    """Two writers, one after the other."""
    first = Writer(DiskShelf(tmp_path / "j"))  # type: ignore[arg-type]
    first.tell(PersonTyped())
    shelf = DiskShelf(tmp_path / "j")
    second = Writer(shelf, world=load(shelf, BLANK, START).world)  # type: ignore[arg-type]
    second.tell(PersonTyped())

    assert load(shelf, BLANK, START).world.seq == 2
    assert len(shelf.names()) == 2
