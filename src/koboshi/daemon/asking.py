"""Hooks that wait for an answer, as one supervisor holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Mode
from koboshi.core.events import HookOver
from koboshi.sources.holding import Holding

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.core.view import View
    from koboshi.observations import HookFired

    from .supervisor import Supervisor


def may_answer(view: View) -> bool:
    """Whether a question could be answered at all: else the agent is not made to wait."""
    hands_off = view.paused or view.halted is not None
    return view.settings.mode >= Mode.AUTO and not hands_off


def held_for(supervisor: Supervisor, take: Callable[[HookFired], None]) -> Holding:
    """Who holds the hooks of that supervisor's agent, and for what."""

    def waits(ticket: str) -> bool:
        return any(question.ticket == ticket for question in supervisor.world.view.held)

    def over(ticket: str, why: str) -> None:
        supervisor.take(HookOver(ticket=ticket, why=why))
        supervisor.nudge.give()

    def wanted() -> bool:
        return may_answer(supervisor.world.view)

    return Holding(wanted=wanted, take=take, waits=waits, over=over)
