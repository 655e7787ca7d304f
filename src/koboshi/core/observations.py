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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessGone:
    """The agent's process ended; `code` and `signal` are None when nobody could tell."""

    run: int
    code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFired:
    """A hook of the agent called us; `payload` is its JSON as it came."""

    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSeen:
    """A person typed into the agent's terminal."""


Observation = ScreenSeen | ProcessGone | HookFired | PersonSeen
