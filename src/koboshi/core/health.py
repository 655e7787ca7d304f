"""Health: is the agent all right, and if not, why. Computed when asked, never stored."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .readings import Status

if TYPE_CHECKING:
    from .events import Moment
    from .view import View


class Level(enum.StrEnum):
    """How worried one should be."""

    WELL = "well"  #: Nothing to see to
    UNSURE = "unsure"  #: The evidence does not say
    ILL = "ill"  #: Something is wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A level with the reasons for it."""

    level: Level
    reasons: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether there is nothing to see to."""
        return self.level is Level.WELL


def examine(view: View, now: Moment) -> Health:
    """How the agent is at that time."""
    ill, unsure = [], []
    if view.status is Status.GONE:
        ill.append("shell_prompt" if view.belief.reason == "shell_prompt" else "process_gone")
    if view.status is Status.FAILED:
        ill.append("error_text")
    if view.given_up:
        ill.append("given_up")
    if view.status is Status.UNKNOWN:
        known = ("contradiction", "empty_output")
        reason = view.belief.reason
        unsure.append(next((k for k in known if reason.startswith(k)), "unknown_screen"))
    if view.status is Status.WORKING and view.still_for(now) > view.settings.unknown_after:
        unsure.append("frozen")
    if ill:
        return Health(level=Level.ILL, reasons=(*ill, *unsure))
    return Health(level=Level.UNSURE if unsure else Level.WELL, reasons=tuple(unsure))
