"""View: everything koboshi knows about one agent. The only memory there is (law 3).

Values only; `fold` makes the next one. A rule reads it and never needs anything else.
"""

from __future__ import annotations

import enum
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from koboshi.copying import evolve as evolve  # noqa: PLC0414 - values and their copies go together

from .events import OFTEN, Advice, Context, Event, Order, Origin, Source, Stance
from .readings import ApiError, ContextUse, Limit, Prompt, Status
from .settings import Settings

if TYPE_CHECKING:
    from .events import Moment

#: Events a rule can look back on with `View.history`; ticks and unchanged screens are not kept.
HISTORY = 32
#: Events kept besides, of those that do not come with every look: rules count them over hours.
RARE = 128

#: Times that are kept of one thing heard, and things. Who has to count further has to be told.
ECHOES, THINGS = 128, 512

#: Before everything; not -inf, which JSON cannot say.
NEVER = -1e18


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """What one source said last, and when; `since` is when it began to say that status."""

    source: Source
    status: Status
    at: float
    reason: str = ""
    evidence: tuple[str, ...] = ()
    since: float = NEVER
    wait: float = 0.0  #: seconds that an error asks for


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """What koboshi holds to be true, since when, and on what evidence."""

    status: Status = Status.UNKNOWN
    since: float = 0.0
    reason: str = "nothing seen yet"
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How the run ended; both None when nobody could tell."""

    code: int | None = None
    signal: int | None = None
    meant: bool = False
    lost: bool = False  #: its session was not found
    plain: bool = False  #: no note could be written for the next run

    @property
    def by_key(self) -> bool:
        """Whether SIGINT or SIGQUIT ended it, which a terminal sends for keys."""
        return self.signal in (2, 3) or self.code in (130, 131)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One process of the agent; number 0 means that there has been none."""

    number: int = 0
    origin: Origin = Origin.FIRST
    place: str = ""
    pid: int | None = None
    session: str = ""
    since: float = 0.0
    exit: Exit | None = None
    open: tuple[str, ...] = ()  #: tool calls in which the run before crashed
    left: tuple[str, ...] = ()  #: processes that outlived its crash
    cost: float = 0.0  #: US dollars, as its CLI tells of the session


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What the screen showed last; `moved_at` is when anything at all last changed on it."""

    digest: str = ""
    seen_at: float = -1.0
    moved_at: float = 0.0
    draft: str = ""
    unended: bool = False  #: as in a reading
    context: ContextUse | None = None
    context_at: float = NEVER
    full_at: float = NEVER  #: since when it has been at `context_max` or above, if it is
    window: int = 0  #: size of the context in tokens, once something said it
    error: ApiError | None = None
    work: str = ""  #: what it showed but for clocks and spinners …
    worked_at: float = NEVER  #: … and when that changed, or the agent wrote something down


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The open question: the nth of its run. `looks` counts how often it was seen in a row."""

    prompt: Prompt
    nth: int
    since: float
    looks: int = 1
    above: tuple[str, ...] = ()  #: what stood above it
    left_to_person: str = ""  #: why koboshi will not answer it any more
    advice: Advice | None = None  #: what the owner's policy says about it, once that was asked
    ticket: str = ""  #: a hook waits with it, under this name; else only the screen tells of it
    order: str = ""  #: what a person wants to be answered, and …
    orders: int = 0  #: … how often one said so

    def after(self, hook: Question) -> Question:
        """This dialog as what that hook asked: it told more, so what was not allowed stays so."""
        known = hook.advice and hook.advice.stance is not Stance.ALLOW
        advice = hook.advice if known else self.advice
        return evolve(self, nth=hook.nth, order=hook.order, orders=hook.orders, advice=advice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A usage limit that was hit: the nth of this agent."""

    limit: Limit
    nth: int
    since: float
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a person wants to be typed: the nth of this agent."""

    nth: int
    text: str
    at_once: bool = False  #: also while a turn runs; the CLI queues it


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A turn that ended in an error."""

    at: float
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """The same tool call in a row: the nth such row of this agent."""

    what: str
    call: str
    nth: int
    times: int = 1
    broken: bool = False  #: its turn was interrupted once


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """How often something was heard, when (newest last, at most `ECHOES`), and the last line."""

    what: str
    total: int = 0
    times: tuple[float, ...] = ()
    text: str = ""
    nth: int = 0  #: of all that was heard of this agent: names the last time, whatever is forgotten


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """What the tasks file says; a file that names no task is not done."""

    done: int = 0
    left: int = 0

    @property
    def complete(self) -> bool:
        """Whether there were tasks and none is left."""
        return self.done > 0 and self.left == 0


class Stage(enum.StrEnum):
    """How far a refresh has come; each stage has one rule that moves it on."""

    SAVING = "saving"  #: The work is not saved yet
    EXITING = "exiting"  #: Saved; the old run is still up
    STARTING = "starting"  #: The old run is gone; the new one is not there
    LOADING = "loading"  #: The new run does not know yet what the old one did


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshing:
    """A refresh under way."""

    nth: int
    why: str
    stage: Stage
    note: str = ""
    tries: int = 0
    session: str = ""  #: of the run that is refreshed
    back: bool = False  #: the note did not arrive: the old session is resumed instead


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloading:
    """A restart that was asked for, most often by the agent itself: the nth of this agent.

    It is over when a later run than `run` was told; until then nothing of it is forgotten.
    """

    nth: int
    run: int  #: the one that ends
    reason: str
    note: str = ""
    session: str = ""  #: to go on with; empty: a fresh one
    tries: int = 0  #: that failed: to end the old run, or to tell the new one


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counters. They only grow, or start again where the comment says so."""

    prompts: int = 0  #: questions in this run
    turns: int = 0  #: times it began to work in this run
    nudges: int = 0  #: messages sent since it last worked
    failures: int = 0  #: failed turns since one ended well
    rows: int = 0  #: rows of such turns, over all runs
    cures: int = 0  #: what `on_error` says, done since a turn ended well
    hangs: int = 0  #: turns interrupted since one ended well
    interrupts: int = 0  #: interrupts of this turn that failed
    crashes: int = 0  #: bad exits since a healthy stretch
    starts: int = 0  #: failed attempts to start a run since one started
    held: int = 0  #: starts that could not even be tried since one started
    limits: int = 0  #: usage limits, over all runs
    continues: int = 0  #: messages after a limit, over all of them, till a person acknowledges
    refreshes: int = 0  #: refreshes begun, over all runs
    notes: int = 0  #: notes between refreshes, and failures to end who is done; over all runs
    misses: int = 0  #: such notes and ends that failed, since a note was written
    unsaved: int = 0  #: refreshes given up for want of a save, since one was saved
    settled: int = 0  #: acknowledgements by a person, over all runs
    messages: int = 0  #: messages of a person, over all runs
    orders: int = 0  #: orders to stop, over all runs
    reloads: int = 0  #: over all runs
    probed: int = 0  #: turns of this run when it was last asked for its context
    denied: int = 0  #: times in a row that the policy said no
    refusals: int = 0  #: times that it did, over all runs


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One agent as far as koboshi knows it."""

    context: Context
    settings: Settings = field(default_factory=Settings)
    run: Run = Run()
    belief: Belief = Belief()
    clues: tuple[Clue, ...] = ()
    sight: Sight = Sight()
    question: Question | None = None
    held: tuple[Question, ...] = ()  #: questions that a hook of the agent's waits with
    freed: Question | None = None  #: one that a hook gave up: its dialog may be still to come
    refused: str = ""  #: why it was told no by keys, until it knows
    doubted: tuple[str, ...] = ()  #: fingerprints of questions that may have been answered
    clear: int = 0  #: looks in a row without a question, while there are such
    window: Window | None = None
    refresh: Refreshing | None = None
    reload: Reloading | None = None
    faults: tuple[Fault, ...] = ()  #: errors within their window, or the last ones; oldest first
    loop: Loop | None = None
    echoes: tuple[Echo, ...] = ()  #: what was heard, the latest last
    tasks: Tasks = Tasks()
    said: bool = False  #: a message went in, and no other status has come of it yet
    hung: bool = False  #: its turn was interrupted, and it has not begun another
    saved_at: float = NEVER  #: when its work was last noted down, and …
    saved: str | None = ""  #: … what the screen showed then; None: the next look at rest tells
    tally: Tally = Tally()
    restarts: tuple[float, ...] = ()  #: when runs were started by us, within the budget's period
    acted_at: float = NEVER  #: looks older than our own last keystroke say nothing (law 4)
    person_at: float = NEVER
    wanted: bool = False  #: a person asked for a run and there is none yet
    halted: Order | None = None  #: STOP or KILL: a person wants no run until the next START
    outbox: tuple[Message, ...] = ()  #: what a person wants to be typed, oldest first
    peers: int = 0  #: other agents in our care that share its login
    paused: bool = False
    given_up: bool = False
    past: tuple[Event, ...] = ()  #: the last events; a rule asks `history(count)`
    rare: tuple[Event, ...] = ()  #: the last of those that are seldom, without the lines shown then

    @property
    def status(self) -> Status:
        """The one status word."""
        return self.belief.status

    @property
    def restarting(self) -> bool:
        """Whether a planned restart is under way: its own rules look after the run till it is."""
        return self.refresh is not None or self.reload is not None

    @property
    def retrying(self) -> bool:
        """Whether the CLI tries again by itself after an error: then it is left alone."""
        return self.sight.error is not None and self.sight.error.retrying

    def history(self, count: int) -> tuple[Event, ...]:
        """The last events, newest last; at most `HISTORY` are kept."""
        return self.past[-count:] if count > 0 else ()

    def after(self, event: Event) -> View:
        """With that event among those that are remembered."""
        past, rare = (*self.past[1 - HISTORY :], event), self.rare
        if not isinstance(event.body, OFTEN):
            slim = evolve(event, context=evolve(event.context, lines=()))
            rare = (*rare[1 - RARE :], slim)
        return evolve(self, past=past, rare=rare)

    def clue(self, source: Source) -> Clue | None:
        """What that source said last."""
        return next((c for c in self.clues if c.source is source), None)

    def age(self, now: Moment) -> float:
        """How long the status has held; never negative."""
        return max(0.0, now.at - self.belief.since)

    def still_for(self, now: Moment) -> float:
        """How long nothing has moved: not the screen, and no other signal either (law 9)."""
        others = (c.at for c in self.clues if c.source is not Source.SCREEN)
        return max(0.0, now.at - max(self.sight.moved_at, *others, NEVER))

    def stalled_for(self, now: Moment) -> float:
        """How long nothing was seen of its work: no output, no tool, no line written down."""
        # A registry is a level: it may be written anew for ever while it says the same.
        beside = (
            c.since if c.source is Source.REGISTRY else c.at
            for c in self.clues
            if c.source is not Source.SCREEN
        )
        return max(0.0, now.at - max(self.sight.worked_at, self.belief.since, *beside))

    def person_about(self, now: Moment) -> bool:
        """Whether a person typed a moment ago or has left a half-typed line (law 10)."""
        return bool(self.sight.draft) or now.at - self.person_at < self.settings.person_hold

    def limit_over(self, now: Moment) -> bool:
        """Whether the limit has reset: by the wall clock, for that is what the CLI named."""
        window = self.window
        if window is None:
            return True
        # Agents that share a login would all begin in the same second: each has its own moment.
        spread = self.settings.limit_spread if self.peers else 0.0
        turn = spread * (zlib.crc32(self.context.agent.encode()) % 1000) / 1000
        if window.limit.resets_at is None:
            return now.at - window.since >= self.settings.limit_blind + turn
        return now.utc >= window.limit.resets_at + self.settings.limit_slack + turn

    def restarts_in_period(self, now: Moment) -> int:
        """How much of the restart budget is used."""
        start = now.at - self.settings.period
        return sum(1 for at in self.restarts if at > start)

    def budget_spent(self, now: Moment) -> bool:
        """Whether one more restart would be one too many (law 6)."""
        return self.restarts_in_period(now) >= self.settings.intensity
