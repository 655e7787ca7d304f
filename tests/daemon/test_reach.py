"""From an action to a person: through the desk, by the owner's file, until acknowledged."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from koboshi.config.load import parse
from koboshi.core.actions import Escalate, Notify
from koboshi.core.engine import happen
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Heard,
    LinesHeard,
    Order,
    OrderGiven,
    Outcome,
    Severity,
)
from koboshi.core.readings import Status
from koboshi.daemon import reach as reaching
from koboshi.daemon.noticing import bring, notice_of, seen_to, still_asked
from koboshi.daemon.reach import Reach
from koboshi.daemon.scribe.pen import Pen
from koboshi.notices.desk import Desk
from koboshi.notices.notice import Notice
from koboshi.scripted.behaviour import Done
from tests.core.worlds import Driver, admitted, blank, reading
from tests.daemon.lives import Life
from tests.hosts.waiting import until
from tests.incidents.storages import Storage, storage
from tests.notices.servers import Webhook
from tests.performers.benches import Bench
from tests.store.secret_corpus import CORPUS

__all__ = ["storage"]


def config(folder: Path, *ports: int, more: str = "") -> None:
    """The owner's file with a channel for each port."""
    rows = [f'[notify.channels.c{n}]\nurl = "json://127.0.0.1:{p}/"' for n, p in enumerate(ports)]
    (folder / "koboshi.toml").write_text("\n".join([*rows, more]), encoding="utf-8")


def test_an_action_becomes_a_notice() -> None:
    """To be asked is P1, P0 where koboshi gave up."""
    told = notice_of(Notify(about="1.x", text="t", severity=Severity.P2), "api", 5.0)
    asked = notice_of(Escalate(about="1.x", text="t"), "api", 5.0)
    down = notice_of(Escalate(about="1.x", text="t", gives_up=True), "api", 5.0)

    assert (told.key, told.severity, told.asks) == ("1.x.notify", Severity.P2, False)
    assert (asked.key, asked.severity, asked.asks) == ("1.x.escalate", Severity.P1, True)
    assert down.severity is Severity.P0


def test_a_performer_says_to_whom_it_goes() -> None:
    """And `told` where there are no channels: the log has it."""
    bench = Bench()
    action = Notify(about="1.x", text="it crashed", severity=Severity.P0)
    assert bench.perform(action).why == "told"

    async def notice(given: object) -> str:
        assert given is other
        return "on its way: phone"

    other = replace(action, about="2.x")
    bench.hands.notice = notice
    assert bench.perform(other).why == "on its way: phone"
    assert bench.announced == ["it crashed", "it crashed"]


def test_a_notice_holds_no_secret(tmp_path: Path) -> None:
    """It goes to others' servers, and quotes what an agent wants to run."""
    life = Life((Done(),))
    supervisor = life.rise()
    env = {"MY_TOKEN": "known-value"}
    supervisor.hands.program = replace(supervisor.hands.program, env=env)
    taken: list[Notice] = []

    class Keeps(Desk):
        async def take(self, notice: Notice) -> str:
            taken.append(notice)
            return ""

    said = [text for _, text in CORPUS.values()]
    action = Escalate(about="q", text=" ".join([*said, "known-value"]))
    asyncio.run(cast("Any", bring(Keeps(tmp_path), supervisor)(action)))
    life.fall()

    assert [k for k, (secret, _) in CORPUS.items() if secret in taken[0].text] == []
    assert "known-value" not in taken[0].text


def test_a_file_that_changes_counts_and_a_bad_edit_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The channels stay as they were."""
    monkeypatch.setattr(reaching, "LOOK", 0.01)
    caplog.set_level(logging.WARNING)

    async def go() -> None:
        reach = Reach(tmp_path / "state", tmp_path, who=lambda _: None)
        reach.open()
        assert reach.desk.waiting()["channels"] == []
        config(tmp_path, 1, 2)
        await until(lambda: reach.desk.waiting()["channels"] == ["c0", "c1"])
        config(tmp_path, 1, more='url2 = "slack://hunter2secret"')
        os.utime(tmp_path / "koboshi.toml", (1, 1))
        await until(lambda: "the channels stay as they were" in caplog.text)
        assert reach.desk.waiting()["channels"] == ["c0", "c1"]
        config(tmp_path, 1)
        await until(lambda: reach.desk.waiting()["channels"] == ["c0"])
        await reach.close()

    asyncio.run(go())
    assert "hunter2" not in caplog.text


def test_what_went_out_is_in_the_log_of_the_day(tmp_path: Path) -> None:
    """Told by a thread, written in the loop."""

    async def go() -> None:
        with Webhook().open() as hook:
            config(tmp_path, hook.port)
            pen, logs = Pen(every=0.01), tmp_path / "logs"
            reach = Reach(tmp_path, tmp_path, who=lambda _: None, pen=pen, logs=logs)
            reach.open()
            action = Notify(about="1.x", text="it crashed", severity=Severity.P0)
            await reach.desk.take(notice_of(action, "api", time.time()))
            await until(lambda: any(logs.glob("koboshi-notify-*.log")) if logs.exists() else False)
            await reach.close()
            await pen.close()

    asyncio.run(go())
    (log,) = (tmp_path / "logs").glob("koboshi-notify-????????.log")
    assert log.read_text().endswith(" c0: koboshi: api – P0 – sent\n")


def test_figures_go_to_a_collector_and_its_trouble_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As often as the owner says; the rest goes on."""
    monkeypatch.setattr(reaching, "PUBLISH", 0.01)
    said = ["", "no", "no", ""]
    exported: list[str] = []

    def export(_figures: object, _utc: float, address: str) -> str:
        exported.append(address)
        return said[min(len(exported), len(said)) - 1]

    monkeypatch.setattr(reaching, "export", export)
    text = '[metrics]\notlp = "http://127.0.0.1:1/v1/metrics"\nevery = 0\n'
    (tmp_path / "koboshi.toml").write_text(text)

    async def go() -> None:
        reach = Reach(tmp_path / "state", tmp_path, who=lambda _: None)
        reach.open()
        await until(lambda: len(exported) >= 5)
        await reach.close()

    asyncio.run(go())
    assert set(exported) == {"http://127.0.0.1:1/v1/metrics"}
    assert [r.message for r in caplog.records].count("figures not exported") == 1


def test_a_bug_in_counting_leaves_the_agent_looked_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The next one who listens hears all the same."""
    heard: list[object] = []

    async def go() -> None:
        reach = Reach(tmp_path, tmp_path, who=lambda _: None)
        monkeypatch.setattr(reach.books, "take", lambda *_: 1 / 0)
        driver = Driver(blank())
        event = happen(driver.world, OrderGiven(order=Order.PAUSE), driver.now)
        reach.before(lambda *all_: heard.append(all_))(event, (), driver.world)

    asyncio.run(go())
    assert len(heard) == 1
    assert "not counted" in caplog.text


def test_a_person_who_saw_to_it_is_asked_no_more(tmp_path: Path) -> None:
    """By `koboshi ack`, or by starting or stopping the agent."""
    settled: list[str] = []
    desk = Desk(tmp_path)
    desk.settle = settled.append  # type: ignore[method-assign, assignment]
    driver = Driver(blank())
    for order in (Order.PAUSE, Order.ACKNOWLEDGE, Order.STOP):
        event = happen(driver.world, OrderGiven(order=order), driver.now)
        seen_to(desk, event, driver.world)

    assert settled == ["a1", "a1"]


def test_an_agent_that_is_well_and_asks_nothing_needs_nobody() -> None:
    """One that is not well keeps asking, whatever its rules say now."""
    driver = Driver(blank())
    driver.start()
    driver.see(reading(Status.FAILED))

    assert still_asked(driver.world, driver.now, ("1.q.escalate",)) == ("1.q.escalate",)
    driver.see(reading(Status.WORKING))
    assert still_asked(driver.world, driver.now, ("1.q.escalate",)) == ()


def test_what_is_heard_again_keeps_the_question_open() -> None:
    """The next line is another occasion of the same rule, and may be held up for an hour."""
    rule = """[[rule]]
code = "OWN001"
name = "x"
when = 'count("log", "x", "5m") >= 1'
actions = ["escalate"]
cooldown = "1h"
"""
    [own] = parse(rule, "k.toml").book.rules
    driver = Driver(blank(rules=(own,)))
    driver.start()
    driver.see(reading(Status.WORKING))
    for _ in range(2):
        driver.tell(LinesHeard(run=1, heard=(Heard(what="x", text="x"),)))
    [asked] = admitted(driver.decided)

    assert still_asked(driver.world, driver.now, (asked.key,)) == (asked.key,)
    driver.see(reading(Status.WORKING, lines=("> on",)), after=400.0)
    assert still_asked(driver.world, driver.now, (asked.key,)) == ()


def test_a_bundle_that_another_daemon_could_not_upload_is_uploaded(
    tmp_path: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the journal is told; the storage answers 500 at first."""
    monkeypatch.setattr("koboshi.incidents.waiting.FIRST", 0.05)
    monkeypatch.setattr("koboshi.daemon.uploading.LOOK", 0.01)
    config(tmp_path, more='[incidents]\nupload = "s3://nights/api"\n')
    bundle, taken = tmp_path / "20261115-010203-x.tar.gz", list[ActionFinished]()
    bundle.write_bytes(b"content")
    supervisor = cast("Any", SimpleNamespace(take=taken.append))

    async def live(who: Any) -> None:  # noqa: ANN401 - a supervisor, or none
        reach = Reach(tmp_path / "state", tmp_path, who=lambda _: who)
        reach.open()
        if who is None:
            said = await reach.courier.bring(bundle, "api", "1.exit.bundle")
            assert said.startswith("not uploaded yet")
        else:
            await until(lambda: bool(taken))
        await reach.close()

    storage.is_dead()
    asyncio.run(live(None))
    storage.answers()
    storage.refuses = 3
    asyncio.run(live(supervisor))

    assert storage.content(bundle.name) == b"content"
    (body,) = taken
    assert body.outcome == Outcome(ending=Ending.DONE, why="uploaded")
    assert body.key == "1.exit.bundle.[incidents.upload].command"
    assert list((tmp_path / "state" / "uploads").iterdir()) == []
