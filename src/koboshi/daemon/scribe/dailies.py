"""Dailies: three logs over all agents, a file a day each: judgements, restarts, word to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Refresh, Start, Stop, Telling
from koboshi.core.events import ActionFinished, RunExited, RunStarted
from koboshi.store.wording import event_words

from .minutes import minutes
from .papers import Paper
from .pen import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event
    from koboshi.core.readings import Status

    from .pen import Pen

_RESTARTS = (Start, Stop, Refresh)


class Dailies:
    """`koboshi-monitor-…`, `koboshi-restart-…`, `koboshi-notify-…`; the pen writes them."""

    def __init__(self, pen: Pen, folder: Path, secrets: tuple[str, ...] = ()) -> None:
        self._pen, self._secrets = pen, secrets
        self._monitor, self._restart, self._notify = (
            Paper(agent="", folder=folder, base=f"koboshi-{name}", daily=True, joint="-")
            for name in ("monitor", "restart", "notify")
        )
        self._status: dict[str, Status] = {}

    def heard(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        """Something happened to one of them."""
        agent, utc = world.view.context.agent, event.now.utc
        before = self._status.get(agent)
        self._status[agent] = world.view.status
        for line in minutes(event, before, world.view, decisions):
            self._put(self._monitor, utc, f"{agent} {line}")
        body = event.body
        if isinstance(body, RunStarted | RunExited):
            self._put(self._restart, utc, f"{agent} {event.id} {event_words(body)}")
        elif isinstance(body, ActionFinished):
            line = f"{agent} {event.id} {event_words(body)}"
            if isinstance(body.action, _RESTARTS):
                self._put(self._restart, utc, line)
            elif isinstance(body.action, Telling):
                self._put(self._notify, utc, line)

    def told(self, utc: float, text: str) -> None:
        """A word to people went out, or did not."""
        self._put(self._notify, utc, text)

    def _put(self, paper: Paper, utc: float, line: str) -> None:
        self._pen.put(paper, Entry(utc, (line,)), self._secrets)
