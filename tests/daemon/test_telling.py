"""Log lines: each says which agent, how it is, why, and on what clues of what age."""

from __future__ import annotations

import logging

import pytest

from koboshi.core.events import SignalRead, Source, Ticked
from koboshi.core.readings import Status
from koboshi.daemon.telling import clue_words, facts, tell
from tests.core.worlds import Driver, blank, reading


def torn() -> Driver:
    """The screen is idle, the registry waits for an answer, for longer than the grace time."""
    driver = Driver(blank())
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.tell(SignalRead(run=1, source=Source.REGISTRY, status=Status.ASKING, reason="r"))
    return driver


def test_a_change_of_status_is_logged_with_its_reasons(caplog: pytest.LogCaptureFixture) -> None:
    """Structured: a program can find every contradiction of a night."""
    driver = torn()
    before = driver.view
    decisions = driver.tell(Ticked(), after=11.0)
    with caplog.at_level(logging.INFO):
        tell(before, driver.view, decisions, driver.now)

    [record] = caplog.records
    told = vars(record)
    assert (told["agent"], told["run"], told["status"]) == ("a1", 1, "unknown")
    assert (told["health"], told["reasons"]) == ("unsure", ["contradiction"])
    assert told["reason"] == "contradiction: the screen says idle, the registry says asking"
    assert told["clues"] == [
        "screen idle for 12.0 s, told 12.0 s ago",
        "registry asking for 11.0 s, told 11.0 s ago",
    ]


def test_a_decision_is_logged_with_the_health_it_was_taken_in(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was decided, by which rule, on what evidence."""
    driver = torn()
    driver.tell(Ticked(), after=11.0)
    before = driver.view
    decisions = driver.tell(Ticked(), after=121.0)
    with caplog.at_level(logging.INFO):
        tell(before, driver.view, decisions, driver.now)

    [record] = caplog.records
    told = vars(record)
    assert (told["action"], told["rule"], told["verdict"]) == ("notify", "RUN004", "admitted")
    assert told["reasons"] == ["contradiction"]
    assert told["evidence"][-1] == "health: contradiction"
    assert (record.levelno, told["severity"]) == (logging.INFO, "P1")


def test_a_line_of_its_own_keeps_its_own_reason() -> None:
    """What a caller says goes over what the view says."""
    driver = torn()
    said = facts(driver.view, driver.now, action="look", reason="no answer")

    assert (said["action"], said["reason"], said["health"]) == ("look", "no answer", "well")
    assert len(clue_words(driver.view, driver.now)) == 2
