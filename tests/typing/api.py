"""Typed use of the public names, as a plug-in author's type checker sees it; never run."""

from __future__ import annotations

from typing import assert_type

from koboshi.core.actions import Action, Notify
from koboshi.core.engine import Decision, World, happen, step
from koboshi.core.events import Event, Moment, Severity, Ticked
from koboshi.core.gate import Verdict
from koboshi.core.readings import Status
from koboshi.core.rules import Finding, Proposal, Rule, rule
from koboshi.core.view import View
from koboshi.daemon.runtime import Runtime
from koboshi.hosts.base import Host, Place
from koboshi.rules import BUILTIN, find
from koboshi.scripted.behaviour import Script
from koboshi.store.shelves import Shelf
from koboshi.testing import (
    FakeHost,
    FakeRuntime,
    Faults,
    Killed,
    Laws,
    MemoryShelf,
    Night,
    Outside,
    ScriptedAgent,
    Violation,
)


@rule("XMP001", "example-found", Severity.P2)
def example_found(view: View, now: Moment) -> Proposal | None:
    """A rule as a plug-in writes one."""
    if view.status is not Status.IDLE or view.age(now) < view.settings.idle_after:
        return None
    note = Notify(about=f"{view.run.number}.example", text="idle", severity=Severity.P2)
    return Proposal(message="idle", actions=(note,), evidence=view.belief.evidence)


assert_type(example_found, Rule)
assert_type(BUILTIN, tuple[Rule, ...])
assert_type(find("RUN001"), Rule)


def decide(world: World, now: Moment) -> tuple[World, list[Action]]:
    """One step, and what is to be performed."""
    event = happen(world, Ticked(), now)
    assert_type(event, Event)
    after, decisions = step(world, event)
    assert_type(decisions, tuple[Decision, ...])
    for decision in decisions:
        assert_type(decision.finding, Finding)
        assert_type(decision.verdict, Verdict)
    return after, [d.action for d in decisions if d.verdict.admitted]


def fakes(script: Script) -> FakeHost:
    """A terminal in memory, with an agent in it and the laws around it."""
    runtime = FakeRuntime(utc=0.0)
    as_runtime: Runtime = runtime
    agent = ScriptedAgent(script=script, clock=lambda: (runtime.monotonic, runtime.utc))
    outside = Outside()
    host = FakeHost(agent, runtime, outside=outside, faults=Faults(slow=0.1), own=True)
    as_host: Host = host
    shelf: Shelf = MemoryShelf(outside)
    assert_type(as_runtime.now(), Moment)
    assert_type(shelf.names(), tuple[str, ...])
    assert_type(as_host.name, str)
    return host


async def looks(host: FakeHost) -> str:
    """The host's verbs."""
    places = await host.find("agent")
    assert_type(places, tuple[Place, ...])
    return (await host.look(places[0])).text


def night(seed: int) -> bytes:
    """A whole night; a broken law is an AssertionError, a kill is not an Exception."""
    simulated = Night(seed)
    assert_type(simulated.laws, Laws)
    try:
        simulated.run()
    except Violation as violation:
        broken: AssertionError = violation
        raise broken from None
    except Killed as killed:
        dead: BaseException = killed
        raise dead from None
    return simulated.journal()
