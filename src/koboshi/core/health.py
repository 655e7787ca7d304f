"""Health: is the agent all right, and if not, why. Computed from a view when asked, never stored."""

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
    ill = tuple(_illnesses(view))
    if ill:
        return Health(level=Level.ILL, reasons=ill)
    unsure = tuple(_doubts(view, now))
    if unsure:
        return Health(level=Level.UNSURE, reasons=unsure)
    return Health(level=Level.WELL)


def _illnesses(view: View) -> list[str]:
    found = []
    if view.status is Status.GONE:
        found.append("shell_prompt" if view.belief.reason == "shell_prompt" else "process_gone")
    if view.status is Status.FAILED:
        found.append("error_text")
    if view.given_up:
        found.append("given_up")
    return found


def _doubts(view: View, now: Moment) -> list[str]:
    found = []
    if view.status is Status.UNKNOWN:
        known = ("contradiction", "empty_output")
        found.append(next((k for k in known if view.belief.reason.startswith(k)), "unknown_screen"))
    if view.status is Status.WORKING and view.still_for(now) > view.settings.unknown_after:
        found.append("frozen")
    return found
