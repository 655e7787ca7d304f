"""What a session was about, out of the file it is written down in: for a note to its successor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The last of each; empty where nothing tells."""

    request: str = ""  #: what the user asked for
    reply: str = ""  #: what the agent said
    files: tuple[str, ...] = ()  #: what it wrote or changed, oldest first
    todos: tuple[str, ...] = ()  #: open items of its list
    given: str = ""  #: what a hook of ours gave it to know before all that
    calls: tuple[str, ...] = ()  #: tool calls without a result: they may have run
