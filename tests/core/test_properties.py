"""What holds after any facts at any times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.core.actions import HANDS, Action, Mode, Start, Stop
from koboshi.core.engine import World, happen, step
from koboshi.core.events import (
    ActionFinished,
    Ending,
    HookRead,
    Moment,
    Order,
    OrderGiven,
    Origin,
    Outcome,
    PersonTyped,
    RunExited,
    RunStarted,
    ScreenRead,
    ScreenSame,
    SupervisorStarted,
    Ticked,
)
from koboshi.core.readings import Limit, Reading, Status
from koboshi.core.settings import Settings
from koboshi.store import wire
from koboshi.store.journal import read_segment
from tests.core.worlds import UTC, blank, permission

if TYPE_CHECKING:
    from koboshi.core.engine import Decision
    from koboshi.core.events import Body

SETTINGS = Settings(
    mode=Mode.AUTO,
    allow=("npm test",),
    idle_after=20.0,
    context_max=70.0,
    run_max=100.0,
    starting_max=10.0,
    unknown_after=20.0,
    failed_base=5.0,
    send_cooldown=5.0,
    refresh_gap=10.0,
    healthy_after=30.0,
    intensity=3,
    period=200.0,
)

lines = st.lists(st.sampled_from(["> go", "● step", "Bash(npm test)"]), max_size=3).map(tuple)
resets = st.none() | st.sampled_from([UTC + 30.0, UTC + 90.0])
prompts = st.sampled_from([permission("npm test"), permission("rm -rf /")])


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    """A look, as an adapter would read it."""
    status = draw(st.sampled_from(list(Status)))
    asking = status is Status.ASKING
    limited = status is Status.LIMITED
    return Reading(
        status=status,
        reason=draw(st.sampled_from(["shown", "shell_prompt"])),
        prompt=draw(prompts) if asking else None,
        limit=Limit(kind="session", resets_at=draw(resets)) if limited else None,
        draft=draw(st.sampled_from(["", "", "", "please als"])) if not asking else "",
        lines=draw(lines),
    )


@dataclass(frozen=True, slots=True)
class Fact:
    """What befalls; bodies that need the world are made when they happen."""

    after: float
    kind: str
    reading: Reading = field(default_factory=lambda: Reading(status=Status.IDLE))
    pick: int = 0
    off: int = 0  #: the run it is about, counted from the current one


#: What befalls; what moves a story on comes more often.
KINDS = (
    "look", "look", "same", "hook", "exit", "person", "order", "finish", "finish", "finish",
    "tick", "tick", "started", "supervisor",
)  # fmt: skip

facts = st.builds(
    Fact,
    after=st.sampled_from([0.0, 0.5, 3.0, 25.0, 130.0]),
    kind=st.sampled_from(KINDS),
    reading=readings(),
    pick=st.integers(0, 5),
    off=st.sampled_from([0, 0, 0, 0, -1, 1]),
)


class Story:
    """Lets facts happen to a world the way a supervisor would, and remembers what was decided."""

    def __init__(self) -> None:
        self.world: World = blank(SETTINGS)
        self.at = 1000.0
        self.seen: list[int] = []
        self.decisions: list[Decision] = []
        self.closed: dict[str, Ending] = {}
        self.flying: dict[str, Action] = {}
        self.starts: list[float] = []

    @property
    def now(self) -> Moment:
        """The time."""
        return Moment(at=self.at, utc=UTC + self.at - 1000.0)

    def tell(self, body: Body) -> None:
        """One more fact."""
        event = happen(self.world, body, self.now)
        world, decisions = step(self.world, event)
        if world is self.world:
            assert decisions == ()
            return
        self.seen.append(event.seq)
        self.world = world
        if isinstance(body, ActionFinished):
            self.flying.pop(body.key, None)
            if body.outcome.ending is not Ending.SKIPPED:
                self.closed[body.key] = body.outcome.ending
        for decision in decisions:
            self.decisions.append(decision)
            if decision.verdict.admitted:
                self.admitted(decision.action)

    def admitted(self, action: Action) -> None:
        """An action goes to a performer."""
        assert action.key not in self.flying, f"{action.key} is in flight"
        assert action.key not in self.closed, f"{action.key} came out before"
        if isinstance(action, HANDS) and not (isinstance(action, Stop) and action.force):
            hands = [a for a in self.flying.values() if isinstance(a, HANDS)]
            assert not hands, f"{action.key} while {hands}"
        self.flying[action.key] = action

    def befall(self, fact: Fact) -> None:
        """That fact happens, that much later."""
        self.at += fact.after
        run = self.world.view.run.number + fact.off
        match fact.kind:
            case "look":
                digest = f"{fact.pick}"
                self.tell(ScreenRead(run=run, reading=fact.reading, digest=digest, seen_at=self.at))
            case "same":
                self.tell(ScreenSame(run=run, digest=f"{fact.pick}", seen_at=self.at - fact.pick))
            case "hook":
                word = HookRead(word="Stop", status=fact.reading.status, session=f"s{fact.pick}")
                self.tell(word)
            case "exit":
                self.tell(RunExited(run=run, code=fact.pick, meant=fact.pick == 0))
            case "person":
                self.tell(PersonTyped())
            case "order":
                self.tell(OrderGiven(order=list(Order)[fact.pick % len(Order)]))
            case "finish":
                self.finish(fact)
            case "started":
                self.tell(RunStarted(run=run, origin=_origin(self.world)))
            case "supervisor":
                self.tell(SupervisorStarted())
            case _:
                self.tell(Ticked())

    def finish(self, fact: Fact) -> None:
        """One of the actions under way comes out; a start that is done tells of its run first."""
        if not self.flying:
            return
        action = list(self.flying.values())[fact.pick % len(self.flying)]
        ending = list(Ending)[(fact.pick + len(fact.reading.lines)) % 3]
        if isinstance(action, Start) and ending is Ending.DONE:
            self.tell(RunStarted(run=action.run, origin=action.origin, session=action.session))
        self.tell(
            ActionFinished(key=action.key, action=action, outcome=Outcome(ending=ending, why="w"))
        )


def _origin(world: World) -> Origin:
    return world.view.run.origin


STORIES = st.lists(facts, min_size=10, max_size=60)


def told(story: list[Fact], *, unexpected_runs: bool = True) -> Story:
    """All of that, one after the other, beginning with a run that a person wants."""
    teller = Story()
    teller.tell(OrderGiven(order=Order.START))
    for fact in story:
        if fact.kind != "started" or unexpected_runs:
            teller.befall(fact)
    return teller


@settings(max_examples=150)
@given(STORIES)
def test_no_facts_break_it_and_no_key_is_admitted_twice(story: list[Fact]) -> None:
    """In flight or finished; one pair of hands; numbers without gaps (asserted at each step)."""
    teller = told(story)

    assert teller.seen == list(range(1, len(teller.seen) + 1))
    assert {a.key for a in teller.world.ledger.in_flight()} == set(teller.flying)


@settings(max_examples=150)
@given(STORIES)
def test_no_period_has_more_restarts_than_the_budget(story: list[Fact]) -> None:
    """Whatever ended, however often; a person's acknowledgement begins a new count."""
    teller = Story()
    teller.tell(OrderGiven(order=Order.START))
    for fact in story:
        if fact.kind == "started":
            continue
        teller.befall(fact)
        view = teller.world.view
        recent = [at for at in view.restarts if at > teller.at - SETTINGS.period]
        assert len(recent) <= SETTINGS.intensity


@settings(max_examples=100)
@given(STORIES, st.floats(-1e6, 1e6))
def test_ages_are_never_negative(story: list[Fact], back: float) -> None:
    """Not even when somebody asks with an earlier time."""
    view = told(story).world.view
    now = Moment(at=1000.0 + back, utc=UTC)

    assert view.age(now) >= 0.0
    assert view.still_for(now) >= 0.0


@settings(max_examples=100)
@given(STORIES)
def test_a_snapshot_gives_back_the_very_same_world(story: list[Fact]) -> None:
    """Encoded and decoded, nothing is lost or changed."""
    world = told(story).world

    line = wire.opened_line(world, Moment(at=1.0, utc=2.0), (), wire.Boot())
    [opened] = [each.record for each in read_segment("x", line)]
    assert isinstance(opened, wire.Opened)
    again = wire.read_world(opened, world.rules)

    assert again == world
