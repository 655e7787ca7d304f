"""When one agent is looked at, in virtual time."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from koboshi.core.actions import Mode, Notify
from koboshi.core.events import (
    Ending,
    HookRead,
    Order,
    OrderGiven,
    Outcome,
    RunExited,
    ScreenRead,
    Severity,
)
from koboshi.core.readings import Status
from koboshi.daemon import eyes
from koboshi.daemon.eyes import watch
from koboshi.daemon.runtime import Nudge
from koboshi.daemon.supervisor import Supervisor
from koboshi.errors import HostError
from koboshi.hosts.base import Place
from koboshi.observations import HookFired, Observation
from koboshi.scripted.behaviour import Ask, Done, EndTurn, Script, Work
from tests.daemon.lives import SETTINGS, Life

CALM = replace(SETTINGS, mode=Mode.OBSERVE, idle_after=10_000.0, run_max=0.0)
NOTE = Notify(about="r1", text="done", severity=Severity.P2)


class Watched(Life):
    """A life in which eyes do the looking."""

    def __init__(self, script: Script, senses: eyes.Senses | None = None) -> None:
        super().__init__(script, settings=CALM)
        self.looks: list[float] = []
        self.deaf = False
        self.over = False
        self._look, self._stirred = self.host.look, self.host.stirred
        self.host.look = self._counted  # type: ignore[assignment, method-assign]
        self.host.stirred = self._maybe  # type: ignore[method-assign]
        supervisor = self.rise()
        self.runtime.run_until(1.0)
        self.runtime.spawn(watch(supervisor, enough=lambda _: self.over, senses=senses))

    async def _counted(self, place: Place) -> object:
        self.looks.append(self.runtime.monotonic)
        return await self._look(place)

    async def _maybe(self, place: Place, patience: float) -> bool:
        if not self.deaf:
            return await self._stirred(place, patience)
        pause: Awaitable[None] = self.runtime.sleep(patience)
        await pause
        return False

    def type(self, text: str) -> None:
        """A person sends a line."""
        self.agent.paste(text)
        self.agent.key("Enter")

    def until(self, at: float) -> None:
        """Time passes."""
        self.runtime.run_until(at)

    @property
    def looked(self) -> Supervisor:
        """The supervisor."""
        assert self.supervisor is not None
        return self.supervisor


def idle() -> Watched:
    """An agent that has been at its prompt for a while."""
    life = Watched((EndTurn(), Done()))
    life.until(60.0)
    assert life.world.view.status is Status.IDLE
    life.looks.clear()
    return life


def test_what_does_not_stir_is_hardly_looked_at() -> None:
    """Only in case the bell is broken."""
    life = idle()
    life.until(60.0 + 10 * eyes.BACKSTOP)

    assert 9 <= len(life.looks) <= 11


def test_a_bell_that_is_broken_costs_half_a_minute() -> None:
    """Not the night."""
    life = idle()
    life.deaf = True
    life.agent.end(9)
    life.until(60.0 + eyes.BACKSTOP + 1)

    assert life.world.view.run.exit is not None


def test_what_went_wrong_beside_is_no_terminal_that_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A supervisor whose hands are broken ends, also where a host broke them."""
    life = idle()

    def broken(work: Coroutine[Any, Any, bool], _: Nudge) -> Awaitable[bool]:
        work.close()
        raise HostError("the hands")

    monkeypatch.setattr(life.runtime, "heed", broken)
    with pytest.raises(HostError, match="the hands"):
        life.until(60.0 + 2 * eyes.BACKSTOP)


def test_a_question_is_known_and_confirmed_within_300_milliseconds() -> None:
    """The second look does not wait for the agent to move."""
    life = Watched((Work(seconds=7.3), Ask(command="npm test"), Done()))
    life.until(5.0)
    life.type("go")
    life.until(30.0)

    asked = next(at for at, word, _ in life.agent.trail if word == "asking")
    question = life.world.view.question
    assert question is not None
    assert question.looks > 1
    told = [e.now.at for e in life.heard if isinstance(e.body, ScreenRead)]
    first = next(at for at in told if at >= asked)
    assert first - asked < 0.15
    second = next(at for at in life.looks if at > first)
    assert second - asked < 0.3


def test_a_stream_is_looked_at_in_steps_and_its_end_is_not_missed() -> None:
    """A turn moves its spinner all the time."""
    life = Watched((Work(seconds=20.0), Done()))
    life.until(5.0)
    life.type("go")
    life.until(15.0)
    busy = [at for at in life.looks if at > 6.0]
    assert all(b - a >= eyes.GAP * 0.99 for a, b in pairwise(busy))
    life.until(60.0)

    assert life.world.view.status is Status.IDLE
    shown = life.host.seen(life.looked.place).text  # type: ignore[arg-type]
    assert life.world.view.context.lines[-1] in shown


def test_a_nudge_is_heeded_at_once() -> None:
    """Somebody knows better than the bell."""
    life = idle()
    life.deaf = True
    life.looked.nudge.give()
    life.until(60.2)

    assert len(life.looks) == 1


class Hooks:
    """Senses with one hook in them."""

    def __init__(self) -> None:
        self.waiting: list[Observation] = []
        self.polls = 0

    def poll(self) -> list[Observation]:
        """What is new."""
        self.polls += 1
        found, self.waiting = self.waiting, []
        return found


def test_other_senses_are_asked_with_each_tick_and_at_a_nudge() -> None:
    """What they know is an observation like any other."""
    senses = Hooks()
    life = Watched((EndTurn(), Done()), senses)
    life.until(60.0)
    before = senses.polls
    life.until(60.0 + 10 * eyes.TICK_CALM)
    assert 9 <= senses.polls - before <= 14
    senses.waiting = [HookFired(payload={"hook_event_name": "Stop", "session_id": "s"})]
    life.looked.nudge.give()
    life.until(life.runtime.monotonic + 0.2)

    assert isinstance(life.heard[-1].body, HookRead) or any(
        isinstance(event.body, HookRead) for event in life.heard[-3:]
    )


def test_a_terminal_that_is_gone_is_told_once_and_not_waited_for() -> None:
    """Nor asked without a pause."""
    life = idle()
    life.host._terminals.clear()  # noqa: SLF001
    life.until(70.0)

    exits = [event for event in life.heard if isinstance(event.body, RunExited)]
    assert len(exits) == 1
    assert len(life.looks) <= 12


def test_a_host_that_fails_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    """And what was known stays known."""
    life = idle()

    async def broken(place: Place, patience: float = 0.0) -> bool:  # noqa: ARG001
        raise HostError("no")

    life.host.stirred = broken  # type: ignore[method-assign]
    life.host.look = broken  # type: ignore[assignment, method-assign]
    life.until(65.0)
    assert "look failed" in caplog.text
    told = [each.getMessage() for each in caplog.records if each.name.startswith("koboshi")]
    assert len(told) <= 7, told  # what other tests left may be collected, and told of, here
    assert life.world.view.status is Status.IDLE
    life.host.look = life._counted  # type: ignore[assignment, method-assign] # noqa: SLF001
    life.agent.end(9)
    life.until(70.0)

    assert life.world.view.run.exit is not None


def test_enough_is_enough() -> None:
    """The loop ends."""
    life = idle()
    life.over = True
    life.looked.nudge.give()
    life.until(61.0)

    assert life.runtime.next_due() is None


def test_an_outcome_is_followed_by_a_look() -> None:
    """Looks from before it say nothing, and a new run has a new terminal."""
    life = idle()
    life.deaf = True
    life.looked.take(OrderGiven(order=Order.PAUSE, by="person"))
    life.looked.runtime.spawn(life.looked._finish(NOTE, acted()))  # noqa: SLF001
    life.until(60.3)

    assert len(life.looks) == 1


async def acted() -> Outcome:
    """It is done."""
    return Outcome(ending=Ending.DONE)
