"""The simulation has been seen red: koboshi is broken on purpose, and a night finds it.

Each mutant is one fault put in by patching. The nights begin at a seed that found it when this was
written, so that the test is quick; a change elsewhere may move the find to another of the seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from koboshi.core import engine, gate
from koboshi.core.events import Advice, Ending, Outcome, Stance
from koboshi.core.readings import Reading, Status
from koboshi.core.rules import Rule
from koboshi.core.view import Exit, Question, View, evolve
from koboshi.daemon import recover, supervisor
from koboshi.performers import PERFORMERS, handover, interrupting, lifecycle, settle, typing
from koboshi.performers import answer as answering
from koboshi.performers.hands import Glance, Hands, done, failed, skipped
from koboshi.rules import BUILTIN, prompts, refresh, runs
from koboshi.store import history, journal
from koboshi.testing import Night, Violation, nights, runtime
from koboshi.testing.agents import QuickAdapter, ScriptedAgent

if TYPE_CHECKING:
    from koboshi.core.actions import Action, Answer, Judge
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event, Moment
    from koboshi.core.gate import Ledger, Verdict
    from koboshi.hosts.base import Place
    from koboshi.observations import ScreenSeen
    from koboshi.store.history import Recovered
    from koboshi.store.shelves import Shelf

Patch = pytest.MonkeyPatch

# --- the faults ----------------------------------------------------------------------------------


def no_duplicates_seen(patch: Patch) -> None:
    """The gate does not look into the ledger for the key."""

    def judge(
        action: Action, view: View, ledger: Ledger, now: Moment, rule: Rule | None = None
    ) -> Verdict:
        claims = {k: c for k, c in ledger.claims.items() if k != action.key}
        return gate.judge(action, view, evolve(ledger, claims=claims), now, rule)

    patch.setattr(engine, "judge", judge)


def claims_forgotten(patch: Patch) -> None:
    """Nothing is ever entered in the ledger."""
    for module in (engine, history):
        patch.setattr(module, "claim", lambda ledger, *_: ledger)
        patch.setattr(module, "close", lambda ledger, _event: ledger)


def two_pairs_of_hands(patch: Patch) -> None:
    """The gate admits while another action reaches into the terminal."""

    def judge(
        action: Action, view: View, ledger: Ledger, now: Moment, rule: Rule | None = None
    ) -> Verdict:
        claims = {k: c for k, c in ledger.claims.items() if k == action.key or c.outcome}
        return gate.judge(action, view, evolve(ledger, claims=claims), now, rule)

    patch.setattr(engine, "judge", judge)


def no_second_look(patch: Patch) -> None:
    """The answer is pressed on the decision alone."""

    async def answer(action: Any, hands: Hands) -> Outcome:  # noqa: ANN401
        hands.at_place(action.run)
        hands.touch(action.key)
        await hands.keys(("1",))
        return done()

    patch.setitem(PERFORMERS, "answer", (answer, PERFORMERS["answer"][1]))


def old_looks_are_good_enough(patch: Patch) -> None:
    """A look may be of any age when a key follows it."""

    async def fresh_look(self: Hands, *, tries: int = 3) -> Glance:  # noqa: ARG001
        return await self.look()

    patch.setattr(Hands, "fresh_look", fresh_look)


def no_budget(patch: Patch) -> None:
    """There is always one more restart."""
    patch.setattr(View, "budget_spent", lambda _self, _now: False)


def budget_lost_in_recovery(patch: Patch) -> None:
    """A supervisor that takes over does not know of the restarts before it."""
    load = history.load

    def forgetful(shelf: Shelf, blank: World, start: Moment) -> Recovered:
        recovered = load(shelf, blank, start)
        world = recovered.world
        return evolve(recovered, world=evolve(world, view=evolve(world.view, restarts=())))

    patch.setattr(recover, "load", forgetful)


def mark_not_believed(patch: Patch) -> None:
    """Recovery takes every action in doubt for one that had not begun."""

    async def naive(action: Action, hands: Hands, *, touched: bool) -> Outcome:  # noqa: ARG001
        return await settle(action, hands, touched=False)

    patch.setattr(supervisor, "settle", naive)


def answer_in_doubt_is_given_back(patch: Patch) -> None:
    """Recovery lets an answer in doubt be decided again."""

    async def again(_action: Any, _hands: Hands) -> Outcome:  # noqa: ANN401
        return skipped("in doubt; done again")

    patch.setitem(PERFORMERS, "answer", (PERFORMERS["answer"][0], again))


def _claims_to_have_done_it(patch: Patch, kind: str) -> None:
    async def pretend(action: Any, hands: Hands) -> Outcome:  # noqa: ANN401
        hands.at_place(action.run)
        hands.touch(action.key)
        return done()

    patch.setitem(PERFORMERS, kind, (pretend, PERFORMERS[kind][1]))


def no_save(patch: Patch) -> None:
    """A checkpoint is reported done and nothing was typed."""
    _claims_to_have_done_it(patch, "checkpoint")


def no_load(patch: Patch) -> None:
    """A load is reported done and nothing was typed."""
    _claims_to_have_done_it(patch, "load")


def _ready_when(patch: Patch, ready: Callable[[Reading], bool]) -> None:
    for module in (typing, lifecycle, interrupting):
        patch.setattr(module, "ready", lambda reading, _told=None: ready(reading))


def typed_over_a_person(patch: Patch) -> None:
    """Neither the gate nor the performer minds a half-typed line."""
    patch.setattr(View, "person_about", lambda _self, _now: False)
    _ready_when(patch, lambda r: r.status in typing.AT_PROMPT and r.prompt is None)


def unknown_screen_typed_into(patch: Patch) -> None:
    """A screen that nobody can read is taken for a prompt."""
    places = (*typing.AT_PROMPT, Status.UNKNOWN)
    _ready_when(patch, lambda r: r.status in places and r.prompt is None and not r.draft)


def dialog_typed_into(patch: Patch) -> None:
    """An open question is taken for a prompt."""
    places = (*typing.AT_PROMPT, Status.ASKING)
    _ready_when(patch, lambda r: r.status in places and not r.draft)


def decisions_not_written(patch: Patch) -> None:
    """The journal has what was seen and not what was decided."""
    write = journal.Journal.write

    def forgetful(
        self: journal.Journal, event: Event, _decisions: tuple[Decision, ...], world: World
    ) -> None:
        write(self, event, (), world)

    patch.setattr(journal.Journal, "write", forgetful)


def decisions_not_durable(patch: Patch) -> None:
    """Nothing is synced before it is acted upon."""
    append = journal.Journal._append  # noqa: SLF001

    def lazy(self: journal.Journal, content: bytes, *, sync: bool) -> None:  # noqa: ARG001
        append(self, content, sync=False)

    patch.setattr(journal.Journal, "_append", lazy)


def without(code: str) -> Callable[[Patch], None]:
    """The rule of that code never proposes anything."""

    def remove(patch: Patch) -> None:
        patch.setattr(nights, "BUILTIN", tuple(r for r in BUILTIN if r.code != code))

    return remove


def hangs_seen_everywhere(patch: Patch) -> None:
    """A turn hangs as soon as it runs."""
    patch.setattr(View, "stalled_for", lambda _self, _now: 1e9)


def instead(code: str, see: Callable[[View], View]) -> Callable[[Patch], None]:
    """The rule of that code sees something else than there is."""

    def blind(patch: Patch) -> None:
        rules = []
        for rule in BUILTIN:
            check = rule.check
            fooled = evolve(rule, check=lambda view, now, check=check: check(see(view), now))
            rules.append(fooled if rule.code == code else rule)
        patch.setattr(nights, "BUILTIN", tuple(rules))

    return blind


def _never_cured(view: View) -> View:
    return evolve(view, tally=evolve(view.tally, cures=0))


def _nothing_open(view: View) -> View:
    return evolve(view, run=evolve(view.run, open=()))


def never_lost(patch: Patch) -> None:
    """What a CLI says of a session that is not there is not heard."""
    patch.setattr(QuickAdapter, "lost_session", lambda _self, _seen: False)


def no_note_written(patch: Patch) -> None:
    """Whose session is not found begins anew with nothing."""
    patch.setattr(handover, "left_for", lambda _hands, _name, _said: failed("no room"))


def others_not_looked_for(patch: Patch) -> None:
    """A session is resumed, whoever has it."""

    async def nobody(_self: ScriptedAgent, _session: str) -> tuple[str, ...]:
        return ()

    patch.setattr(ScriptedAgent, "users", nobody)


def _out_of_patience(view: View) -> View:
    long = view.tally.failures > view.settings.nudges_max
    return evolve(view, belief=evolve(view.belief, status=Status.UNKNOWN)) if long else view


def _another_row(view: View) -> View:
    return evolve(view, tally=evolve(view.tally, rows=view.tally.failures))


def _never_meant(view: View) -> View:
    run = view.run
    return view if run.exit is None else evolve(view, run=evolve(run, exit=Exit(code=1)))


def hook_not_waited_for(patch: Patch) -> None:
    """A dialog is answered by keys, whatever its hook waits for."""

    def shown(view: View, _now: Moment) -> tuple[Question, ...]:
        question = view.question
        asks = question is not None and view.status is Status.ASKING and question.looks > 1
        return (question,) if asks and question is not None else ()

    patch.setattr(prompts, "open_questions", shown)
    settled = answering._settled  # noqa: SLF001

    async def blind(action: Answer, hands: Hands) -> Glance:
        glance = await settled(action, hands)
        view = hands.view
        hands.view = lambda: evolve(view(), held=())
        return glance

    patch.setattr(answering, "_settled", blind)


def everything_allowed(patch: Patch) -> None:
    """The policy is not asked what it says."""

    async def yes(_action: Judge, _hands: Hands) -> Outcome:
        return Outcome(ending=Ending.DONE, advice=Advice(stance=Stance.ALLOW))

    patch.setitem(PERFORMERS, "judge", (yes, PERFORMERS["judge"][1]))


def shell_line_not_looked_at(patch: Patch) -> None:
    """The restart command is typed behind whatever stands on the shell's line."""
    patch.setattr(lifecycle, "line_is_empty", lambda _seen: True)


# --- the nights that find them -------------------------------------------------------------------


def stale(night: Night) -> None:
    """Half of the looks show the frame before."""
    night.host.faults.stale = 0.5


def slow(night: Night) -> None:
    """The terminal often takes seconds to answer."""
    night.host.faults.slow, night.host.faults.slow_seconds = 0.6, 8.0


def at_looks(night: Night, every: int, befall: Callable[[], None]) -> None:
    """Let something befall right before every nth look of a performer."""
    look, looks = night.host.look, 0

    async def tricky(place: Place) -> ScreenSeen:
        nonlocal looks
        looks += 1
        if looks % every == 0:
            befall()
        return await look(place)

    night.host.look = tricky  # type: ignore[method-assign]


def misty(night: Night) -> None:
    """A pager often opens a second before a performer looks."""

    def veil() -> None:
        night.host.veil(3.0)
        night.host.veiled_since -= 1.0

    at_looks(night, 7, veil)


def in_a_shared_pane(night: Night) -> None:
    """A person's shell is below the agent, and the person uses it."""
    night.host.own = False

    def begin() -> None:
        if not night.host.alive and not night.host.shell_line:
            night.host.person("git sta")
            night.draft_until = night.runtime.monotonic + 20.0

    at_looks(night, 3, begin)


def with_a_small_budget(night: Night) -> None:
    """One restart in a quarter of an hour: what goes past that is soon seen."""
    night.settings = evolve(night.settings, intensity=1, period=900.0)
    night.laws._settings = night.settings  # noqa: SLF001


def as_drawn(night: Night) -> None:
    """Whatever the seed says."""


@dataclass(frozen=True)
class Mutant:
    """A fault, what finds it, and where to begin to look."""

    fault: Callable[[Patch], None]
    finding: str  #: part of what the law says
    seeds: tuple[int, ...]
    weather: Callable[[Night], None] = as_drawn


MUTANTS = {
    "a duplicates": Mutant(no_duplicates_seen, "admitted a second time", (1, 2)),
    "a claims": Mutant(claims_forgotten, "admitted a second time", (1, 2)),
    "a hands": Mutant(two_pairs_of_hands, "had the terminal", (1, 19, 21, 27)),
    "b second look": Mutant(no_second_look, "pressed and no question", (43, 89, 90, 121), stale),
    "b old look": Mutant(old_looks_are_good_enough, "", (2, 19, 25, 37, 42), slow),
    "c budget": Mutant(no_budget, "restarts in", (1, 2, 3), with_a_small_budget),
    "c recovery": Mutant(budget_lost_in_recovery, "restarts in", (1, 2, 3), with_a_small_budget),
    "d mark": Mutant(mark_not_believed, "was pressed", (4, 7, 19)),
    "d again": Mutant(answer_in_doubt_is_given_back, "was pressed", (4, 7, 19)),
    "e save": Mutant(no_save, "was not saved", (1, 3, 6)),
    "f load": Mutant(no_load, "had not loaded its note", (1, 3, 6)),
    "g person": Mutant(typed_over_a_person, "half-typed line", (6, 9, 31, 42)),
    "h unknown": Mutant(unknown_screen_typed_into, "unknown screen", (1, 3, 6), misty),
    "i dialog": Mutant(dialog_typed_into, "open question", (26, 49, 57)),
    "j written": Mutant(decisions_not_written, "never admitted", (1,)),
    "j durable": Mutant(decisions_not_durable, "not durable", (1,)),
    "k RUN001": Mutant(without("RUN001"), "stuck", (1, 2, 4)),
    "k IDL001": Mutant(without("IDL001"), "stuck", (1, 2, 3)),
    "k RUN008": Mutant(without("RUN008"), "stuck", (87, 93, 124)),
    "k RUN009": Mutant(without("RUN009"), "nobody was told of what still runs", (87, 93, 124)),
    "k HNG001": Mutant(without("HNG001"), "stuck", (1, 2, 3)),
    "k TSK002": Mutant(without("TSK002"), "stuck", (1, 2, 3)),
    "m hang": Mutant(hangs_seen_everywhere, "after it moved", (1, 2, 3)),
    "m errors": Mutant(instead("ERR004", _never_cured), "because of errors", (187, 225, 357, 374)),
    "m open": Mutant(
        instead("IDL001", _nothing_open), "not told of what was left", (320, 677, 1255)
    ),
    "m note": Mutant(no_note_written, "was told no note", (149, 105, 145)),
    "m lost": Mutant(never_lost, "resumed again that was not found", (5, 77, 107)),
    "m held": Mutant(others_not_looked_for, "another process had open", (87, 93, 124)),
    "m outage": Mutant(instead("ERR001", _out_of_patience), "stuck", (7, 15, 24)),
    "m told": Mutant(instead("ERR006", _another_row), "told of an outage again", (7, 15, 24)),
    "m done": Mutant(instead("RUN001", _never_meant), "", (33, 56, 84, 85)),
    "n hook": Mutant(hook_not_waited_for, "that a hook waits with", (1, 2, 3)),
    "n policy": Mutant(everything_allowed, "which nobody wanted", (1, 2, 3)),
    "n judged": Mutant(without("PRM006"), "stuck", (1, 2, 3)),
    "shell line": Mutant(
        shell_line_not_looked_at, "shell line a person had begun", (40, 1, 2), in_a_shared_pane
    ),
}

#: Nights that a mutant may take, from its own seeds on.
MOST = 150


def seeds_of(mutant: Mutant) -> Iterator[int]:
    """Its own seeds first, then others."""
    yield from mutant.seeds
    yield from (seed for seed in range(1, MOST + 1) if seed not in mutant.seeds)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_is_found(name: str, monkeypatch: Patch) -> None:
    """Within a bounded number of nights the law that guards it says so."""
    mutant = MUTANTS[name]
    mutant.fault(monkeypatch)
    # A broken ledger decides without end; no honest night comes near this.
    monkeypatch.setattr(runtime, "MOST_TURNS", 3000)
    found = []
    for seed in seeds_of(mutant):
        night = Night(seed)
        mutant.weather(night)
        try:
            night.run()
        except (Violation, RuntimeError) as violation:
            found.append(str(violation))
            if mutant.finding in str(violation):
                return

    pytest.fail(f"not found in {MOST} nights; instead: {found[:5]}")


@pytest.mark.parametrize("seed", range(1, 13))
def test_the_same_nights_without_a_fault_are_quiet(seed: int) -> None:
    """What finds the mutants does not cry wolf."""
    Night(seed).run()


def test_chance_from_outside_the_seed_is_found(monkeypatch: Patch) -> None:
    """(l) A session id that is not drawn from the seed makes two journals of one night differ."""

    def journal_of(seed: int) -> bytes:
        night = Night(seed)
        night.run()
        return night.journal()

    honest = [journal_of(1), journal_of(1)]
    for module in (runs, refresh):
        monkeypatch.setattr(module, "new_session", lambda _view, _now: os.urandom(4).hex())

    assert honest[0] == honest[1]
    assert journal_of(1) != journal_of(1)
