"""Whatever rules somebody writes: the restart budget holds, and so do the other laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from koboshi.config.load import parse
from koboshi.core.actions import Refresh, Send, Start, Stop
from koboshi.core.events import Ending, Origin, Outcome, Severity
from koboshi.core.rules import Proposal, Rule
from koboshi.plugins.guarding import guarded
from koboshi.rules import BUILTIN
from koboshi.testing import Night, Violation
from tests.testing.test_mutants import no_budget, with_a_small_budget

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.engine import World
    from koboshi.core.events import Moment
    from koboshi.core.view import View
    from koboshi.daemon.supervisor import Supervisor
    from koboshi.store.journal import Journal

CONDITIONS = (
    "true",
    'status == "idle"',
    'status == "failed" || status == "working"',
    "age >= 1",
    "turns > 0 && still >= 5",
    "exit_code != 0",
    'count("log", ".", "5m") >= 1',
    'count("log", "(?i)error|saved|done", "1h") >= 2',
    'count("run-started", "", "1h") >= 1',
    "restarts < 100",
)
ACTIONS = (
    '"restart"',
    '"refresh"',
    '{send = "go on"}',
    '"notify"',
    '"escalate"',
    '"debug_collect"',
)
ON = ("", 'on = ["log"]', 'on = ["run-exited", "run-started"]', 'on = ["screen-read"]')


@st.composite
def rule_files(draw: st.DrawFn) -> str:
    """A file of up to six rules."""
    tables = []
    for number in range(draw(st.integers(1, 6))):
        wanted = draw(st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=3))
        rows = (
            "[[rule]]",
            f'code = "OWN{number}"',
            'name = "of-mine"',
            f"when = '''{draw(st.sampled_from(CONDITIONS))}'''",
            f"actions = [{', '.join(wanted)}]",
            f'cooldown = "{draw(st.sampled_from(("0s", "1s", "5m")))}"',
            draw(st.sampled_from(ON)),
        )
        tables.append("\n".join(rows))
    return "\n\n".join(tables)


#: What a plug-in asks for, all the time and about a new occasion each time.
ASKED: dict[str, Callable[[View, int], Action]] = {
    "resume": lambda view, nth: Start(
        run=view.run.number + 1, origin=Origin.RESUMED, session=view.run.session, nth=nth
    ),
    "fresh": lambda view, nth: Start(run=view.run.number + 1, origin=Origin.FRESH, nth=nth),
    "first": lambda view, nth: Start(run=view.run.number + 1, origin=Origin.FIRST, nth=nth),
    "ordered": lambda view, nth: Start(
        run=view.run.number + 1, origin=Origin.FRESH, nth=nth, ordered=True
    ),
    "refresh": lambda view, nth: Refresh(run=view.run.number, nth=nth, why="x", back=True),
    "stop": lambda view, nth: Stop(run=view.run.number, about=f"x{nth}", ordered=True),
    "kill": lambda view, nth: Stop(run=view.run.number, about=f"x{nth}", ordered=True, force=True),
}


def plug_ins(names: Iterable[str]) -> tuple[Rule, ...]:
    """Rules as packages bring them; the last one is broken."""

    def made(number: int, name: str) -> Rule:
        def check(view: View, now: Moment) -> Proposal | None:
            asked = ASKED[name](view, 1000 + int(now.at))
            return Proposal(message="m", actions=(asked,)) if view.run.number else None

        code = f"PLG{number}"
        return Rule(code=code, name="n", severity=Severity.P1, check=check, page="")

    def broken(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
        raise LookupError("no moon")

    rules = [made(number, name) for number, name in enumerate(names)]
    rules.append(Rule(code="PLG99", name="n", severity=Severity.P1, check=broken, page=""))
    return tuple(guarded("x", rule) for rule in rules)


class HookedNight(Night):
    """A night in which programs of the owner's come before some actions and replace others."""

    endings: tuple[Ending, ...] = ()
    replaced: tuple[str, ...] = ()

    def _assemble(self, world: World, journal: Journal) -> Supervisor:
        supervisor = super()._assemble(world, journal)
        hands, chance = supervisor.hands, Random(f"hooks {self.seed} {self.lives}")

        async def instead(action: Action) -> Outcome:
            hands.touch(action.key)
            await self.runtime.sleep(chance.choice((0.0, 1.0, 40.0)))
            ending = chance.choice(self.endings)
            if isinstance(action, Send) and ending is Ending.DONE:
                self.agent.dropped = ()  # told by the program, as far as anybody can know
            return Outcome(ending=ending, why="hook")

        async def before(action: Action) -> None:
            del action
            await self.runtime.sleep(chance.choice((0.0, 0.0, 10.0)))

        def replaces(action: Action) -> bool:
            first = isinstance(action, Start) and action.origin is Origin.FIRST
            return action.kind in self.replaced and not first

        hands.instead, hands.before, hands.replaced = instead, before, replaces
        return supervisor


def lived(night: Night) -> None:
    """To its end; an agent that is restarted all the time, or not at all, need not get ready."""
    try:
        night.run()
    except Violation as violation:
        if not str(violation).startswith("stuck:"):
            raise
    night.laws.check_runs()
    assert night.lives > 0


#: A program in the place of a message says that it told the agent of its open call.
LIAR = """
[[rule]]
code = "OWN0"
name = "of-mine"
when = "true"
actions = ["restart"]
"""


@example(LIAR, 0, [], ["send"], [Ending.DONE])
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rule_files(),
    st.integers(0, 5000),
    st.lists(st.sampled_from(list(ASKED)), max_size=3),
    st.lists(st.sampled_from(("start", "send", "notify", "bundle")), max_size=3),
    st.lists(st.sampled_from((Ending.DONE, Ending.FAILED)), min_size=1, max_size=2),
)
def test_no_rule_set_restarts_for_ever(
    text: str, seed: int, asked: list[str], replaced: list[str], endings: list[Ending]
) -> None:
    """Rules of files and plug-ins, hooks that fail and some that lie, in a night with faults."""
    sheet = parse(text, "k.toml")
    assert sheet.book.rules
    night = HookedNight(seed, (*BUILTIN, *plug_ins(asked), *sheet.book.rules))
    night.replaced, night.endings = tuple(replaced), tuple(endings)
    lived(night)


RESTARTS = """
[[rule]]
code = "OWN1"
name = "of-mine"
when = "true"
actions = ["restart"]
cooldown = "1s"
"""


def greedy(seed: int, asked: str = "resume") -> HookedNight:
    """A rule set that wants nothing but restarts, and a budget of one."""
    rules = (*BUILTIN, *plug_ins([asked]), *parse(RESTARTS, "k.toml").book.rules)
    night = HookedNight(seed, rules)
    with_a_small_budget(night)
    return night


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_greediest_rules_are_held_by_the_smallest_budget(seed: int, asked: str) -> None:
    """One restart in a quarter of an hour."""
    lived(greedy(seed, asked))


def test_without_a_budget_they_restart_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is the budget that holds them, and this test would see it."""
    no_budget(monkeypatch)
    found = []
    for seed in (1, 2, 3):
        try:
            lived(greedy(seed))
        except Violation as violation:
            found.append(str(violation))

    assert any("restarts in" in each for each in found), found
