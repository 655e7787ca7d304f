"""A context that nothing tells is asked for: seldom, at the prompt, after work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.core.actions import Send
from koboshi.core.events import Context, Ending, PersonTyped, SignalRead, Source, Ticked
from koboshi.core.readings import ContextUse, Limit, Reading, Status
from koboshi.core.settings import Settings
from koboshi.core.view import evolve
from tests.core.worlds import Driver, admitted, asking, blank, reading


def worked(used: float | None = None, kind: str = "gemini", **settings: object) -> Driver:
    """A turn is over, and ten minutes have passed since the start."""
    given: dict[str, object] = {"idle_after": 1e6, "run_max": 0.0, **settings}
    world = blank(Settings(**given))  # type: ignore[arg-type]
    context = Context(agent="a1", agent_type=kind)
    driver = Driver(replace(world, view=evolve(world.view, context=context)))
    driver.start()
    driver.see(reading(Status.IDLE))
    turn(driver, used)
    driver.tell(Ticked(), after=600.0)
    return driver


def turn(driver: Driver, used: float | None = None) -> None:
    """It works, and is at its prompt again."""
    driver.see(reading(Status.WORKING, used=used))
    driver.see(reading(Status.IDLE, used=used))


def asked(driver: Driver) -> list[Send]:
    """The questions so far."""
    return [a for a in admitted(driver.decided) if isinstance(a, Send)]


def test_it_is_asked_and_its_answer_counts() -> None:
    """As a word about the context like any other."""
    driver = worked()
    [question] = asked(driver)
    use = ContextUse(used=81.0, source="probe")
    driver.tell(SignalRead(run=1, source=Source.SCREEN, context=use))

    assert question.text.endswith("CTX:<n>%")
    assert driver.view.sight.context == use
    assert driver.view.tally.nudges == 0
    driver.finish(question)
    assert any(a.kind == "refresh" for a in admitted(driver.decided))


def test_it_is_asked_again_only_after_more_work_and_time() -> None:
    """The question is a turn of its own: it must not ask for ever."""
    driver = worked()
    driver.see(reading(Status.WORKING))
    driver.see(reading(Status.IDLE))
    driver.finish(asked(driver)[0], Ending.FAILED)
    driver.tell(Ticked(), after=3000.0)
    assert len(asked(driver)) == 1
    turn(driver)
    driver.tell(Ticked(), after=5.0)

    assert len(asked(driver)) == 2


@pytest.mark.parametrize(
    ("used", "kind", "settings"),
    [
        (30.0, "gemini", {}),
        (None, "scripted", {}),
        (None, "opencode", {}),
        (None, "gemini", {"probe_every": 0.0}),
        (None, "gemini", {"context_max": 0.0}),
        (None, "gemini", {"probe_every": 700.0}),
    ],
)
def test_nobody_is_asked_in_vain(
    used: float | None, kind: str, settings: dict[str, object]
) -> None:
    """Something tells it, nobody wants to know it, or it is too soon."""
    assert asked(worked(used, kind, **settings)) == []


def test_who_has_not_worked_is_not_asked() -> None:
    """An empty context is no news."""
    driver = Driver(blank(Settings(idle_after=1e6, run_max=0.0)))
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.tell(Ticked(), after=5000.0)

    assert asked(driver) == []


@pytest.mark.parametrize(
    "shown",
    [
        reading(Status.WORKING),
        reading(Status.UNKNOWN),
        reading(Status.LIMITED, limit=Limit(kind="session")),
        reading(Status.IDLE, draft="please als"),
        asking(),
    ],
)
def test_not_while_it_works_asks_is_limited_or_a_person_types(shown: Reading) -> None:
    """Its prompt is somebody else's then."""
    driver = worked(probe_every=700.0)
    driver.see(shown)
    driver.tell(Ticked(), after=200.0)

    assert asked(driver) == []


def test_not_right_after_a_person_typed() -> None:
    """Their next word may follow."""
    driver = worked(probe_every=700.0)
    driver.tell(PersonTyped(), after=95.0)
    driver.tell(Ticked(), after=5.0)

    assert asked(driver) == []
