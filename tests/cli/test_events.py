"""`koboshi events`: what was seen, a line each, now and as it comes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koboshi.cli.events import duration
from koboshi.core.actions import ACTION_KINDS
from koboshi.core.engine import World
from koboshi.core.events import Context, Event
from koboshi.daemon.supervisor import Supervisor
from koboshi.errors import JournalDamaged
from koboshi.store.history import follow
from koboshi.store.journal import Journal, Line, read
from koboshi.store.queries import with_context
from koboshi.store.tail import tail
from koboshi.testing import Night
from tests.cli.journals import bad_night, records, run

SRC = Path(__file__).parents[2] / "src"
KEYS = ["id", "type", "at", "utc", "severity", "payload", "context"]


def seen(journal: Path) -> list[dict[str, Any]]:
    """The events in the journal."""
    return [r for r in records(journal) if r["k"] in ("seen", "finished")]


def test_json_lines_have_exactly_the_public_keys(journal: Path) -> None:
    """Every event, in order, with what the journal says of it."""
    ran = run("events", "sim", "--json", "--all")

    assert (ran.code, ran.err) == (0, "")
    assert [list(event) for event in ran.lines] == [KEYS] * len(seen(journal))
    assert [(e["id"], e["utc"]) for e in ran.lines] == [
        (f"e{r['seq']}", r["utc"]) for r in seen(journal)
    ]


def test_the_context_is_what_the_engine_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folded again over several supervisors' lives, it is what `step` saw then."""
    night = Night(1)
    heard: dict[int, Context] = {}
    last: set[int] = set()  # what each supervisor found written when it began

    def listen(event: Event, *_: object) -> None:
        heard[event.seq] = event.context

    assemble = night._assemble  # noqa: SLF001

    def listening(world: World, journal: Journal) -> Supervisor:
        last.add(world.seq)
        supervisor = assemble(world, journal)
        supervisor._listen = listen  # noqa: SLF001
        return supervisor

    monkeypatch.setattr(night, "_assemble", listening)
    night.run()
    told = {e.seq: e.context for e, _ in with_context(follow(read(night.shelf), ()))}

    assert len(told) > 20
    assert any(context.lines for context in told.values())
    # Killed with its pen in the hand: that one is written, and nobody heard of it.
    assert told.keys() - heard.keys() <= last
    both = told.keys() & heard.keys()
    assert {seq: told[seq] for seq in both} == {seq: heard[seq] for seq in both}


def test_outcomes_name_the_kind_of_their_action(state: Path) -> None:
    """`payload.action.kind`."""
    assert state.is_dir()
    ended = run("events", "sim", "--json", "--type", "action-finished").lines

    assert ended
    assert {e["type"] for e in ended} == {"action-finished"}
    assert [e for e in ended if e["payload"]["action"]["kind"] not in ACTION_KINDS] == []


def test_people_get_a_line_per_event_without_the_looks_that_showed_nothing_new(
    journal: Path,
) -> None:
    """`--all` shows those too; `--type` asks for them by name."""
    same = [r for r in seen(journal) if r.get("type") == "screen-same"]
    count = len(seen(journal))

    assert same
    assert len(run("events", "sim").out.splitlines()) == count - len(same)
    assert len(run("events", "sim", "--all").out.splitlines()) == count
    assert len(run("events", "sim", "--type", "screen-same").out.splitlines()) == len(same)
    both = run("events", "sim", "--type", "run-exited", "--type", "run-started").lines_of()
    assert {line.split()[4] for line in both} == {"run-exited", "run-started"}


def test_a_bad_exit_is_p0(state: Path) -> None:
    """Time, id, severity, type, words."""
    assert state.is_dir()
    lines = run("events", "sim", "--type", "run-exited").lines_of()
    bad = next(line for line in lines if "as meant" not in line)

    assert bad.split()[3:5] == ["P0", "run-exited"]
    assert " ended: " in bad


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("15m", 900), ("1h", 3600), ("1h30m", 5400), ("2d", 172800), ("1.5h", 5400)],
)
def test_durations(text: str, seconds: float) -> None:
    """A number and a unit, or several."""
    assert duration(text) == seconds


def test_since_shows_the_last_part(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the wall clock; the context is still complete."""
    last = seen(journal)[-1]["utc"]
    monkeypatch.setattr("koboshi.cli.events.time.time", lambda: last + 10)
    late = run("events", "sim", "--all", "--json", "--since", "1m").lines

    assert [e["id"] for e in late] == [
        f"e{r['seq']}" for r in seen(journal) if r["utc"] >= last - 50
    ]
    everything = {e["id"]: e for e in run("events", "sim", "--all", "--json").lines}
    assert late == [everything[e["id"]] for e in late]
    monkeypatch.setattr("koboshi.cli.events.time.time", lambda: last + 40 * 86400)
    assert run("events", "sim", "--since", "2d").out == ""
    assert len(run("events", "sim", "--all", "--since", "90d").lines_of()) == len(seen(journal))


# --- as it comes ---------------------------------------------------------------------------------


class Typist:
    """Writes a journal piece by piece, one piece per wait; then stops the reader."""

    def __init__(self, folder: Path, pieces: Iterator[tuple[str, bytes]]) -> None:
        self.folder = folder
        self.pieces = pieces

    def wait(self) -> None:
        """Write the next piece."""
        try:
            name, piece = next(self.pieces)
        except StopIteration:
            raise KeyboardInterrupt from None
        with (self.folder / name).open("ab") as stream:
            stream.write(piece)


def read_along(folder: Path, pieces: Iterator[tuple[str, bytes]]) -> list[Line]:
    """What `tail` sees while the typist writes."""
    along: list[Line] = []
    with pytest.raises(KeyboardInterrupt):
        along.extend(tail(folder, Typist(folder, pieces).wait))
    return along


@pytest.mark.parametrize("size", [7, 1000, 10**9])
def test_following_sees_each_record_once_whatever_the_pieces(tmp_path: Path, size: int) -> None:
    """Half lines wait for their rest; a new segment is gone on with, a torn end left behind."""

    def pieces() -> Iterator[tuple[str, bytes]]:
        for name, content in bad_night().items():
            for at in range(0, len(content), size):
                yield name, content[at : at + size]

    folder = tmp_path / "journal"
    folder.mkdir()
    along = read_along(folder, pieces())
    # What was written and closed is read to its end; the open one waits at half a line.
    whole = list(tail(folder))

    assert along == whole[: len(along)]
    assert len(whole) - len(along) <= 1


def test_damage_is_damage_once_something_stands_behind_it(tmp_path: Path) -> None:
    """A bad line at the end may be torn; in the middle it is named."""
    (name, content), *_ = bad_night().items()
    first = content[: content.index(b"\n") + 1]

    assert len(read_along(tmp_path, iter([(name, first), (name, b'{"k":"se\n')]))) == 1
    more = Typist(tmp_path, iter([(name, b'{"k":"se\n')]))
    with pytest.raises(JournalDamaged, match=f"{name}, line 2: "):
        list(tail(tmp_path, more.wait))


def test_a_segment_that_retention_took_away_is_no_error(tmp_path: Path) -> None:
    """The reader goes on with what is there."""
    names = list(bad_night())

    def pieces() -> Iterator[tuple[str, bytes]]:
        yield names[0], bad_night()[names[0]]
        (tmp_path / names[0]).unlink()
        yield names[1], bad_night()[names[1]]
        yield names[1], b""

    along = read_along(tmp_path, pieces())

    assert {line.segment for line in along} == set(names[:2])


def test_a_segment_that_goes_between_listing_and_reading_is_passed_over(journal: Path) -> None:
    """Retention may remove it at any moment."""
    names = sorted(p.name for p in journal.iterdir())
    lines = tail(journal)
    assert next(lines).segment == names[0]
    (journal / names[1]).unlink()

    assert {line.segment for line in lines} == {names[0], *names[2:]}


def test_segments_are_followed_by_number_not_by_letters(tmp_path: Path) -> None:
    """The ten-thousandth of a day comes after the one before it."""
    contents = list(bad_night().values())[:2]
    names = ["2027-01-15.9999.jsonl", "2027-01-15.10000.jsonl"]
    along = read_along(tmp_path, iter(zip(names, contents, strict=True)))

    assert list(dict.fromkeys(line.segment for line in along)) == names
    assert list(dict.fromkeys(line.segment for line in tail(tmp_path))) == names


def test_follow_prints_each_line_at_once(state: Path, journal: Path) -> None:
    """Through a pipe, over a new segment, until it is told to stop."""
    names = sorted(p.name for p in journal.iterdir())
    held_back = (journal / names[-1]).read_bytes()
    (journal / names[-1]).unlink()
    expected = [r["seq"] for r in seen(journal)]
    with subprocess.Popen(
        [sys.executable, "-m", "koboshi", "events", "sim", "--follow", "--json", "--all"],
        # Buffered, as in a shell.
        env={
            **os.environ,
            "PYTHONPATH": str(SRC),
            "KOBOSHI_STATE": str(state),
            "PYTHONUNBUFFERED": "",
        },
        stdout=subprocess.PIPE,
    ) as ran:
        assert ran.stdout is not None
        alarm = threading.Timer(20, ran.kill)  # a line that does not come must not be waited for
        alarm.start()
        try:
            before = [_id(ran.stdout.readline()) for _ in expected]
            (journal / names[-1]).write_bytes(held_back)
            after = _id(ran.stdout.readline())
        finally:
            alarm.cancel()
            ran.kill()

    assert [*before, after] == [f"e{s}" for s in [*expected, expected[-1] + 1]]


def _id(line: bytes) -> str:
    return str(json.loads(line)["id"]) if line else "nothing came"
