"""Supervisor: owns the World of one agent and is the only caller of `engine.step`.

    observe(look) → decode → take(fact) → step → journal → perform → take(outcome)

Rule 1: `take` is synchronous. Steps of one agent never interleave.
Rule 2: the decision is in the journal before a performer starts (law 5). If it cannot be written,
nothing is done: facts that show again are dropped, facts that do not are kept until it can be.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from koboshi.adapters.decode import decode, work
from koboshi.core.actions import Start
from koboshi.core.engine import happen, step
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Order,
    OrderGiven,
    Origin,
    Outcome,
    RunExited,
    RunStarted,
    ScreenRead,
    ScreenSame,
    Ticked,
)
from koboshi.core.fold import tells_more
from koboshi.core.view import evolve
from koboshi.errors import MarkNotWritten, StylesWanted
from koboshi.observations import PersonSeen, ScreenSeen
from koboshi.performers import Hands, perform, settle
from koboshi.performers.lifecycle import AT_WORK
from koboshi.sources.reborn import HUNG_UP, SIGHUP

from .coalesce import Coalescer
from .hearing import Hearing
from .runtime import Nudge
from .telling import facts, tell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from koboshi.adapters.base import Adapter
    from koboshi.core.actions import Action
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Body, Event
    from koboshi.core.rules import Rule
    from koboshi.hosts.base import Host, Place
    from koboshi.observations import Observation
    from koboshi.performers import Program
    from koboshi.sources.reborn import LastWords
    from koboshi.store.journal import Journal

    from .aftermath import Aftermath
    from .runtime import Runtime

    Listen = Callable[[Event, tuple[Decision, ...], World], None]

log = logging.getLogger(__name__)

#: Seconds between two notes that a person is typing.
PERSON_EVERY = 5.0
#: Looks with styles after one that could not be read without: the next ones mostly cannot, either.
STYLED = 10


class Supervisor:
    """Looks after one agent."""

    def __init__(
        self,
        *,
        world: World,
        journal: Journal,
        adapter: Adapter,
        host: Host,
        program: Program,
        runtime: Runtime,
        announce: Callable[[str], None] = log.warning,
        listen: Listen | None = None,
    ) -> None:
        self.world = world
        self.runtime = runtime
        self.journal_error = ""
        self.nudge = Nudge()  #: given when the next look should not wait
        #: what the agent left for its next run since that instant
        self.last_words: Callable[[float], LastWords | None] = lambda _: None
        #: told of every look that was read: when it was taken, and how wide it is
        self.saw: Callable[[ScreenRead, float, int], None] = lambda *_: None
        self.aftermath: Aftermath | None = None  #: what is made of its incidents, if anything
        self.reread: Callable[[], Awaitable[None]] | None = None  #: look at the rules' files now
        self.obeyed: Callable[[], None] = lambda: None  #: told when other rules hold
        #: why what is under way was decided
        self.decided: dict[str, Decision] = {}
        self._journal = journal
        self._adapter = adapter
        self._listen = listen
        self._coalescer = Coalescer()
        self._hearing = Hearing(adapter)
        self._unwritten: list[Body] = []
        self._typed_at = 0.0
        self._thin = False
        self._last: tuple[ScreenSeen, ScreenRead] | None = None
        # Styles cost tmux more than all else about a look, and most screens are read without.
        reads_plain = getattr(adapter, "reads_plain", False)
        self._glance = getattr(host, "glance", None) if reads_plain else None
        self._styled = 0
        self.hands = self._made_hands(host, program, announce)

    def _made_hands(self, host: Host, program: Program, announce: Callable[[str], None]) -> Hands:
        return Hands(
            agent=self.world.view.context.agent,
            adapter=self._adapter,
            host=host,
            program=program,
            now=self.runtime.now,
            sleep=self.runtime.sleep,
            mark=self._mark,
            tell=self.take,
            announce=announce,
            scale=self.runtime.scale,
            view=lambda: self.world.view,
        )

    @property
    def place(self) -> Place | None:
        """The terminal of the current run."""
        return self.hands.place

    def observe(self, observation: Observation) -> None:
        """Take in a raw look; its run and time are already ours."""
        body = self._decoded(observation)
        if isinstance(body, ScreenRead) and isinstance(observation, ScreenSeen):
            self.saw(body, observation.utc or self.runtime.now().utc, observation.cols)
            self._listen_to(body.run, body.reading.lines, observation)
            sifted = self._coalescer.sift(body, self.world.view)
            if sifted is not None and not self._news(evolve(sifted, work=work(observation))):
                self._coalescer = Coalescer()  # fold passed over it: the next look must tell again
        elif body is not None and not self._old_story(body):
            if isinstance(body, RunExited):
                self._hear_last(body, observation)
                self._mind_last_words(body)
            self.take(body)

    def _listen_to(self, run: int, rows: tuple[str, ...], observation: Observation) -> None:
        """What the agent says is a fact of its own, before its screen is one."""
        current = run == self.world.view.run.number and self.world.view.run.exit is None
        if current and isinstance(observation, ScreenSeen):
            heard = self._hearing.look(rows, observation.cols, self.world, observation.at)
            if heard is not None:
                self.take(heard)

    def _hear_last(self, body: RunExited, observation: Observation) -> None:
        """What it said before it ended is known when its end is judged."""
        if isinstance(observation, ScreenSeen):
            self._listen_to(body.run, self._adapter.read(observation).lines, observation)

    def _mind_last_words(self, body: RunExited) -> None:
        """A run that hung up on itself and left a reason asked for its restart."""
        view, now = self.world.view, self.runtime.now()
        known = view.reload is not None and view.reload.run == body.run
        hung_up = body.code == HUNG_UP or body.signal == SIGHUP
        if not hung_up or known or body.run != view.run.number:
            return
        left = self.last_words(now.utc - (now.at - view.run.since))
        if left is not None:
            order = OrderGiven(order=Order.RELOAD, by="agent", text=left.reason, note=left.context)
            if self.take(order):
                left.taken()

    def _decoded(self, observation: Observation) -> Body | None:
        """The fact in that look; the same screen is not read twice in a row."""
        if not isinstance(observation, ScreenSeen):
            return decode(self._adapter, observation)
        if self._last is not None:
            seen, told = self._last
            same = observation.text == seen.text  # first: it mostly differs there or nowhere
            if same and evolve(observation, at=seen.at, utc=seen.utc) == seen:
                return evolve(told, seen_at=observation.at)
        body, self._last = decode(self._adapter, observation), None
        # When a limit resets may depend on the time of the look: such a screen is read again.
        if isinstance(body, ScreenRead) and body.reading.limit is None:
            self._last = (observation, body)
        return body

    @property
    def last_seen(self) -> ScreenSeen | None:
        """The last look that was read, where one is kept."""
        return self._last[0] if self._last else None

    @property
    def owes_a_look(self) -> bool:
        """Whether what the last look showed is not known yet: it was held back, or not written."""
        return self.world.view.run.exit is None and self._coalescer.owing

    def _news(self, body: ScreenRead | ScreenSame) -> bool:
        before = self.world
        self.take(body)
        return self.world is not before

    def _old_story(self, body: Body) -> bool:
        """An ended process is seen ended at every look; it ended once."""
        return isinstance(body, RunExited) and not tells_more(self.world.view.run.exit, body)

    async def look(self) -> None:
        """Look at the agent's terminal and take in what is there."""
        place = self.place
        if place is None:
            return
        if self._glance is not None and not self._styled:
            try:
                self._take_in(await self._glance(place), place)
            except StylesWanted:
                self._styled = STYLED
            else:
                return
        self._styled = max(0, self._styled - 1)
        self._take_in(await self.hands.host.look(place), place)

    def _take_in(self, seen: ScreenSeen, place: Place) -> None:
        if place is not self.place:
            return  # a new run has begun while we looked
        ours = self.hands.ours(seen, place)
        self._mind_person(ours)
        if self._up_again(ours, place):
            self.found(replace(place, pid=ours.pid))
        self.observe(ours)

    def _mind_person(self, seen: ScreenSeen) -> None:
        """A person who types into the terminal itself is known by when they did (law 10)."""
        typed, hold = seen.typed_at, self.world.view.settings.person_hold
        if typed is None or typed - self._typed_at < min(PERSON_EVERY, hold / 2):
            return
        self._typed_at = typed
        if seen.utc is not None and seen.utc - typed < hold:
            self.observe(PersonSeen())

    def _up_again(self, seen: ScreenSeen, place: Place) -> bool:
        """Whether a person started the agent anew in a pane that it had left."""
        if place.own or self.world.view.run.exit is None:
            return False
        if any(isinstance(action, Start) for action in self.world.ledger.in_flight()):
            return False  # ours; it tells of its own
        return self._adapter.read(seen).status in AT_WORK

    def found(self, place: Place) -> None:
        """A run that a person started, in a pane of theirs."""
        run = self.world.view.run.number + 1
        self.hands.place = replace(place, run=run)
        self.take(RunStarted(run=run, origin=Origin.FIRST, place=place.id, pid=place.pid))

    def obey(self, rules: tuple[Rule, ...]) -> None:
        """Other rules hold from now on; they look at what is known already."""
        self.world = evolve(self.world, rules=rules)
        self.nudge.give()
        self.obeyed()

    def tick(self) -> None:
        """Let time pass; first write what could not be written before."""
        waiting, self._unwritten = self._unwritten, []
        for body in waiting:
            self.take(body)
        heard = self._hearing.due(self.world, self.runtime.now().at)
        self.take(Ticked() if heard is None else heard)

    def take(self, body: Body) -> bool:
        """One more fact: step, write, act. False when it could not be written."""
        event = happen(self.world, body, self.runtime.now())
        world, decisions = step(self.world, event)
        if world is self.world:
            return True
        try:
            self._journal.write(event, decisions, world)
        except OSError as error:
            self._not_written(body, error)
            return False
        self.journal_error = ""
        self._mind_room()
        before, self.world = self.world, world
        tell(before.view, world.view, decisions, event.now)
        if self._listen is not None:
            self._listen(event, decisions, world)
        for decision in decisions:
            if decision.verdict.admitted:
                self.decided[decision.action.key] = decision
                self.runtime.spawn(self._perform(decision.action))
        return True

    def _mind_room(self) -> None:
        """Say once that the journal is kept without details, and once that it is whole again."""
        low = self._journal.low
        if bool(low) == self._thin:
            return
        self._thin = bool(low)
        reason = f"only {low >> 20} MB are left: what it prints is not kept" if low else "as before"
        told = facts(self.world.view, self.runtime.now(), action="journal", reason=reason)
        log.log(logging.WARNING if low else logging.INFO, "journal kept", extra=told)

    def _not_written(self, body: Body, error: OSError) -> None:
        if not self.journal_error:
            why = facts(self.world.view, self.runtime.now(), action="hold", reason=str(error))
            log.error("journal not written", extra=why)
        self.journal_error = str(error)
        if not isinstance(body, ScreenRead | ScreenSame | Ticked):
            self._unwritten.append(body)
        self._coalescer = Coalescer()  # what was dropped must be told again

    def _mark(self, key: str) -> None:
        try:
            self._journal.touch(key, self.runtime.now())
        except OSError as error:
            raise MarkNotWritten(f"the journal cannot be written: {error}") from error

    def settle(self, action: Action, *, touched: bool) -> None:
        """Find out what became of an action that another supervisor left without an outcome."""
        self.runtime.spawn(self._settle(action, touched))

    # Split so that no coroutine is made before its task runs: a killed task leaves none behind.
    async def _settle(self, action: Action, touched: bool) -> None:  # noqa: FBT001
        await self._finish(action, settle(action, self.hands, touched=touched))

    async def _perform(self, action: Action) -> None:
        await self._finish(action, perform(action, self.hands))

    async def _finish(self, action: Action, work: Awaitable[Outcome]) -> None:
        try:
            outcome = await work
        except MarkNotWritten as error:
            outcome = Outcome(ending=Ending.SKIPPED, why=str(error))
        except OSError as error:
            # The host broke under our hands: whatever was sent may have arrived.
            outcome = Outcome(ending=Ending.FAILED, why=f"the terminal broke: {error}")
        # Law 4: whatever shows next is new, also where it looks like what was told before.
        self._coalescer = Coalescer()
        self.decided.pop(action.key, None)
        self.take(ActionFinished(key=action.key, action=action, outcome=outcome))
        self.nudge.give()
