"""What is known of all agents as numbers, in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from koboshi.core.readings import Status

TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposed(agents: Iterable[dict[str, Any]], *, daemon: bool, viewers: int) -> str:
    """All of it; an agent's name has no character that would have to be escaped."""
    known = sorted(agents, key=lambda each: str(each["agent"]))
    tally = Counter(each["status"] for each in known)
    rows = [
        *_head("koboshi_daemon_up", "whether the daemon answers"),
        f"koboshi_daemon_up {daemon:d}",
    ]
    rows += [*_head("koboshi_viewers", "open streams of the page"), f"koboshi_viewers {viewers}"]
    rows += _head("koboshi_agents", "agents by status")
    rows += [f'koboshi_agents{{status="{word}"}} {tally[word]}' for word in Status]
    for name, key, words in (
        ("koboshi_agent_context_percent", "context", "how full its context is"),
        ("koboshi_agent_restarts", "restarts", "runs after the first"),
    ):
        rows += _head(name, words)
        rows += [
            f'{name}{{agent="{each["agent"]}"}} {each[key]:g}'
            for each in known
            if each.get(key) is not None
        ]
    return "\n".join(rows) + "\n"


def _head(name: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} gauge"
