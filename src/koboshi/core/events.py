"""Typed facts about one agent, in the past tense.

An `Event` is an envelope (number, time, context) around a body. Bodies are the closed union
`Body`; each has a wire name, which is what journals, `koboshi events` and rules call its type.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from .readings import ContextUse, Prompt, Reading, Status

if TYPE_CHECKING:
    from .actions import Action


class Severity(enum.StrEnum):
    """How soon a person would want to know."""

    P0 = "P0"  #: Now: the agent is down or about to lose work
    P1 = "P1"  #: Soon: it does not get on
    P2 = "P2"  #: For the record


class Source(enum.StrEnum):
    """Who says what an agent is doing; the title is part of the screen's reading."""

    PROCESS = "process"  #: The kernel: it runs or it does not
    SCREEN = "screen"  #: What the terminal shows: proves presence
    REGISTRY = "registry"  #: The agent's own file about its process: a level, while that lives
    HOOK = "hook"  #: The agent's own call: an edge, it happened once and may get lost
    TRANSCRIPT = "transcript"  #: The file of its session: an edge, written when something is over
    STATUSLINE = "statusline"  #: What it gives its status line: context and session


class Origin(enum.StrEnum):
    """How a run came to be."""

    FIRST = "first"  #: A person started it
    FRESH = "fresh"  #: Started anew, with an empty context
    RESUMED = "resumed"  #: Goes on with the session of the run before


class Order(enum.StrEnum):
    """What a person told the supervisor."""

    START = "start"  #: Start a run
    STOP = "stop"  #: End the run, and leave it ended
    KILL = "kill"  #: The same, by force and at once
    SEND = "send"  #: Type this message when it can be typed
    MODE = "mode"  #: From now on koboshi may do this much; the word is the text
    RELOAD = "reload"  #: End the run and start the next, which is told why
    SAVE = "save"  #: Note the work down at the next rest, however young the last note is
    REFRESH = "refresh"  #: Hand over to a fresh run; with the name of a note: it is written already
    RELEASE = "release"  #: Look after it no more; it lives on
    PAUSE = "pause"  #: Keep looking, touch nothing
    RESUME = "resume"  #: End of the pause
    ASK = "ask"  #: The agent's: a question to a person, which its tool call waits with
    REPLY = "reply"  #: What a person said to it
    TELL = "tell"  #: The agent's: how far it has come
    ACKNOWLEDGE = "acknowledge"  #: "I have seen to it": forgives spent budgets and old escalations
    ANSWER = "answer"  #: Answer that question so: `yes`, `no`, `always`, or the words of an option


class Ending(enum.StrEnum):
    """How an action came out."""

    DONE = "done"  #: Happened, and was seen to have happened
    SKIPPED = "skipped"  #: Not done; may be decided again
    FAILED = "failed"  #: Tried or in doubt; never tried again under the same key


class Stance(enum.StrEnum):
    """Where the owner's policy stands on a question; the strictest comes last."""

    ALLOW = "allow"  #: Yes
    ASK = "ask"  #: A person decides
    DENY = "deny"  #: No


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What the policy says about a question, by which rule, and why."""

    stance: Stance
    rule: str = ""
    why: str = ""
    always: bool = False  #: the owner prefers "always" to "once"
    text: str = ""  #: the option, or the words, to answer with


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an action came out, and why."""

    ending: Ending
    why: str = ""
    advice: Advice | None = None  #: what a judgement came to


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A process of the agent was started or found."""

    run: int
    origin: Origin
    place: str = ""
    pid: int | None = None
    session: str = ""
    open: tuple[str, ...] = ()  #: tool calls of the run before, which crashed in the middle of them
    left: tuple[str, ...] = ()  #: processes of it that outlived the crash


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExited:
    """The process ended; `meant` says that somebody wanted it to."""

    run: int
    code: int | None = None
    signal: int | None = None
    meant: bool = False
    lost: bool = False  #: it said that it does not find the session it was to go on with


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenRead:
    """A look showed something new; `digest` tells two screens apart.

    `work` tells them apart but for running clocks and spinners.
    """

    run: int
    reading: Reading
    digest: str
    seen_at: float
    work: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSame:
    """A look showed what the look before it showed; only a spinner may have moved."""

    run: int
    digest: str
    seen_at: float
    work: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRead:
    """A hook of the agent told us something; an edge, not a level (law 8)."""

    word: str
    status: Status | None = None
    session: str = ""
    tool: str = ""
    subject: str = ""
    call: str = ""
    run: int | None = None  #: None: nobody vouches for the run it came from
    began: str = ""  #: how the session began (`clear`, `resume` …), where that is what it tells
    age: float = 0.0
    prompt: Prompt | None = None  #: what it asks, where that is what it tells
    ticket: str = ""  #: and the agent waits for our word under this name


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOver:
    """The agent's hook waits no longer for our word; its dialog, if any, is still there."""

    ticket: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRead:
    """Something beside the screen told of the run; what it does not say is None or empty.

    Who sent it was checked at the source: `session` is the one that the run is in now.
    """

    run: int
    source: Source
    status: Status | None = None
    reason: str = ""
    evidence: tuple[str, ...] = ()
    session: str = ""
    context: ContextUse | None = None
    tokens: int = 0  #: in the context, where a share is not told
    window: int = 0  #: size of the context in tokens
    wait: float = 0.0  #: seconds that an error asks for
    cost: float = 0.0  #: US dollars that the session cost so far


@dataclass(frozen=True, slots=True, kw_only=True)
class PeersCounted:
    """How many other agents in our care share its login."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksRead:
    """The tasks file was read; both 0 when it is missing or names no task."""

    done: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a rule listens for stood in new lines of the agent's own; `text` is the last of them."""

    what: str
    text: str
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesHeard:
    """The agent printed something that rules listen for; what it shows of files does not count."""

    run: int
    heard: tuple[Heard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTyped:
    """A person typed into the agent's terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderGiven:
    """A person, or the agent about itself, told the supervisor something."""

    order: Order
    by: str = ""
    text: str = ""  #: of a message, or the reason of a reload
    at_once: bool = False  #: do not wait for the turn to end
    note: str = ""  #: of a reload: what the next run has to know
    fresh: bool = False  #: of a reload: with an empty context
    question: str = ""  #: of an answer: `run.nth` of the question


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionFinished:
    """An admitted action came out (law 4: outcomes are events)."""

    key: str
    action: Action
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorStarted:
    """A supervisor took this agent on; `doubts` are keys whose outcome nobody had written."""

    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """Time passed; journaled only when that changed something."""


Body = (
    RunStarted
    | RunExited
    | ScreenRead
    | ScreenSame
    | HookRead
    | HookOver
    | SignalRead
    | TasksRead
    | LinesHeard
    | PersonTyped
    | OrderGiven
    | ActionFinished
    | SupervisorStarted
    | PeersCounted
    | Ticked
)

#: Wire name of each body: its class name in lower case, with hyphens. Never renamed, never reused.
BODY_TYPES: dict[str, type[Body]] = {
    re.sub(r"(?<=.)([A-Z])", r"-\1", cls.__name__).lower(): cls for cls in get_args(Body)
}
_WIRE_NAMES: dict[type, str] = {cls: name for name, cls in BODY_TYPES.items()}
#: What comes many times a minute while an agent works, or while somebody types.
OFTEN = (ScreenRead, HookRead, HookOver, SignalRead, LinesHeard, PersonTyped)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time, on two clocks.

    `at` never goes back and is what ages are measured with (law 7); `utc` is for people and for
    instants such as "resets at".
    """

    at: float
    utc: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where an event happened: enough to make sense of it alone."""

    agent: str
    agent_type: str = "generic"
    run: int = 0
    worktree: str = ""
    issue: int | None = None
    lines: tuple[str, ...] = ()  #: the last 10 lines the agent had printed


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A fact, numbered per agent without gaps."""

    seq: int
    now: Moment
    body: Body
    context: Context

    @property
    def id(self) -> str:
        """The name people use for it (`koboshi why NAME --event e42`)."""
        return f"e{self.seq}"

    @property
    def type(self) -> str:
        """The wire name of the body."""
        return _WIRE_NAMES[type(self.body)]

    @property
    def severity(self) -> Severity:
        """P0 for a bad exit, P1 for what keeps an agent from getting on, P2 for the rest."""
        body = self.body
        if isinstance(body, RunExited):
            return Severity.P2 if body.meant else Severity.P0
        if isinstance(body, ScreenRead):
            stuck = body.reading.limit or body.reading.prompt or body.reading.error
            return Severity.P1 if stuck else Severity.P2
        if isinstance(body, SignalRead):
            return Severity.P1 if body.status is Status.FAILED else Severity.P2
        if isinstance(body, ActionFinished) and body.outcome.ending is Ending.FAILED:
            return Severity.P1
        return Severity.P2
