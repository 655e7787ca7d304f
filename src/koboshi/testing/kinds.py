"""Which agent a night is about: one that shows everything, hides its context, or is told notes."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from koboshi.core.view import evolve
from koboshi.performers import Gear, Program

from .agents import NotedAdapter, QuickAdapter
from .laws import Violation

if TYPE_CHECKING:
    from koboshi.core.settings import Settings
    from koboshi.performers import Hands

    from .agents import ScriptedAgent

ADAPTER = QuickAdapter()
PROGRAM = Program(argv=("scripted",), cwd="work")


class Kind:
    """Few hide their context; those whose session may be lost can be told a note in words.

    Not in a shell of the person's: the command line there would carry where its notes are.
    """

    def __init__(self, seed: int, *, noted: bool) -> None:
        self.hides = Random(f"kind {seed}").random() < 0.08
        self.notes = tempfile.mkdtemp(prefix="kb-night-") if noted else ""
        self.adapter = QuickAdapter(hides=self.hides) if self.hides or noted else ADAPTER

    @property
    def name(self) -> str:
        """The type by which rules know it."""
        return "hidden" if self.hides else "scripted"

    def tuned(self, settings: Settings) -> Settings:
        """What is set for it."""
        return evolve(settings, probe_every=40.0, context_max=70.0) if self.hides else settings

    def program(self) -> Program:
        """How it is started; there is a place for notes only where they are told in words."""
        told = isinstance(self.adapter, NotedAdapter)
        return replace(PROGRAM, gear=Gear(folder=Path(self.notes))) if told else PROGRAM

    def lose(self, hands: Hands | None) -> None:
        """Its session is not there any more: what comes next is a note in words."""
        if self.notes:
            self._become(NotedAdapter(hides=self.hides), hands)

    def heed(self, agent: ScriptedAgent, hands: Hands | None) -> None:
        """Once it was told, its own commands save and load again."""
        if agent.handed_over and isinstance(self.adapter, NotedAdapter):
            self._become(QuickAdapter(hides=self.hides), hands)

    def check(self, agent: ScriptedAgent) -> None:
        """Whose session was not found began anew with a note, and heard of it."""
        if self.notes and agent.refused and not agent.handed_over:
            raise Violation("a session was not found, and the next run was told no note")

    def close(self) -> None:
        """Leave nothing behind."""
        if self.notes:
            shutil.rmtree(self.notes, ignore_errors=True)

    def _become(self, adapter: QuickAdapter, hands: Hands | None) -> None:
        self.adapter = adapter
        if hands is not None:
            hands.adapter, hands.program = adapter, self.program()
