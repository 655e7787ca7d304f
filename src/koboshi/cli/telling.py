"""An order of one word to one agent."""

from __future__ import annotations

from koboshi.daemon.control.client import call
from koboshi.store.paths import state_dir
from koboshi.store.roster import Roster


def tell(name: str, order: str) -> None:
    """Give it; a wrong name starts no daemon."""
    state = state_dir()
    Roster(state).entry(name)
    call(state, "order", name=name, order=order)
