"""Figures: the same from the journal as from what was heard; and in words that Prometheus reads."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from koboshi.core.actions import Notify, Send, Start
from koboshi.core.engine import Decision, World, happen, step
from koboshi.core.events import (
    ActionFinished,
    Body,
    Ending,
    Event,
    Order,
    OrderGiven,
    Origin,
    Outcome,
    RunExited,
    RunStarted,
    ScreenRead,
    Severity,
    SupervisorStarted,
)
from koboshi.core.readings import Status
from koboshi.metrics.books import KEEP_DAYS, PROMETHEUS, Books, day_file, pages, write
from koboshi.metrics.figures import DAY, Figures, read_image
from koboshi.metrics.past import days
from koboshi.metrics.prometheus import exposition
from koboshi.scripted.behaviour import Ask, Crash, Done, EndTurn, Script, Work
from koboshi.store.journal import read
from tests.core.worlds import UTC, Driver, reading
from tests.daemon.lives import Life

NIGHT: Script = (
    Ask(command="npm test"),
    Work(seconds=5.0, say="x"),
    EndTurn(),
    Crash(code=1),
    Work(seconds=5.0, say="y"),
    Done(),
)


def told(driver: Driver, figures: Figures, body: Body, after: float = 1.0) -> None:
    """One more fact, that much later."""
    driver.at += after
    event = happen(driver.world, body, driver.now)
    driver.world, decisions = step(driver.world, event)
    figures.take(event, decisions, driver.world)


def seen(driver: Driver, figures: Figures, status: Status, after: float = 1.0) -> None:
    """A look that shows that."""
    driver.looks += 1
    body = ScreenRead(
        run=driver.view.run.number,
        reading=reading(status, used=40.0),
        digest=str(driver.looks),
        seen_at=driver.at + after,
    )
    told(driver, figures, body, after)


@pytest.fixture
def figures() -> Figures:
    """One day: worked, crashed, came back."""
    driver, figures = Driver(), Figures(agent="a1")
    told(driver, figures, RunStarted(run=1, origin=Origin.FIRST))
    seen(driver, figures, Status.WORKING)
    told(driver, figures, RunExited(run=1, code=1), after=60.0)
    told(driver, figures, RunStarted(run=2, origin=Origin.RESUMED), after=3.0)
    seen(driver, figures, Status.WORKING, after=2.0)
    send = Send(run=2, text="t", about="x")
    done = Outcome(ending=Ending.DONE)
    told(driver, figures, ActionFinished(key=send.key, action=send, outcome=done))
    start = Start(run=3, origin=Origin.FRESH)
    failed = Outcome(ending=Ending.FAILED)
    told(driver, figures, ActionFinished(key=start.key, action=start, outcome=failed))
    return figures


def test_a_day_is_counted(figures: Figures) -> None:
    """Events, actions, restarts, time, recovery."""
    assert figures.events["run-exited P0"] == 1
    assert figures.events["run-started P2"] == 2
    assert figures.actions == {"send done": 1, "start failed": 1}
    assert figures.restarts == {"person": 1, "crash": 1, "failed": 1}
    assert (figures.crashes, figures.ended, figures.lived) == (1, 1, 61.0)
    assert (figures.recovered, figures.recovering) == (1, 5.0)
    assert figures.last_crash == UTC + 62.0
    assert figures.seconds["working"] == pytest.approx(62.0)
    assert figures.seconds["gone"] == pytest.approx(3.0)
    assert figures.context == 40.0
    assert figures.uptime(UTC + 75.0) == 10.0


def test_recoveries_add_up() -> None:
    """Two crashes: both counted, and the time of both; a restart in between is none."""
    driver, figures = Driver(), Figures(agent="a1")
    told(driver, figures, RunStarted(run=1, origin=Origin.FIRST))
    for run, down in ((1, 3.0), (2, 9.0)):
        seen(driver, figures, Status.WORKING)
        told(driver, figures, RunExited(run=run, code=1))
        told(driver, figures, RunStarted(run=run + 1, origin=Origin.RESUMED), after=down)
        seen(driver, figures, Status.IDLE)

    assert (figures.recovered, figures.recovering, figures.crashes) == (2, 14.0, 2)


def test_any_program_recovers_by_being_there() -> None:
    """Nothing else is ever known of one that is generic; of an agent it is not enough."""
    for kind, recovered in (("generic", 1), ("claude", 0)):
        driver, figures = Driver(), Figures(agent="a1")
        view = driver.world.view
        context = replace(view.context, agent_type=kind)
        driver.world = replace(driver.world, view=replace(view, context=context))
        told(driver, figures, RunStarted(run=1, origin=Origin.FIRST))
        told(driver, figures, RunExited(run=1, code=1))
        told(driver, figures, RunStarted(run=2, origin=Origin.FRESH), after=3.0)
        seen(driver, figures, Status.UNKNOWN)

        assert (kind, figures.recovered) == (kind, recovered)


def test_an_end_that_a_person_wanted_is_no_crash() -> None:
    """Whatever signal it took; neither does anything recover from it."""
    driver, figures = Driver(), Figures(agent="a1")
    told(driver, figures, RunStarted(run=1, origin=Origin.FIRST))
    seen(driver, figures, Status.WORKING)
    told(driver, figures, OrderGiven(order=Order.STOP, by="person"))
    told(driver, figures, RunExited(run=1, signal=15))

    assert (figures.crashes, figures.last_crash, figures.down_since) == (0, None, None)
    assert figures.ended == 1


def test_an_end_that_only_a_shell_tells_of_is_one() -> None:
    """In a person's pane there is no exit code; and it is counted once."""
    driver, figures = Driver(), Figures(agent="a1")
    told(driver, figures, RunStarted(run=1, origin=Origin.FIRST))
    seen(driver, figures, Status.WORKING)
    for _ in range(3):
        seen(driver, figures, Status.GONE)
    told(driver, figures, RunExited(run=1, code=1))

    assert (figures.crashes, figures.ended, figures.run_since) == (1, 1, None)
    assert figures.down_since is not None


def test_time_without_a_supervisor_is_told_apart() -> None:
    """Nobody knows what the agent did meanwhile."""
    driver, figures = Driver(), Figures(agent="a1")
    told(driver, figures, RunStarted(run=1, origin=Origin.FIRST))
    seen(driver, figures, Status.WORKING)
    told(driver, figures, SupervisorStarted(), after=500.0)

    assert figures.seconds["unwatched"] == 500.0


def test_the_journal_says_the_same() -> None:
    """Live, and read again later: two ways to one result."""
    life = Life(NIGHT)
    live = Figures(agent="sim")

    def hear(event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        assert live.take(event, decisions, world)

    life.on_heard = hear
    life.rise()
    life.live(120.0)
    life.fall()
    life.rise()
    life.live(60.0)
    (past,) = days("sim", read(life.shelf))
    life.fall()

    assert live.crashes == 1
    assert live.answered == 1
    assert past.image() == live.image()


def test_prometheus_can_read_it(figures: Figures) -> None:
    """Every row has its agent; counters are counters."""
    text = exposition([figures], UTC + 75.0, {"waiting": 2})
    families = {each.name: each for each in text_string_to_metric_families(text)}
    rows = {
        (s.name, tuple(sorted(s.labels.items()))): s.value
        for family in families.values()
        for s in family.samples
    }

    assert families["koboshi_events"].type == "counter"
    assert rows["koboshi_restarts_total", (("agent", "a1"), ("reason", "crash"))] == 1
    assert rows["koboshi_uptime_seconds", (("agent", "a1"),)] == 10.0
    assert rows["koboshi_recovery_seconds_sum", (("agent", "a1"),)] == 5.0
    assert rows["koboshi_notices_waiting", ()] == 2
    assert rows["koboshi_up", (("agent", "a1"),)] == 1


def test_every_figure_has_its_name(figures: Figures) -> None:
    """Whoever draws them relies on the names; the file of a day has the same figures."""
    figures.tokens, figures.answered = 1200, 3
    rows: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(exposition([figures], UTC + 75.0)):
        for sample in family.samples:
            words = ("type", "kind", "severity", "outcome", "reason", "status")
            labels = " ".join(sample.labels[word] for word in words if word in sample.labels)
            rows.setdefault(sample.name, {})[labels] = sample.value

    assert {name: rows[name] for name in NAMES} == NAMES
    assert rows["koboshi_events_total"]["run-exited P0"] == 1.0
    assert rows["koboshi_actions_total"] == {"send done": 1.0, "start failed": 1.0}
    assert rows["koboshi_status_seconds_total"]["working"] == pytest.approx(62.0)
    assert rows["koboshi_status_seconds_total"]["gone"] == pytest.approx(3.0)
    made = json.loads(pages((figures,), UTC)[day_file(figures.day)])["agents"]["a1"]
    assert {key: made[key] for key in DAILY} == DAILY


#: Name, labels, value of what the day of `figures` comes to.
NAMES = {
    "koboshi_restarts_total": {"person": 1.0, "crash": 1.0, "failed": 1.0},
    "koboshi_prompts_answered_total": {"": 3.0},
    "koboshi_crashes_total": {"": 1.0},
    "koboshi_up": {"": 1.0},
    "koboshi_uptime_seconds": {"": 10.0},
    "koboshi_uptime_mean_seconds": {"": 61.0},
    "koboshi_context_used_percent": {"": 40.0},
    "koboshi_tokens": {"": 1200.0},
    "koboshi_last_crash_timestamp_seconds": {"": UTC + 62.0},
    "koboshi_recovery_seconds_count": {"": 1.0},
    "koboshi_recovery_seconds_sum": {"": 5.0},
}
#: The same in the file of the day.
DAILY = {
    "restarts": {"person": 1, "crash": 1, "failed": 1},
    "actions": {"send done": 1, "start failed": 1},
    "answered": 3,
    "crashes": 1,
    "mean_uptime": 61.0,
    "context": 40.0,
    "tokens": 1200,
    "last_crash": UTC + 62.0,
    "recovered": 1,
    "mean_recovery": 5.0,
}


def test_books_go_on_after_a_restart_and_begin_anew_each_day(tmp_path: Path) -> None:
    """A file a day; what is so at the moment goes over into the next."""
    driver, books = Driver(), Books(tmp_path)
    for n, after in enumerate((1.0, 1.0, DAY)):
        driver.at += after
        note = Notify(about=str(n), text="t", severity=Severity.P1)
        body = ActionFinished(key=note.key, action=note, outcome=Outcome(ending=Ending.DONE))
        event = happen(driver.world, body, driver.now)
        driver.world, decisions = step(driver.world, event)
        books.take(event, decisions, driver.world)
    write(tmp_path, pages(books.copies(), driver.now.utc), driver.now.utc)
    first, second = (day_file(int((UTC + n * DAY) // DAY)) for n in (0, 1))

    counted = [
        json.loads((tmp_path / name).read_text())["agents"]["a1"]["actions"]
        for name in (first, second)
    ]
    assert counted == [{"notify done": 2}, {"notify done": 1}]
    assert "koboshi_actions_total" in (tmp_path / PROMETHEUS).read_text()
    assert books.copies() == ()
    again = Books(tmp_path)
    again.open(driver.now.utc)
    assert [each.image() for each in again.figures()] == [each.image() for each in books.figures()]


def test_files_of_long_ago_go_and_other_agents_stay(tmp_path: Path) -> None:
    """A month is kept; who was released today is still in today's file."""
    today = int(UTC // DAY)
    old = tmp_path / day_file(today - KEEP_DAYS - 1)
    old.write_text("{}")
    write(tmp_path, pages((Figures(agent="a", day=today),), UTC), UTC)
    write(tmp_path, pages((Figures(agent="b", day=today),), UTC), UTC)

    assert not old.exists()
    assert set(json.loads((tmp_path / day_file(today)).read_text())["agents"]) == {"a", "b"}
    assert oct((tmp_path / day_file(today)).stat().st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("junk", [b"", b"[]", b'{"agents": {"a": 1}}', b'{"agents": []}', b"\xff"])
def test_junk_in_a_file_is_nothing(tmp_path: Path, junk: bytes) -> None:
    """Figures are worth less than the daemon."""
    (tmp_path / day_file(int(UTC // DAY))).write_bytes(junk)
    books = Books(tmp_path)
    books.open(UTC)

    assert books.figures() == ()
    assert read_image({"agent": 3}) is None
