"""What must always hold, checked at the border: when keys leave, when a run ends, when one starts.

The laws see the truth (what the agent really does); the supervisor does not.
"""

from __future__ import annotations

import json
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.hosts.base import Key, Text

from .draws import DENIED

if TYPE_CHECKING:
    from koboshi.core.settings import Settings
    from koboshi.hosts.base import Keystroke

    from .hosts import FakeHost

#: Seconds. The world may change between a look and the key that follows it, and no program can
#: close that gap. `performers.hands.FRESH` keeps it this small.
RACE = 0.25


class Violation(AssertionError):
    """A law was broken."""


class Laws:
    """Watches one fake host."""

    def __init__(self, host: FakeHost, settings: Settings, notes: str = "") -> None:
        self._host = host
        self._notes = Path(notes) if notes else None  #: where koboshi writes notes of its own
        self._settings = settings
        self._acknowledged = [float("-inf")]
        self._answered: set[tuple[int, int]] = set()
        self._cured = (-1, -1)
        self._told = (-1, -1, "")
        self._beside: tuple[str, ...] = ()
        self.hooked: set[int] = set()  #: dialogs that a hook waits with
        self.forced = ""  #: a refresh that may end a turn, while it is under way
        self.typed = 0
        host.on_type = self.typing
        host.on_end = self.ending

    def acknowledged(self) -> None:
        """A person forgave the restarts so far."""
        self._acknowledged.append(self._host.runtime.monotonic)

    # -- keys -----------------------------------------------------------------------------------

    def typing(self, strokes: tuple[Keystroke, ...]) -> None:
        """No key without a reason: each is checked against what the agent was doing just now."""
        host = self._host
        host.agent.advance()
        self.typed += 1
        if not host.alive:
            self._to_the_gone(strokes)
            return
        if host.runtime.monotonic < host.faults.veiled_until and self._veiled_long():
            raise Violation(f"keys sent to an unknown screen: {strokes}")
        states = host.agent.was(RACE)
        for stroke in strokes:
            self._one(stroke, states)

    def _veiled_long(self) -> bool:
        return self._host.runtime.monotonic > self._host.veiled_since + RACE

    def _one(self, stroke: Keystroke, states: list[tuple[str, int | None]]) -> None:
        asked = any(prompt is not None for _, prompt in states)
        boxed = any(prompt is None for _, prompt in states)
        if isinstance(stroke, Key) and (len(stroke.name) == 1 or stroke.name in ("Up", "Down")):
            if not asked:
                raise Violation(f"{stroke.name!r} pressed and no question is open: {states}")
            if stroke.name.isdigit():
                self._answering(int(stroke.name) - 1)
            return
        if isinstance(stroke, Key) and stroke.name == "Escape":
            self._interrupting(states)
        if not boxed and isinstance(stroke, Text):
            raise Violation(f"text typed into an open question: {states}")
        if isinstance(stroke, Text) and stroke.text == "/exit" and not self.saved():
            raise Violation("told to exit, and its work was not saved")
        agent = self._host.agent
        if agent.person_draft and states[-1][1] is None and agent.running is not None:
            draft = agent.running.draft
            if draft.startswith(agent.person_draft) and not self._just_begun():
                raise Violation(f"{stroke} over a person's half-typed line {draft!r}")

    def _interrupting(self, states: list[tuple[str, int | None]]) -> None:
        """A turn is ended where nothing moves or it goes in circles, or by a refresh that may."""
        agent, settings = self._host.agent, self._settings
        if all(prompt is not None for _, prompt in states):
            raise Violation(f"interrupted into a question: {states}")
        if self.forced and settings.refresh_wait > 0:
            return
        row = list(takewhile(lambda call: call == agent.calls[-1], reversed(agent.calls)))
        if len(row) >= 2 * settings.calls_max:
            return
        running = agent.running
        still = self._host.runtime.monotonic - running.moved_at if running is not None else 0.0
        if still < settings.hang_after - RACE:
            raise Violation(f"interrupted {still:.1f} s after it moved")

    def curing(self) -> None:
        """A restart because of errors: one, until a turn ends well or a person has seen to it."""
        wells, forgiven = self._host.agent.wells, len(self._acknowledged)
        if self._cured == (wells, forgiven):
            raise Violation("restarted again because of errors, and no turn ended well since")
        self._cured = (wells, forgiven)

    def telling_of_outage(self, key: str) -> None:
        """A person hears of an outage once, until a turn ends well; what is in doubt, again."""
        told = (self._host.agent.answered, len(self._acknowledged), key)
        if self._told[:2] == told[:2] and self._told != told:
            raise Violation("told of an outage again, and no turn ended well since")
        self._told = told

    def telling_of_tools(self) -> None:
        """A person hears of what outlived a crash."""
        self._beside = self._host.agent.beside

    def saying(self, about: str) -> None:
        """A run that goes on behind an open call hears of it first, and nobody else does."""
        dropped = self._host.agent.dropped
        if about.startswith("open-call") and not dropped:
            raise Violation("told of an open call, and there is none")
        if about.startswith(("idle", "failed")) and dropped:
            raise Violation(f"sent on, and not told of what was left open: {dropped}")
        beside = self._host.agent.beside
        if beside and beside is not self._beside:
            raise Violation(f"a message was sent, and nobody was told of what still runs: {beside}")

    def _just_begun(self) -> bool:
        """Whether the person's first key came after the look that ours followed."""
        return self._host.runtime.monotonic - self._host.person_at <= RACE

    def _answering(self, option: int) -> None:
        """One key per dialog, none where a hook waits, and only what the owner wants."""
        running = self._host.agent.running
        dialog = running.dialog if running is not None else None
        if running is None or dialog is None:
            return
        if dialog.number in self.hooked:
            raise Violation("a key was pressed for a question that a hook waits with")
        self.deciding(dialog.number, dialog.subject, dialog.options[option][1])

    def deciding(self, number: int, subject: str, meaning: str) -> None:
        """An answer, by key or through a hook: once per dialog, and as the owner wants it."""
        late = self._settings.ask_for > 0 and self._settings.ask_then == "deny"
        wanted = "no" if subject == DENIED else "once"
        if subject not in (*self._settings.allow, DENIED):
            wanted = ""
        # What nobody answered in time is refused, also what a stop left to a person.
        if meaning != wanted and not (late and meaning == "no"):
            raise Violation(f"answered {meaning!r} to {subject!r}, which nobody wanted")
        which = (len(self._host.starts), number)
        if which in self._answered:
            raise Violation(f"a question was answered twice: run {which[0]}, dialog {which[1]}")
        self._answered.add(which)

    def _to_the_gone(self, strokes: tuple[Keystroke, ...]) -> None:
        states = self._host.agent.was(RACE)
        if any(status != "gone" for status, _ in states):
            return  # it went while the key was on its way
        if self._host.own:
            raise Violation(f"keys sent to a gone process: {strokes}")
        line = self._host.shell_line
        begun = self._host.agent.person_draft
        if begun and line.startswith(begun) and not self._just_begun():
            raise Violation(f"{strokes} on a shell line a person had begun: {line!r}")
        first = strokes[0]
        enter = isinstance(first, Key) and first.name == "Enter" and line.startswith("scripted ")
        restart = isinstance(first, Text) and first.text.startswith("scripted ")
        restart = restart and (not line or self._just_begun())
        if not restart and not enter:
            raise Violation(f"{strokes} sent to a shell")
        if isinstance(first, Text) and first.text.startswith("/"):
            raise Violation(f"a slash command sent to a shell: {first.text!r}")

    # -- runs -----------------------------------------------------------------------------------

    def ending(self, force: bool) -> None:  # noqa: FBT001
        """A supervisor ends a run only when its work is saved."""
        running = self._host.agent.running
        if running is not None and running.exit is None and not self.saved():
            raise Violation(f"run ended (force={force}) and its work was not saved")

    def saved(self) -> bool:
        """Whether some note holds all that the run has done."""
        running = self._host.agent.running
        if running is None:
            return True
        written = self._notes.glob("notes/ckpt-*.md") if self._notes is not None else ()
        if any(path.stem not in self._host.agent.notes for path in written):
            return True  # it could not be asked, and koboshi wrote what it knew
        return any(
            json.loads(text).get("progress") == running.progress
            for text in self._host.agent.notes.values()
        )

    def check_runs(self) -> None:
        """No window has more restarts than the budget; what is lost is not gone on with again.

        And nobody worked on without his note.
        """
        period, most = self._settings.period, self._settings.intensity
        starts = self._host.starts[1:]
        for first, at in enumerate(starts):
            window = [
                s
                for s in starts[first:]
                if s - at < period and not any(at < a <= s for a in self._acknowledged)
            ]
            if len(window) > most:
                raise Violation(f"{len(window)} restarts in {period:g} s, budget {most}: {window}")
        refused = self._host.agent.refused
        if len(refused) > len(set(refused)):
            raise Violation("a session was resumed again that was not found")
        if self._host.agent.beside and self._settings.leftovers == "end" and self._host.own:
            raise Violation("what outlived a crash was to be ended, and runs beside the next run")
        if self._host.agent.doubled:
            raise Violation("a session was resumed that another process had open")
        running = self._host.agent.running
        if running is not None and running.forgot:
            raise Violation("a fresh run began to work and had not loaded its note")
