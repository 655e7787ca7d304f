"""What a report says, as values; the keys are a public contract (docs/reference/json.md)."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Doing(enum.StrEnum):
    """What an agent's time went into."""

    WORKING = "working"  #: A turn ran, or the agent was on its way up
    IDLE = "idle"  #: At its prompt, with nothing to do
    ASKING = "asking"  #: Blocked on a question
    LIMITED = "limited"  #: Waited out a usage limit
    DOWN = "down"  #: Its process was gone, or its turn had ended in an error
    ENDED = "ended"  #: It was ended by a person, or had nothing left to do
    UNKNOWN = "unknown"  #: What was seen did not say
    UNSEEN = "unseen"  #: Nobody looked: no supervisor, or the machine slept


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A time in which it did one thing; epoch seconds."""

    doing: Doing
    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A run that followed another one."""

    at: float
    run: int
    origin: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """A hand-over to a fresh run."""

    at: float
    why: str
    note: str = ""  #: its name
    text: str = ""  #: what stands in it, where it is still there
    ending: str = "under way"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A question and who answered it; no rule: a person, in the terminal."""

    at: float
    question: str
    subject: str
    answer: str = ""
    rule: str = ""
    ending: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """A turn that ended in an error, a limit that was hit, or a person who was called."""

    at: float
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit in the agent's folder."""

    at: float
    id: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How full the context was, in percent."""

    at: float
    used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens that its model read (from a cache, too) and wrote, and what that cost."""

    read: int
    written: int
    cost: float | None = None  #: US dollars, where its CLI tells


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One agent's hours."""

    agent: str
    type: str = ""
    folder: str = ""
    status: str = "unknown"
    stretches: tuple[Stretch, ...] = ()
    restarts: tuple[Restart, ...] = ()
    refreshes: tuple[Refreshed, ...] = ()
    replies: tuple[Reply, ...] = ()
    errors: tuple[Mishap, ...] = ()
    limits: tuple[Mishap, ...] = ()
    calls: tuple[Mishap, ...] = ()  #: a person was asked for help
    would: tuple[Mishap, ...] = ()  #: what its mode did not let koboshi do
    progress: tuple[Mishap, ...] = ()  #: what the agent itself said
    plan: tuple[str, ...] = ()  #: what the plan file in its folder says, a row each
    commits: tuple[Commit, ...] = ()
    context: tuple[Level, ...] = ()
    sessions: tuple[str, ...] = ()  #: of its CLI, of the runs in these hours
    spent: Spent | None = None  #: None where nobody tells
    cost: float | None = None  #: US dollars, by what its CLI said of its sessions in these hours
    needs: tuple[str, ...] = ()  #: of a person, now
    troubles: tuple[str, ...] = ()  #: what of its journal cannot be read

    @property
    def totals(self) -> dict[Doing, float]:
        """Seconds of each thing it did, in the order of `Doing`."""
        sums = dict.fromkeys(Doing, 0.0)
        for stretch in self.stretches:
            sums[stretch.doing] += stretch.end - stretch.start
        return {doing: time for doing, time in sums.items() if time > 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All agents' hours; who needs a person comes first."""

    since: float
    until: float
    agents: tuple[Account, ...] = ()
