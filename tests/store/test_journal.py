"""The journal: what is durable when, what survives a cut, a damage, a full disk and a clean-up."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.core.actions import ACTION_KINDS, Action, Send
from koboshi.core.engine import World, happen, step
from koboshi.core.events import (
    Ending,
    Moment,
    Order,
    OrderGiven,
    Origin,
    PersonTyped,
    RunExited,
    RunStarted,
    ScreenRead,
    Ticked,
)
from koboshi.core.readings import Reading, Status
from koboshi.core.view import evolve
from koboshi.daemon.supervisor import Supervisor
from koboshi.errors import JournalDamaged, JournalError, JournalTooNew, SnapshotDamaged
from koboshi.store import wire
from koboshi.store.history import load
from koboshi.store.journal import LOOK, Journal, expired, read, read_segment
from koboshi.store.shelves import LOW
from koboshi.testing import MemoryShelf, Night
from tests.core.worlds import UTC, asking, outcome, reading
from tests.store.shelves import BLANK, START, RecordingShelf, Writer

DAY = 86_400.0


def written() -> Writer:
    """A small real journal."""
    writer = Writer(MemoryShelf())
    writer.story()
    return writer


def holding(content: dict[str, bytes]) -> MemoryShelf:
    """A shelf with those segments."""
    shelf = MemoryShelf()
    for name, each in content.items():
        shelf.create(name, each)
    return shelf


# -- durability -----------------------------------------------------------------------------------


def test_decisions_marks_and_outcomes_are_durable_and_looks_are_not() -> None:
    """What depends on it waits for the disk; what a later look shows again does not."""
    shelf = RecordingShelf()
    writer = Writer(shelf)

    writer.story()

    expected = {
        (("seen",), False): "a look",
        (("seen",), True): "a run that started or ended",
        (("seen", "admitted"), True): "a decision",
        (("touched",), True): "a mark",
        (("finished",), True): "an outcome",
        (("finished", "held"), True): "an outcome and what it held up",
        (("seen", "held"), True): "an exit and what it held up",
        (("seen", "held", "admitted", "admitted"), True): "and what is told and kept of it",
    }
    assert set(shelf.wrote) <= set(expected)
    assert {(("seen", "admitted"), True), (("touched",), True)} <= set(shelf.wrote)


def test_a_decision_is_on_the_disk_before_its_mark_and_its_outcome_after() -> None:
    """Write the decision, then act, then write the outcome (law 5)."""
    shelf = RecordingShelf()

    Writer(shelf).story()

    stages = ("admitted", "touched", "finished")
    order: dict[str, list[str]] = {}
    for record in (json.loads(line) for line in b"".join(shelf.segments.values()).splitlines()):
        if record["k"] in stages:
            action = dict(record.get("action") or {})
            key = record.get("key") or ACTION_KINDS[action.pop("kind")](**action).key
            order.setdefault(key, []).append(record["k"])
    assert order
    assert all(found == list(stages) for found in order.values()), order


@pytest.mark.parametrize(
    ("body", "durable"),
    [
        (RunStarted(run=2, origin=Origin.FRESH), True),
        (RunExited(run=1, code=0, meant=True), True),
        (OrderGiven(order=Order.PAUSE), True),
        (outcome(Send(run=1, text="t", about="a")), True),
        (PersonTyped(), False),
    ],
)
def test_what_no_later_look_would_show_is_durable(body: object, *, durable: bool) -> None:
    """A person's key shows as a draft or not at all; a start shows nowhere again."""
    shelf = RecordingShelf()
    writer = Writer(shelf)
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))
    shelf.wrote.clear()

    writer.tell(body)  # type: ignore[arg-type]

    assert shelf.wrote[0][1] is durable


# -- loading --------------------------------------------------------------------------------------


def test_without_a_journal_there_is_the_blank_world() -> None:
    """A first start."""
    recovered = load(MemoryShelf(), BLANK, START)

    assert (recovered.world, recovered.last, recovered.warnings) == (BLANK, START, ())


def test_load_gives_the_world_that_was_written() -> None:
    """Exactly, within one segment."""
    writer = written()

    recovered = load(writer.shelf, BLANK, START)

    assert recovered.world == writer.world
    assert recovered.last == writer.now


@pytest.mark.parametrize("seed", range(1, 9))
def test_load_equals_the_live_world_after_each_event(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over whole nights with kills and full disks: absorb makes what step made."""
    take, compared = Supervisor.take, 0

    def checked(self: Supervisor, body: object) -> bool:
        nonlocal compared
        written = take(self, body)  # type: ignore[arg-type]
        if compared < 200:
            compared += 1
            assert load(night.shelf, blank, START).world == self.world
        return written

    night = Night(seed)
    blank = evolve(BLANK, view=evolve(BLANK.view, settings=night.settings))
    monkeypatch.setattr(Supervisor, "take", checked)
    night.run()

    assert compared > 20


def test_new_settings_replace_the_written_ones() -> None:
    """The configuration is the owner's, not the journal's."""
    changed = evolve(
        BLANK,
        view=evolve(BLANK.view, settings=replace(BLANK.view.settings, idle_after=7.0)),
    )

    world = load(written().shelf, changed, START).world

    assert world.view.settings.idle_after == 7.0


def test_actions_in_doubt_are_told_apart_by_their_mark() -> None:
    """In flight and touched; in flight and not; out."""
    writer = Writer(MemoryShelf())
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))
    writer.tell(writer.look(reading(Status.IDLE), "d"))
    writer.at += 700.0
    event = happen(writer.world, Ticked(), writer.now)
    world, decisions = step(writer.world, event)
    writer.journal.write(event, decisions, world)
    before = load(writer.shelf, BLANK, START)
    writer.journal.touch(decisions[0].action.key, writer.now)
    after = load(writer.shelf, BLANK, START)

    assert before.world.ledger.in_flight() == (decisions[0].action,)
    assert (before.touched, after.touched) == ((), (decisions[0].action.key,))


def test_a_mark_ends_with_its_outcome() -> None:
    """Skipped after its mark and admitted again: the second time it has not begun."""
    writer = Writer(MemoryShelf())
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))
    writer.tell(writer.look(reading(Status.IDLE), "d"))
    keys: list[Action] = []
    for body in (Ticked(), None, Ticked()):
        writer.at += 700.0
        told = body or outcome(keys[-1], Ending.SKIPPED)
        event = happen(writer.world, told, writer.now)
        writer.world, decisions = step(writer.world, event)
        writer.journal.write(event, decisions, writer.world)
        keys += [d.action for d in decisions if d.verdict.admitted]
        if len(keys) == 1 and body is not None:
            writer.journal.touch(keys[0].key, writer.now)

    assert keys == [keys[0]] * 2
    assert load(writer.shelf, BLANK, START).touched == ()


def test_a_mark_survives_a_new_segment() -> None:
    """Rotation and a second supervisor carry it on."""
    writer = Writer(MemoryShelf())
    writer.journal.touch("k", writer.now)
    world = evolve(
        writer.world,
        ledger=load(flying_shelf(), BLANK, START).world.ledger,
    )
    key = world.ledger.in_flight()[0].key
    writer.journal.open(world, writer.now, (key,))

    assert load(writer.shelf, BLANK, START).touched == (key,)


def flying_shelf() -> MemoryShelf:
    """A journal with one action in flight."""
    writer = Writer(MemoryShelf())
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))
    writer.tell(writer.look(reading(Status.IDLE), "d"))
    writer.at += 700.0
    event = happen(writer.world, Ticked(), writer.now)
    world, decisions = step(writer.world, event)
    writer.journal.write(event, decisions, world)
    return writer.shelf


# -- cuts and damage ------------------------------------------------------------------------------


def worlds_by_line(name: str, content: bytes) -> list[World]:
    """The world after each number of whole lines."""
    rows = content.splitlines(keepends=True)
    return [
        load(holding({name: b"".join(rows[:count])}), BLANK, START).world
        for count in range(len(rows) + 1)
    ]


def test_a_journal_cut_at_any_byte_loads() -> None:
    """And gives the world of its whole lines, whichever byte was the last."""
    [(name, content)] = [(n, bytes(c)) for n, c in written().shelf.segments.items()]
    expected = worlds_by_line(name, content)

    for cut in range(len(content) + 1):
        kept = content[:cut]
        whole = kept.count(b"\n") + (content[cut : cut + 1] == b"\n")
        world = load(holding({name: kept}), BLANK, START).world
        assert world == expected[whole], f"cut at {cut}"


def night_journal(seed: int) -> dict[str, bytes]:
    """The segments of a whole night."""
    night = Night(seed)
    night.run()
    return {name: bytes(content) for name, content in night.shelf.segments.items()}


@pytest.mark.parametrize("seed", [3, 9])
def test_a_night_cut_anywhere_loads(seed: int) -> None:
    """A sample of cuts in the last segment of a real night, and at both ends of it."""
    segments = night_journal(seed)
    last = max(segments)
    size, random = len(segments[last]), Random(seed)

    for cut in (0, 1, size - 1, *(random.randint(0, size) for _ in range(40))):
        recovered = load(holding({**segments, last: segments[last][:cut]}), BLANK, START)
        assert recovered.warnings == ()


def test_a_torn_last_line_is_left_out() -> None:
    """Its writer died while writing it."""
    writer = written()
    name = writer.shelf.names()[0]
    before = list(read(writer.shelf))
    writer.shelf.append(name, b'{"k":"seen","seq":99,"at', sync=False)

    assert list(read(writer.shelf)) == before
    assert load(writer.shelf, BLANK, START).world == writer.world


@pytest.mark.parametrize("junk", [b"\x00\xff\x00", b"[]", b"7", b'{"k":"dance"}', b'{"k":"seen"}'])
def test_damage_in_the_middle_is_named_with_file_and_line(junk: bytes) -> None:
    """Nothing after it can be trusted, and a person must know where it is."""
    [(name, content)] = [(n, bytes(c)) for n, c in written().shelf.segments.items()]
    rows = content.splitlines()
    rows[3] = junk
    shelf = holding({name: b"\n".join(rows) + b"\n"})

    with pytest.raises(JournalDamaged, match=f"{name}, line 4: expected a"):
        list(read(shelf))
    with pytest.raises(JournalError, match=f"{name}, line 4"):
        load(shelf, BLANK, START)


def test_a_journal_of_a_newer_version_is_refused() -> None:
    """By name, with what to do."""
    [(name, content)] = [(n, bytes(c)) for n, c in written().shelf.segments.items()]
    newer = content.replace(b'"v":1', b'"v":99', 1)
    shelf = holding({name: newer})

    with pytest.raises(
        JournalTooNew, match=f"{name}, line 1: expected a journal of version 1"
    ) as e:
        list(read(shelf))

    assert "update koboshi" in e.value.hint
    with pytest.raises(JournalError, match="expected a journal of version 1"):
        load(shelf, BLANK, START)


def test_recovery_says_that_the_journal_is_too_new() -> None:
    """The same error as for every other reader, so that a person is told to update."""
    [(name, content)] = [(n, bytes(c)) for n, c in written().shelf.segments.items()]

    with pytest.raises(JournalTooNew):
        load(holding({name: content.replace(b'"v":1', b'"v":99', 1)}), BLANK, START)


def two_segments() -> tuple[Writer, str, str]:
    """A journal that goes on in a second segment."""
    writer = written()
    writer.journal.open(writer.world, writer.now)
    writer.tell(PersonTyped())
    first, second = writer.shelf.names()
    return writer, first, second


def test_a_snapshot_that_does_not_match_its_checksum_is_bridged() -> None:
    """The segment before it is folded to the end, and a warning says so."""
    writer, first, second = two_segments()
    content = writer.shelf.read(second)
    wrong = content.replace(b'"seq":', b'"seq":1', 1)
    shelf = holding({first: writer.shelf.read(first), second: wrong})

    recovered = load(shelf, BLANK, START)

    assert recovered.world == writer.world
    assert [("checksum" in w) for w in recovered.warnings] == [True]


def test_a_beginning_that_is_not_json_is_bridged() -> None:
    """As `load` promises: a segment whose beginning is damaged."""
    writer, first, second = two_segments()
    content = writer.shelf.read(second)
    shelf = holding({first: writer.shelf.read(first), second: b"#" + content[1:]})

    assert load(shelf, BLANK, START).world == writer.world


def test_a_damaged_snapshot_with_nothing_before_it_is_an_error() -> None:
    """Better than to begin as if nothing had been done."""
    [(name, content)] = [(n, bytes(c)) for n, c in written().shelf.segments.items()]
    shelf = holding({name: content.replace(b'"seq":0', b'"seq":7', 1)})

    with pytest.raises(SnapshotDamaged, match="line 1: expected the snapshot to match"):
        load(shelf, BLANK, START)


def test_a_segment_that_does_not_begin_with_a_beginning_is_damaged() -> None:
    """Somebody cut its head off."""
    [(name, content)] = [(n, bytes(c)) for n, c in written().shelf.segments.items()]
    headless = b"".join(content.splitlines(keepends=True)[1:])

    with pytest.raises(JournalDamaged, match="line 1: expected the beginning of a segment"):
        list(read_segment(name, headless))


def test_nothing_on_disk_is_changed_by_reading_damage() -> None:
    """Never repaired in place."""
    [(name, content)] = [(n, bytes(c)) for n, c in written().shelf.segments.items()]
    wrong = content.replace(b'"seq":0', b'"seq":7', 1)
    shelf = holding({name: wrong})

    with pytest.raises(JournalError):
        load(shelf, BLANK, START)

    assert shelf.segments == {name: bytearray(wrong)}


# -- segments -------------------------------------------------------------------------------------


def names_after(*steps: float, segment_bytes: int = 1_000_000) -> tuple[str, ...]:
    """The segments after events that far apart."""
    writer = Writer(MemoryShelf(), segment_bytes=segment_bytes)
    for after in steps:
        writer.tell(PersonTyped(), after=after)
    return writer.shelf.names()


def test_a_new_day_begins_a_segment() -> None:
    """By UTC, with the first event of the day."""
    first = "2026-10-26.0001.jsonl"

    assert names_after(60.0) == (first,)
    assert names_after(60.0, DAY, 60.0) == (first, "2026-10-27.0001.jsonl")


def test_a_full_segment_ends() -> None:
    """At its size, within the same day."""
    names = names_after(1.0, 1.0, 1.0, segment_bytes=10)

    assert names == tuple(f"2026-10-26.000{n}.jsonl" for n in (1, 2, 3, 4))


def test_a_clock_that_goes_back_over_midnight_does_not_mix_up_the_order() -> None:
    """The next segment sorts after the last one, whatever the wall clock says."""
    shelf = MemoryShelf()
    journal = Journal(shelf)
    journal.open(BLANK, Moment(at=1.0, utc=UTC))
    journal.open(BLANK, Moment(at=2.0, utc=UTC - DAY))
    journal.open(BLANK, Moment(at=3.0, utc=UTC + DAY))

    assert shelf.names() == (
        "2026-10-26.0001.jsonl", "2026-10-26.0002.jsonl", "2026-10-27.0001.jsonl",
    )  # fmt: skip


def test_old_segments_go_and_the_newest_stays() -> None:
    """Seven days by default; the newest there was stays whatever its age."""
    names = tuple(f"2026-10-{day:02d}.0001.jsonl" for day in (1, 18, 19, 26))
    now = Moment(at=0.0, utc=UTC)

    assert expired(names, now, 7) == names[:2]
    assert expired(names[:1], now, 7) == ()
    assert expired((), now, 7) == ()


@settings(max_examples=40)
@given(st.lists(st.floats(0.0, 3 * DAY), min_size=1, max_size=12), st.integers(0, 3))
def test_retention_never_removes_what_recovery_needs(gaps: list[float], keep_days: int) -> None:
    """After any retention the journal gives the same world."""
    writer = Writer(MemoryShelf(), keep_days=keep_days, segment_bytes=500)
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))
    for gap in gaps:
        writer.tell(PersonTyped(), after=gap)
        assert load(writer.shelf, BLANK, START).world == writer.world


# -- a full disk ----------------------------------------------------------------------------------


def test_a_full_disk_leaves_whole_lines() -> None:
    """Nothing of what could not be written is there, and writing goes on when there is room."""
    writer = written()
    before = {name: bytes(content) for name, content in writer.shelf.segments.items()}
    world = writer.world
    writer.shelf.full = True
    with pytest.raises(OSError, match="no space") as error:
        writer.tell(PersonTyped())
    after = {name: bytes(content) for name, content in writer.shelf.segments.items()}
    writer.shelf.full = False
    writer.tell(PersonTyped())

    assert error.value.errno == errno.ENOSPC
    assert (after, writer.world is world) == (before, False)
    assert load(writer.shelf, BLANK, START).world == writer.world


def test_a_segment_grows_on_while_there_is_no_room_for_the_next() -> None:
    """What was to be written is written; the new segment is tried again with the next write."""

    class NoNewSegments(MemoryShelf):
        def create(self, name: str, content: bytes) -> None:
            if self.segments and self.full_for_new:
                raise OSError(errno.ENOSPC, "no space left on device")
            super().create(name, content)

        full_for_new = True

    shelf = NoNewSegments()
    writer = Writer(shelf, segment_bytes=10)
    writer.tell(PersonTyped())
    crowded = shelf.names()
    shelf.full_for_new = False
    writer.tell(PersonTyped())

    assert (len(crowded), len(shelf.names())) == (1, 2)
    assert load(shelf, BLANK, START).world == writer.world


def printing(*lines: str) -> Reading:
    """A turn that prints."""
    return Reading(status=Status.WORKING, lines=lines)


def shown_lines(writer: Writer) -> list[int]:
    """How many lines each look has that was written."""
    bodies = [
        line.record.event.body for line in read(writer.shelf) if isinstance(line.record, wire.Seen)
    ]
    return [len(body.reading.lines) for body in bodies if isinstance(body, ScreenRead)]


def test_where_little_room_is_left_what_agents_print_is_left_out() -> None:
    """Decisions and what stands above a question stay; and it is seen again when there is room."""
    writer = Writer(MemoryShelf())
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))
    printed = ("a", "b")
    writer.shelf.left = LOW - 1
    for n in range(LOOK + 1):  # until it looks at the room again
        writer.tell(writer.look(printing("x"), f"w{n}"))
    assert writer.journal.low == LOW - 1
    writer.tell(writer.look(printing(*printed), "d1"))
    writer.tell(writer.look(asking(lines=printed), "d2"))
    writer.shelf.left = LOW
    for n in range(LOOK + 1):
        writer.tell(writer.look(printing("x"), f"v{n}"))
    writer.tell(writer.look(printing(*printed), "d3"))

    assert writer.journal.low == 0
    found = shown_lines(writer)
    assert found[LOOK + 1 : LOOK + 3] == [0, 2]
    assert found[-1] == 2
    loaded = load(writer.shelf, BLANK, START).world
    assert loaded.ledger == writer.world.ledger
    assert loaded.seq == writer.world.seq


# -- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "日本語 ✻ ❯", "\x00\x1b[31m", "a\nb\r\n\u2028\x85c", '"\\'])
def test_any_text_comes_back_as_it_was(text: str) -> None:
    """One record, one line, whatever an agent prints."""
    writer = Writer(MemoryShelf())
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))
    shown = Reading(status=Status.IDLE, reason=text, evidence=(text,), draft=text, lines=(text,))
    writer.tell(writer.look(shown, "d"))

    assert load(writer.shelf, BLANK, START).world == writer.world


def test_a_broken_character_on_a_screen_does_not_end_the_supervisor() -> None:
    """`digest` and `fingerprint` expect such text; the journal must take it, too."""
    writer = Writer(MemoryShelf())
    writer.tell(RunStarted(run=1, origin=Origin.FIRST))

    writer.tell(writer.look(Reading(status=Status.IDLE, lines=("\udc80",)), "d"))


def test_every_record_is_one_line_of_json_with_its_kind() -> None:
    """Other programs can read it."""
    kinds = {
        json.loads(row)["k"]
        for row in written().shelf.read(written().shelf.names()[0]).splitlines()
    }

    assert kinds == {"opened", "seen", "admitted", "touched", "finished", "held"}


def test_an_unknown_setting_in_a_snapshot_is_left_out() -> None:
    """A journal of an older or newer patch release still loads."""
    opened = wire.opened_line(BLANK, START, (), wire.Boot())
    [line] = read_segment("x", opened)
    assert isinstance(line.record, wire.Opened)
    image = {**line.record.world}
    image["view"] = {**image["view"], "settings": {**image["view"]["settings"], "gone": 1}}
    record = replace(line.record, world=image, checksum=_checksum(image))

    assert wire.read_world(record, BLANK.rules) == BLANK


def _checksum(image: object) -> int:
    import zlib  # noqa: PLC0415

    import msgspec  # noqa: PLC0415

    return zlib.crc32(msgspec.json.encode(image))
