"""Between supervisors and the desk: actions become notices, acknowledgements end the asking."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from koboshi.core.actions import Escalate, Notify
from koboshi.core.events import OrderGiven, Severity
from koboshi.core.health import examine
from koboshi.core.rules import evaluate
from koboshi.incidents.findings import SEEN_TO
from koboshi.notices.notice import Notice
from koboshi.store.redaction import redact, secret_values

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Event, Moment
    from koboshi.notices.desk import Desk

    from .supervisor import Supervisor


_HEARD = re.compile(r"\bheard[0-9]+")


def notice_of(action: Notify | Escalate, agent: str, utc: float) -> Notice:
    """What a person is told of that action."""
    if isinstance(action, Notify):
        severity, asks = action.severity, False
    else:
        severity, asks = Severity.P0 if action.gives_up else Severity.P1, True
    return Notice(
        key=action.key, agent=agent, text=action.text, severity=severity, utc=utc, asks=asks
    )


def bring(desk: Desk, supervisor: Supervisor) -> Callable[[Notify | Escalate], Awaitable[str]]:
    """How that supervisor reaches people."""

    def notice(action: Notify | Escalate) -> Awaitable[str]:
        agent = supervisor.world.view.context.agent
        # It may quote a command or an answer, and it goes to others' servers.
        around = {**os.environ, **(supervisor.hands.program.env or {})}
        told = notice_of(action, agent, supervisor.runtime.now().utc)
        return desk.take(replace(told, text=redact(told.text, secrets=secret_values(around))))

    return notice


def seen_to(desk: Desk, event: Event, world: World) -> None:
    """End the asking about an agent when a person has said that they saw to it."""
    body = event.body
    if isinstance(body, OrderGiven) and body.order in SEEN_TO:
        desk.settle(world.view.context.agent)


def still_asked(world: World, now: Moment, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Which of these the rules would ask a person even now; all, while the agent is not well.

    A rule about something that happened once asks once: that it says nothing now does not mean that
    anybody has seen to it.
    """
    if not examine(world.view, now).healthy:
        return keys
    wanted = {
        _question(action.key)
        for _, proposal in evaluate(world.rules, world.view, now)
        for action in proposal.actions
        if isinstance(action, Escalate)
    }
    return tuple(key for key in keys if _question(key) in wanted)


def _question(key: str) -> str:
    """What it asks about: the next line that is heard makes it no other question."""
    return _HEARD.sub("heard", key)
