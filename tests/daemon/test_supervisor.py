"""The supervisor: step, write, act; and what it does when it cannot write."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from koboshi.adapters.decode import digest
from koboshi.core.actions import Answer, Mode
from koboshi.core.events import (
    Ending,
    Event,
    Outcome,
    PersonTyped,
    RunExited,
    RunStarted,
    SupervisorStarted,
)
from koboshi.core.readings import Meaning, Reading, Status
from koboshi.hosts.base import Keystroke, Place
from koboshi.observations import HookFired, PersonSeen, ProcessGone, ScreenSeen
from koboshi.scripted.behaviour import Ask, Done, EndTurn, Script, Work
from koboshi.store.history import load
from tests.daemon.lives import SETTINGS, Life
from tests.store.shelves import START

NIGHT: Script = (Ask(command="npm test"), Work(seconds=5.0, say="x"), EndTurn(), Done())


def started(script: Script = NIGHT) -> Life:
    """An agent that is up and idle."""
    life = Life(script)
    life.rise()
    life.live(5.0)
    return life


def test_a_night_in_short() -> None:
    """Started as a person asked, nudged, answered, nudged again, done."""
    life = started()

    while life.agent.running is not None and not life.agent.running.done:
        life.live(1.0)

    assert life.agent.running is not None
    assert life.agent.running.done
    assert life.sent == ["continue", "Enter", "1", "continue", "Enter"]
    assert [e.seq for e in life.heard] == list(range(1, len(life.heard) + 1))


def test_a_raw_look_becomes_a_fact() -> None:
    """Hooks, people and ended processes come in by the same door."""
    life = started()
    supervisor = life.supervisor
    assert supervisor is not None
    before = len(life.heard)

    supervisor.observe(HookFired(payload={"hook_event_name": "Stop", "session_id": "s"}))
    supervisor.observe(HookFired(payload={"nonsense": 1}))
    supervisor.observe(PersonSeen())
    supervisor.observe(ProcessGone(run=1, signal=9))
    supervisor.observe(ProcessGone(run=1, signal=9))

    told = [e.type for e in life.heard[before:]]
    life.live(0.1)  # what was decided about it is begun
    assert told == ["hook-read", "person-typed", "run-exited"]


def test_what_is_told_of_a_look_says_whether_work_went_on() -> None:
    """A clock that runs is no work; a line that was printed is."""
    supervisor = started().supervisor
    assert supervisor is not None
    look = ScreenSeen(text="", run=1, at=supervisor.runtime.now().at, cols=80, rows=24)

    def told(text: str, after: float) -> str:
        supervisor.observe(replace(look, text=text, at=look.at + after))
        assert supervisor.world.view.sight.digest == digest(replace(look, text=text))
        return supervisor.world.view.sight.work

    first = told("doing things 1s", 10.0)
    assert first
    assert told("doing things 7s", 20.0) == first
    assert told("one is done\ndoing things 9s", 30.0) != first


def kinds(events: list[Event]) -> list[type]:
    """What happened, in short."""
    return [type(e.body) for e in events]


def test_on_a_full_disk_nothing_is_performed() -> None:
    """The decision could not be written, so it was not made."""
    life = started()
    world = life.world
    life.shelf.full = True

    life.live(60.0)

    assert life.sent == []
    assert life.world is world
    assert life.supervisor is not None
    assert "no space left" in life.supervisor.journal_error


def test_facts_that_do_not_show_again_wait_for_room() -> None:
    """In their order, and then everything goes on."""
    life = started()
    supervisor = life.supervisor
    assert supervisor is not None
    before = len(life.heard)
    life.shelf.full = True
    taken = [supervisor.take(PersonTyped()), supervisor.take(RunExited(run=1, signal=9))]
    lost = kinds(life.heard[before:])
    life.agent.end(9)
    life.shelf.full = False

    supervisor.tick()
    life.live(0.1)

    assert (taken, lost) == ([False, False], [])
    assert kinds(life.heard[before:])[:2] == [PersonTyped, RunExited]
    assert supervisor.journal_error == ""


def test_a_look_that_could_not_be_written_is_told_again() -> None:
    """The next look shows the same, and is news all the same."""
    life = started()
    supervisor = life.supervisor
    assert supervisor is not None
    life.agent.paste("go")
    life.shelf.full = True
    life.live(1.0)
    dropped = life.world.view.sight.draft
    life.shelf.full = False
    life.live(1.0)

    assert (dropped, life.world.view.sight.draft) == ("", "go")


def test_when_there_is_room_again_it_goes_on() -> None:
    """The night ends as it would have."""
    life = started()
    life.shelf.full = True
    life.live(60.0)
    life.shelf.full = False

    life.live(120.0)

    assert life.agent.running is not None
    assert life.agent.running.done
    assert load(life.shelf, life.world, START).world.seq == life.world.seq


def test_a_mark_that_cannot_be_written_touches_nothing() -> None:
    """The action is skipped and decided again when there is room."""
    life = Life(NIGHT)
    append = life.shelf.append
    refused: list[bytes] = []

    def no_marks(name: str, content: bytes, *, sync: bool) -> None:
        if b'"touched"' in content and len(refused) < 3 and b"idle" in content:
            refused.append(content)
            raise OSError(28, "no space left on device")
        append(name, content, sync=sync)

    life.shelf.append = no_marks  # type: ignore[method-assign]
    life.rise()
    life.live(40.0)
    endings = [(key, ending) for key, ending, _ in life.outcomes() if "idle" in key]

    assert endings[:4] == [("1.idle0.0.0", "skipped")] * 3 + [("1.idle0.0.0", "done")]
    assert life.sent[:2] == ["continue", "Enter"]
    assert life.sent.count("continue") == 1


def test_the_decision_is_on_the_disk_before_the_key() -> None:
    """At the moment a key leaves, its decision and its mark are durable."""
    life = Life(NIGHT)
    seen: list[bool] = []
    note = life.host.on_type

    def look_at_disk(strokes: tuple[object, ...]) -> None:
        note(strokes)  # type: ignore[arg-type]
        there = load(life.shelf, life.world, START)
        seen.append(len(there.touched) == 1)

    life.host.on_type = look_at_disk
    life.rise()
    life.live(60.0)

    assert seen
    assert all(seen)


def test_a_run_that_ends_is_started_again() -> None:
    """Crash, backoff, resume."""
    life = started()
    life.agent.end(9)

    life.live(10.0)

    assert life.world.view.run.number == 2
    assert life.world.view.status in (Status.IDLE, Status.STARTING)
    starts = [e.body for e in life.heard if isinstance(e.body, RunStarted)]
    assert starts[0].session == starts[1].session


def test_a_host_that_breaks_after_the_key_is_not_a_key_that_was_not_sent() -> None:
    """The pipe to tmux broke after the key had left: pressed, and never to be pressed again."""
    life = Life((Ask(command="npm test"), Ask(command="npm test"), Done()))
    type_ = life.host.type

    async def breaking(place: Place, strokes: tuple[Keystroke, ...]) -> None:
        await type_(place, strokes)
        if life.sent[-1] == "1" and life.sent.count("1") == 1:
            raise ConnectionResetError

    life.host.type = breaking  # type: ignore[method-assign]
    life.rise()
    life.live(60.0)

    endings = [ending for key, ending, _ in life.outcomes() if key == "1.question1"]
    assert endings == ["failed"]


def asked_in_keep_mode() -> Life:
    """A question is open and seen; nobody may answer it."""
    life = Life((Ask(command="npm test"), Done()), settings=replace(SETTINGS, mode=Mode.KEEP))
    life.rise()
    life.live(3.0)
    life.agent.paste("go")
    life.agent.key("Enter")
    return life


def test_a_look_that_was_passed_over_is_told_again() -> None:
    """Taken just before an outcome was written, it says nothing; the next one must."""
    life = asked_in_keep_mode()
    assert life.supervisor is not None
    assert life.supervisor.place is not None
    seen = life.supervisor.hands.ours(life.host.seen(life.supervisor.place), life.supervisor.place)
    life.runtime.run_until(life.runtime.monotonic + 0.5)
    life.supervisor.take(SupervisorStarted())  # looks older than this are passed over
    life.supervisor.observe(seen)
    passed_over = life.world.view.question

    life.live(1.0)

    assert passed_over is None
    assert life.world.view.question is not None


def test_after_an_outcome_a_screen_that_looks_the_same_is_told_again() -> None:
    """Law 4: whatever shows next is new, also where it shows what was told before."""
    life = asked_in_keep_mode()
    life.live(3.0)
    question, supervisor = life.world.view.question, life.supervisor
    assert question is not None
    assert supervisor is not None
    fingerprint = question.prompt.fingerprint
    answer = Answer(run=1, nth=question.nth, fingerprint=fingerprint, choice=Meaning.ONCE)

    async def answered() -> Outcome:
        return Outcome(ending=Ending.DONE, why="by hand, for this test")

    life.runtime.spawn(supervisor._finish(answer, answered()))  # noqa: SLF001
    life.runtime.run_until(life.runtime.monotonic)
    closed = life.world.view.question
    life.live(2.0)

    again = life.world.view.question
    assert closed is None
    assert again is not None
    assert again.nth == question.nth + 1


def test_the_same_screen_is_not_read_twice_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """But its age counts, and another one is read."""
    life = started((EndTurn(), Done()))
    supervisor = life.supervisor
    assert supervisor is not None
    assert supervisor.place is not None
    adapter, reads = supervisor._adapter, list[str]()  # noqa: SLF001
    read = adapter.read

    def counted(seen: ScreenSeen) -> Reading:
        reads.append(seen.text)
        return read(seen)

    monkeypatch.setattr(adapter, "read", counted)
    seen = supervisor.hands.ours(life.host.seen(supervisor.place), supervisor.place)
    for later in (0.0, 6.0, 12.0):
        supervisor.observe(replace(seen, at=seen.at + later))
    assert len(reads) <= 1
    assert life.world.view.sight.seen_at == seen.at + 12.0
    supervisor.observe(replace(seen, at=seen.at + 13.0, text="x"))

    assert reads[-1] == "x"


def test_a_journal_without_details_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """And once that it is whole again."""
    life = Life((Work(seconds=600.0, say="step"), Done()))
    with caplog.at_level(logging.INFO, "koboshi.daemon.supervisor"):
        life.rise()
        life.live(5.0)
        life.shelf.left = 100 << 20
        life.live(60.0)
        life.shelf.left = 1 << 40
        life.live(60.0)
    told = [r.__dict__["reason"] for r in caplog.records if r.message == "journal kept"]
    life.fall()

    assert told == ["only 100 MB are left: what it prints is not kept", "as before"]
