"""Asking a person: what is the matter, and what is needed of them, in one line."""

from __future__ import annotations

from koboshi.core.actions import Escalate

#: Characters of it: a person reads it on a phone, perhaps at night.
LONGEST = 2000


def ask(about: str, text: str, needed: str, *, gives_up: bool = False) -> Escalate:
    """Ask them; whoever is woken wants to know first what to do."""
    return Escalate(about=about, text=f"{_row(text)}; {_row(needed)}", gives_up=gives_up)


def _row(text: str) -> str:
    """What an agent printed may have rows of its own."""
    return " ".join(text.split())[:LONGEST]
