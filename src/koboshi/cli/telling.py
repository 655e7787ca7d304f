"""What the commands about one agent share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.store.paths import state_dir
from koboshi.store.roster import Roster

if TYPE_CHECKING:
    from pathlib import Path


def state_of(name: str) -> Path:
    """The state folder, where that agent is known; a wrong name starts no daemon."""
    state = state_dir()
    Roster(state).entry(name)
    return state


def tell(name: str, order: str) -> None:
    """An order of one word to one agent."""
    from koboshi.daemon.control.client import call

    call(state_of(name), "order", name=name, order=order)
