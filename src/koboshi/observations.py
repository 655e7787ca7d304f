"""Raw looks at the outside, before anything is made of them.

A source or a host makes these; an adapter decodes them into event bodies.
Nothing here is interpreted: `text` is what the terminal showed, `command` what the kernel said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSeen:
    """One look at a terminal and at the process in it.

    `at` and `utc` are the moment of the look, not of its delivery: they tell a late look.
    """

    text: str
    run: int | None = None  #: which run's terminal this is; None: not asked
    at: float = 0.0
    utc: float | None = None
    ansi: str | None = None
    title: str = ""
    command: str = ""
    cols: int = 0
    rows: int = 0
    cursor: tuple[int, int] | None = None
    pid: int | None = None
    alive: bool = True
    code: int | None = None
    signal: int | None = None
    plain: bool = False  #: the styles were not captured, and may be asked for
    own: bool = False  #: a terminal of our own, whose host tells when the agent ends
    typed_at: float | None = None  #: UTC: when a person last pressed a key there; None: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessGone:
    """The agent's process ended; `code` and `signal` are None when nobody could tell."""

    run: int
    code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFired:
    """A hook of the agent called us; `payload` is its JSON as it came.

    `run` is what the shim was told when the run began; None: a hook that nobody can vouch for.
    """

    payload: dict[str, Any] = field(default_factory=dict)
    run: int | None = None
    age: float = 0.0  #: seconds that it waited in a spool
    waits: bool = False  #: whoever called would take an answer with it
    ticket: str = ""  #: and is held to wait for one, under this name


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLineSeen:
    """What the agent gave its status line to show; `payload` is that JSON as it came."""

    run: int
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryRead:
    """The agent's own file about itself, of a process that lives and is the run's.

    Empty: there was one, and it is not there any more or its process is not.
    """

    run: int
    record: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptGrew:
    """Whole lines that the agent added to the file of its session."""

    run: int
    session: str
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksSeen:
    """The tasks file as it stands; empty: it is not there."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSeen:
    """A person typed into the agent's terminal."""


#: What an adapter reads beside the screen.
Signal = StatusLineSeen | RegistryRead | TranscriptGrew
Observation = ScreenSeen | ProcessGone | HookFired | Signal | TasksSeen | PersonSeen
