"""A restart that the agent asked for, with a supervisor that may be killed at every step of it."""

from __future__ import annotations

from random import Random

import pytest

from koboshi.core.events import Order, OrderGiven
from koboshi.scripted.behaviour import Behaviour, Done, EndTurn, Script, Work
from koboshi.testing import Killed, MemoryShelf, Outside
from tests.daemon.lives import Life

SCRIPT: Script = (Work(seconds=9.0, say="x"), EndTurn(), Work(seconds=600.0, say="y"), Done())
#: Touches of the outside from the order to the end of the telling, and some.
STEPS = 50


class Restart:
    """One agent that asks for its restart, and what its runs were told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.outside = Outside()
        self.life = Life(SCRIPT, shelf=MemoryShelf(self.outside))
        self.life.host._outside = self.outside  # noqa: SLF001
        self.told: list[str] = []
        run = Behaviour._run  # noqa: SLF001

        def heard(behaviour: Behaviour, text: str) -> None:
            self.told.append(text)
            run(behaviour, text)

        monkeypatch.setattr(Behaviour, "_run", heard)
        self.life.rise()
        self.life.live(5.0)

    def ask(self, *, fresh: bool) -> None:
        """The agent asks; until its order is written it asks again."""
        order = OrderGiven(
            order=Order.RELOAD, by="agent", text="new tools", note="at step 3", fresh=fresh
        )
        assert self.life.supervisor is not None
        self.life.supervisor.take(order)

    def live(self, seconds: float) -> None:
        """Time passes; a supervisor that was killed is followed by another."""
        try:
            self.life.live(seconds)
        except Killed:
            self.fall()
            self.life.live(seconds)

    def fall(self) -> None:
        """Killed, with what was not synced; the next one comes at once."""
        self.outside.kill_at = -1
        self.life.fall()
        self.life.shelf.crash(Random(1))
        self.life.rise()

    @property
    def greetings(self) -> list[str]:
        """What was said about the restart."""
        return [text for text in self.told if "You are back" in text]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_restart_that_was_asked_for_takes_seconds(
    monkeypatch: pytest.MonkeyPatch, *, fresh: bool
) -> None:
    """In the middle of a turn: ended, started, told."""
    night = Restart(monkeypatch)
    night.ask(fresh=fresh)
    night.live(8.0)

    view = night.life.world.view
    assert (view.run.number, view.reload) == (2, None)
    assert view.run.origin.value == ("fresh" if fresh else "resumed")
    [told] = night.greetings
    assert "run #2, restarted once" in told
    assert "new tools" in told
    assert "at step 3" in told
    night.live(120.0)
    assert len(night.greetings) == 1


@pytest.mark.parametrize("step", range(1, STEPS))
@pytest.mark.parametrize("fresh", [False, True])
def test_killed_anywhere_it_is_told_once(
    monkeypatch: pytest.MonkeyPatch, step: int, *, fresh: bool
) -> None:
    """Never twice, never lost; also the restart itself happens once."""
    night = Restart(monkeypatch)
    outside = night.outside
    outside.kill_at = outside.touches + step
    try:
        night.ask(fresh=fresh)
    except Killed:
        night.fall()
        if night.life.world.view.tally.reloads == 0:
            night.ask(fresh=fresh)
    night.live(120.0)

    assert len(night.greetings) == 1
    assert len(night.life.host.starts) == 2
    assert night.life.world.view.reload is None
