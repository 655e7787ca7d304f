"""What a session was about, out of the file it is written down in: for a note to its successor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A tool call as the agent wrote it down before it was carried out: word for word."""

    tool: str
    given: Mapping[str, Any] = field(default_factory=dict)
    cwd: str = ""  #: the folder it would run in; empty: not told


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The last of each; empty where nothing tells."""

    request: str = ""  #: what the user asked for
    reply: str = ""  #: what the agent said
    files: tuple[str, ...] = ()  #: what it wrote or changed, oldest first
    todos: tuple[str, ...] = ()  #: open items of its list
    given: str = ""  #: what a hook of ours gave it to know before all that
    calls: tuple[str, ...] = ()  #: tool calls without a result: they may have run
    pending: tuple[Written, ...] = ()  #: the same calls, as they were written down
